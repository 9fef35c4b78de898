// Reads the header event by event: nlohmann's parser is iterative, and this reader stops it at the
// first event that the format does not know, so that deep nesting costs neither stack nor memory.
#include "invariants/harness/safetensors_header.h"

#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

using Json = nlohmann::json;
constexpr std::string_view metadata_key = "__metadata__";

// Depth 1 is the header's object, depth 2 an entry or the metadata, depth 3 a list of numbers.
class Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(Header& out) : out_(out) {}
  std::string why;

  bool start_object(size_t) override {
    if (depth_ == 0 || (depth_ == 1 && !in_list_)) {
      fields_.clear();
      entry_ = {};
      entry_.name = name_;
      numbers_.clear();
      ++depth_;
      return true;
    }
    return refuse("an object inside an entry", "a string or a list of numbers");
  }
  bool end_object() override {
    if (--depth_ == 0 || name_ == metadata_key) return true;
    if (fields_.size() != 3) return refuse("too few fields", "dtype, shape and data_offsets");
    out_.entries.push_back(std::move(entry_));
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1) {
      name_ = text;
      return names_.insert(text).second || refuse("its name twice", "distinct names");
    }
    field_ = text;
    if (!fields_.insert(text).second) {
      return refuse(fmt::format("'{}' twice", printable(text)), "distinct fields");
    }
    return name_ == metadata_key || is_list() || field_ == "dtype" ||
           refuse(fmt::format("a field '{}'", printable(text)), "dtype, shape or data_offsets");
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && name_ == metadata_key) {
      out_.metadata[field_] = text;
      return true;
    }
    if (depth_ != 2 || in_list_ || field_ != "dtype") return wrong_value("a string");
    entry_.type = text;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || in_list_ || name_ == metadata_key || !is_list()) {
      return wrong_value("a list");
    }
    in_list_ = true;
    numbers_.clear();
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (field_ == "shape") {
      entry_.shape = std::move(numbers_);
      return true;
    }
    if (numbers_.size() != 2) return refuse("other than two data_offsets", "begin and end");
    entry_.begin = numbers_[0];
    entry_.end = numbers_[1];
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (!in_list_) return wrong_value("a number");
    numbers_.push_back(number);
    return true;
  }
  bool number_integer(number_integer_t) override { return wrong_value("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return wrong_value("a number that is no 64-bit integer");
  }
  bool null() override { return wrong_value("null"); }
  bool boolean(bool) override { return wrong_value("a boolean"); }
  bool binary(binary_t&) override { return wrong_value("binary data"); }
  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    why = fmt::format("has a header that is no JSON at its byte {}, expected one JSON object",
                      position);
    return false;
  }

 private:
  bool is_list() const { return field_ == "shape" || field_ == "data_offsets"; }
  bool refuse(std::string_view what, std::string_view expected) {
    why = depth_ == 0 ? fmt::format("has a header with {}, expected {}", what, expected)
                      : fmt::format("has an entry '{}' with {}, expected {}", printable(name_),
                                    what, expected);
    return false;
  }
  bool wrong_value(std::string_view what) {
    if (depth_ == 0) return refuse(what, "one JSON object");
    if (depth_ == 1) return refuse(fmt::format("{} as its value", what), "an object");
    if (name_ == metadata_key) {
      return refuse(fmt::format("{} as '{}'", what, printable(field_)), "a string");
    }
    return refuse(fmt::format("{} in '{}'", what, printable(field_)),
                  is_list() ? "a list of non-negative integers" : "a string");
  }

  Header& out_;
  size_t depth_ = 0;
  bool in_list_ = false;
  std::string name_, field_;
  std::set<std::string> names_, fields_;
  HeaderEntry entry_;
  std::vector<uint64_t> numbers_;
};

}  // namespace

std::string read_header(std::span<const uint8_t> text, Header& out) {
  // The parser would skip a byte order mark and take a zero byte for the end.
  if (text.empty() || text[0] != '{' || std::memchr(text.data(), 0, text.size()) != nullptr) {
    return "has a header that does not begin with '{' or holds a zero byte, expected a JSON object";
  }
  Reader reader(out);
  if (Json::sax_parse(text.begin(), text.end(), &reader)) return {};
  return reader.why;
}

}  // namespace gdn
