// Nights as JSON lines, in both directions.
#include "ci/night/night.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "ci/night/night_fields.h"
#include "ci/ratios_json.h"
#include "invariants/harness/json_fields.h"
#include "reference/rng.h"

namespace gdn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Counts are whole in every reader of JSON, which may hold them as double.
constexpr uint64_t count_max = uint64_t{1} << 53;

[[noreturn]] void bad(const std::string& why) { throw std::runtime_error(why); }

std::string line_of(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

class Writer {
 public:
  explicit Writer(ordered_json& object) : object_(object) {}

  void text(const char* key, const std::string& value) { object_[key] = value; }
  void id(const char* key, const std::string& value) { object_[key] = value; }
  void commit(const char* key, const std::string& value) { object_[key] = value; }
  void moment(const char* key, const std::string& value) { object_[key] = value; }
  void digest(const char* key, const std::string& value) { object_[key] = value; }
  void texts(const char* key, const std::vector<std::string>& values) { object_[key] = values; }
  void choice(const char* key, const auto&, const std::string& value) { object_[key] = value; }
  void count(const char* key, auto value) { object_[key] = value; }
  void ratios(const char* key, const RatioCounts& value) { object_[key] = json_of(value); }
  // What is no number is as wrong as can be.
  void figure(const char* key, double value) {
    object_[key] = std::isfinite(value) ? ordered_json(value) : ordered_json("inf");
  }

 private:
  ordered_json& object_;
};

bool is_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view digits = "0123456789";
constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_commit(std::string_view text) {
  constexpr std::string_view dirty = "-dirty";
  if (text.ends_with(dirty)) text.remove_suffix(dirty.size());
  return text.size() == 40 && is_of(text, hex_digits);
}

// Of this form alone the order of texts is the order in time.
bool is_moment(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  if (text.size() != form.size()) return false;
  for (size_t i = 0; i < form.size(); ++i) {
    const bool is_right = form[i] == '0' ? is_of(text.substr(i, 1), digits) : text[i] == form[i];
    if (!is_right) return false;
  }
  return true;
}

// Ids are arguments of commands and parts of files' names.
bool is_id(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._+-";
  return !text.empty() && text.size() <= 200 && is_of(text, allowed) && text[0] != '-' &&
         text[0] != '.';
}

// Throws what is wrong with the first key that is.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  void text(const char* key, std::string& value) { value = text_of(key, at(key)); }
  void id(const char* key, std::string& value) {
    text(key, value);
    if (!is_id(value)) refuse(key, "letters, digits and :._+- ");
  }
  void commit(const char* key, std::string& value) {
    text(key, value);
    if (!is_commit(value)) refuse(key, "40 hexadecimal digits, and -dirty where files differ");
  }
  void moment(const char* key, std::string& value) {
    text(key, value);
    if (!is_moment(value)) refuse(key, "a time such as 2026-11-30T02:00:00Z");
  }
  void digest(const char* key, std::string& value) {
    text(key, value);
    if (value.size() != 16 || !is_of(value, hex_digits)) refuse(key, "16 hexadecimal digits");
  }
  void texts(const char* key, std::vector<std::string>& values) {
    if (!at(key).is_array()) refuse(key, "a list of texts");
    for (const json& item : at(key)) values.push_back(text_of(key, item));
  }
  void choice(const char* key, const auto& values, std::string& value) {
    text(key, value);
    for (const std::string_view one : values) {
      if (value == one) return;
    }
    refuse(key, fmt::format("one of {}", fmt::join(values, ", ")));
  }
  void count(const char* key, auto& value) {
    constexpr auto most = std::numeric_limits<std::remove_reference_t<decltype(value)>>::max();
    const uint64_t limit = std::min<uint64_t>(most, count_max);
    const json& found = at(key);
    if (!found.is_number_unsigned() || found.get<uint64_t>() > limit) {
      refuse(key, fmt::format("a whole number from 0 to {}", limit));
    }
    found.get_to(value);
  }
  void figure(const char* key, double& value) {
    const json& found = at(key);
    value = found == "inf"      ? std::numeric_limits<double>::infinity()
            : found.is_number() ? found.get<double>()
                                : -1;
    if (!(value >= 0)) refuse(key, "a number that is not below 0, or \"inf\"");
  }
  void ratios(const char* key, RatioCounts& value) {
    try {
      value = ratios_of(at(key));
    } catch (const std::exception& error) {
      bad(fmt::format("'{}': {}", key, error.what()));
    }
  }

 private:
  const json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) bad(fmt::format("the key '{}' is missing", key));
    return *found;
  }
  std::string text_of(const char* key, const json& value) const {
    if (!value.is_string()) refuse(key, "text");
    return value.get<std::string>();
  }
  [[noreturn]] void refuse(const char* key, const std::string& expected) const {
    bad(fmt::format("'{}': expected {}, got {}", key, expected, shown(at(key))));
  }

  const json& object_;
};

// Discarded where it is no JSON. A record nests two deep; what others wrote may nest as deep as it
// likes, and is copied and shown by functions that call themselves.
json parsed(std::string_view line) {
  constexpr int depth_max = 8;
  const auto not_deep = [](int depth, json::parse_event_t, const json&) {
    if (depth > depth_max) bad("it nests too deep for a record");
    return true;
  };
  return json::parse(line, not_deep, false);
}

template <class Record>
std::string line_of(const char* kind, const Record& record) {
  ordered_json object = {{"record", kind}};
  Writer writer(object);
  name_fields(writer, record);
  return line_of(object) + "\n";
}

void read_header(const json& object, Night& night) {
  if (object.value("record", json()) != "night") {
    bad("a night begins with its header, a record 'night'");
  }
  const json version = object.value("version", json());
  if (version != night_version) {
    bad(fmt::format("it is of version {}, {} is read", shown(version), night_version));
  }
  Reader reader(object);
  name_fields(reader, night);
  if (night.shard_index < 1 || night.shard_index > night.shard_count) {
    bad(fmt::format("'shard_index': expected 1 to shard_count, got {} of {}", night.shard_index,
                    night.shard_count));
  }
}

// Any line but the first.
void read_record(const json& object, Night& night) {
  const json kind = object.value("record", json());
  if (night.complete) bad("the record 'end' was to be the last line");
  if (kind == "night") bad("a second header");
  Reader reader(object);
  if (kind == "end") {
    reader.count("status", night.status);
    night.complete = true;
    return;
  }
  bool is_known = false;
  each_kind(night, [&](const char* name, auto& records) {
    if (kind != name) return;
    is_known = true;
    try {
      name_fields(reader, records.emplace_back());
    } catch (const std::runtime_error& error) {
      bad(fmt::format("{}: {}", name, error.what()));
    }
  });
  if (!is_known) bad(fmt::format("no record is of kind {}", shown(kind)));
}

// False where `take` throws, and the number of the line with what it threw.
bool each_line(std::string_view text, std::string* why,
               const std::function<void(std::string_view line, bool has_end)>& take) {
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    ++number;
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    try {
      take(line, end < text.size());
    } catch (const std::exception& error) {
      *why = fmt::format("line {}: {}", number, error.what());
      return false;
    }
  }
  return true;
}

}  // namespace

std::string fingerprint(const NightFinding& finding) {
  // As text of JSON, so that no two groups run together, and a group that was printed and read back
  // is the same one whatever bytes are in it.
  const std::string group =
      line_of({finding.invariant, finding.op, finding.engine, finding.diagnosis});
  return fmt::format("{:016x}", mix64(fnv1a64(group)));
}

std::string print_records(const Night& night) {
  std::string text;
  each_kind(night, [&](const char* kind, const auto& records) {
    for (const auto& record : records) text += line_of(kind, record);
  });
  return text;
}

std::string print(const Night& night) {
  ordered_json header = {{"record", "night"}, {"version", night_version}};
  Writer writer(header);
  name_fields(writer, night);
  std::string text = line_of(header) + "\n" + print_records(night);
  if (night.complete) text += line_of({{"record", "end"}, {"status", night.status}}) + "\n";
  return text;
}

std::optional<Night> parse_night(std::string_view text, std::string* why) {
  Night night;
  size_t number = 0;
  const bool is_whole = each_line(text, why, [&](std::string_view line, bool has_end) {
    ++number;
    const json object = parsed(line);
    // No part of an object is an object: what was cut short cannot pass for whole.
    if (object.is_discarded() && !has_end && number > 1) return;
    if (!object.is_object()) bad("no object of JSON, or no UTF-8");
    number == 1 ? read_header(object, night) : read_record(object, night);
  });
  if (!is_whole) return std::nullopt;
  if (number == 0) {
    *why = "line 1: a night begins with its header, the text is empty";
    return std::nullopt;
  }
  return night;
}

bool add_records(std::string_view text, Night& night, std::string* why) {
  return each_line(text, why, [&](std::string_view line, bool has_end) {
    const json object = parsed(line);
    if (!object.is_object() || !has_end) bad("no object of JSON with a line of its own");
    if (object.value("record", json()) == "end") bad("an end among records that have no header");
    read_record(object, night);
  });
}

}  // namespace gdn
