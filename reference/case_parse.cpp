// Reads the text form of a case. Nothing is allocated by a size that the text claims: what it holds
// grows with the text itself, and sizes are checked before anything is made of them.
#include <algorithm>
#include <array>
#include <charconv>

#include "reference/case.h"
#include "reference/case_fields.h"

namespace gdn {
namespace {

using Words = std::vector<std::string_view>;

// Enough for any line that print writes; more is refused before it is split.
constexpr size_t words_max = 4096;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > 40 ? "...\"" : "\"");
}

std::string wrong(std::string_view what, std::string_view expected, std::string_view got) {
  return std::string(what) + ": expected " + std::string(expected) + ", got " + quoted(got);
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && !text.empty();
}

std::string set_whole(std::string_view what, std::string_view text, int64_t& value) {
  return read_number(text, value) ? "" : wrong(what, "a whole number", text);
}

void split(std::string_view text, char separator, size_t count_max, Words& words) {
  words.clear();
  while (words.size() <= count_max) {
    const size_t end = text.find(separator);
    const std::string_view word = text.substr(0, end);
    if (separator != ' ' || !word.empty()) words.push_back(word);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

Words split(std::string_view text, char separator, size_t count_max) {
  Words words;
  split(text, separator, count_max, words);
  return words;
}

bool is_digit_or_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// 16 for what is no hexadecimal digit.
constexpr std::array<uint8_t, 256> nibbles = [] {
  std::array<uint8_t, 256> all{};
  all.fill(16);
  for (unsigned char i = 0; i < 10; ++i) all['0' + i] = i;
  for (unsigned char i = 10; i < 16; ++i) all['a' + i - 10] = all['A' + i - 10] = i;
  return all;
}();

bool read_word(std::string_view text, uint32_t& bits) {
  constexpr size_t digits = 8;
  if (text.size() != digits) return false;
  bits = 0;
  for (const char c : text) {
    const uint8_t nibble = nibbles[static_cast<unsigned char>(c)];
    if (nibble > 15) return false;
    bits = bits << 4 | nibble;
  }
  return true;
}

// Each of these reads one line, words[0] being its key, and returns what is wrong with it.
class Reader {
 public:
  std::string read_line(std::string_view line) {
    split(line, ' ', words_max, words_);
    const Words& words = words_;
    if (words.empty() || words[0].starts_with('#')) return "";
    if (words.size() > words_max) return "more than 4096 words in a line";
    const std::string_view key = words[0];
    if (key == "call") return read_call(words);
    if (key == "numbers") return read_numbers(words);
    if (has_seen(key)) return std::string(key) + ": given twice";
    seen_.push_back(key);
    if (key == "subject") return read_subject(words);
    if (key == "seed") return read_seed(words);
    if (key == "shape") return read_shape(words);
    if (key == "dialect") return read_dialect(words);
    if (key == "weights") return read_weights(words);
    if (key == "matrix") return read_matrix(words);
    if (key == "tokens") return read_tokens(words);
    if (key == "recipe") return read_recipe(words);
    if (key == "pool") return read_pool(words);
    return wrong("line",
                 "subject, seed, shape, dialect, weights, matrix, tokens, recipe, pool, call or "
                 "numbers",
                 key);
  }

  std::string finish() const {
    for (const char* key : {"subject", "shape"}) {
      if (!has_seen(key)) return std::string("expected a line ") + key + ", found none";
    }
    return why_invalid(case_);
  }

  Case take() { return std::move(case_); }

 private:
  bool has_seen(std::string_view key) const {
    return std::find(seen_.begin(), seen_.end(), key) != seen_.end();
  }

  static std::string one_value(const Words& words) {
    if (words.size() == 2) return "";
    return std::string(words[0]) + ": expected one value, got " + std::to_string(words.size() - 1);
  }

  // Calls set(key, value) for key=value words from `first` on; no key twice.
  template <class Set>
  static std::string each_pair(const Words& words, std::ptrdiff_t first, const Set& set) {
    // A key that nothing knows ends the line, so that there are never more than a few before it.
    const auto has_seen = [&](std::string_view key, std::ptrdiff_t before) {
      return std::any_of(words.begin() + first, words.begin() + before, [&](std::string_view word) {
        return word.size() > key.size() && word[key.size()] == '=' && word.starts_with(key);
      });
    };
    for (std::ptrdiff_t i = first; i < std::ssize(words); ++i) {
      const std::string_view word = words[static_cast<size_t>(i)];
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) return wrong(words[0], "key=value", word);
      const std::string_view key = word.substr(0, equals);
      if (has_seen(key, i)) return std::string(words[0]) + ": " + quoted(key) + " twice";
      const std::string why = set(key, word.substr(equals + 1));
      if (!why.empty()) return why;
    }
    return "";
  }

  std::string read_subject(const Words& words) {
    const std::string why = one_value(words);
    if (!why.empty()) return why;
    const std::optional<Subject> subject = subject_named(words[1]);
    if (!subject) return wrong("subject", "layer, an operator, dequant or recurrent", words[1]);
    case_.subject = *subject;
    return "";
  }

  std::string read_seed(const Words& words) {
    const std::string why = one_value(words);
    if (!why.empty()) return why;
    return read_number(words[1], case_.seed) ? "" : wrong("seed", "a number below 2^64", words[1]);
  }

  std::string read_tokens(const Words& words) {
    const std::string why = one_value(words);
    return why.empty() ? set_whole("tokens", words[1], case_.tokens) : why;
  }

  std::string read_weights(const Words& words) {
    const std::string why = one_value(words);
    if (!why.empty()) return why;
    if (words[1] != "f32" && words[1] != "q4") return wrong("weights", "f32 or q4", words[1]);
    case_.weights = words[1] == "q4" ? Weights::q4 : Weights::f32;
    return "";
  }

  std::string read_shape(const Words& words) {
    size_t given = 0;
    const std::string why = each_pair(words, 1, [&](std::string_view key, std::string_view value) {
      for (const DimensionField& d : dimension_fields) {
        if (d.name != key) continue;
        ++given;
        return set_whole(key, value, case_.shape.*d.member);
      }
      for (const EpsilonField& e : epsilon_fields) {
        if (e.name != key) continue;
        return read_number(value, case_.shape.*e.member) ? std::string()
                                                         : wrong(key, "a number", value);
      }
      return wrong("shape",
                   "hidden_size, num_k_heads, head_k_dim, num_v_heads, head_v_dim, "
                   "conv_kernel, num_layers, rms_norm_eps or l2norm_eps",
                   key);
    });
    if (!why.empty()) return why;
    return given == std::size(dimension_fields) ? "" : "shape: expected all seven dimensions";
  }

  std::string read_dialect(const Words& words) {
    if (words.size() < 2) return "dialect: expected a name";
    const std::optional<Dialect> preset = dialect_named(words[1]);
    if (!preset) return wrong("dialect", "the name of a preset", words[1]);
    case_.dialect = *preset;
    return each_pair(words, 2, [&](std::string_view key, std::string_view value) {
      return set_dimension(case_.dialect, key, value);
    });
  }

  std::string read_matrix(const Words& words) {
    return each_pair(words, 1, [&](std::string_view key, std::string_view value) {
      if (key == "rows") return set_whole(key, value, case_.rows);
      if (key == "cols") return set_whole(key, value, case_.cols);
      return wrong("matrix", "rows or cols", key);
    });
  }

  std::string read_recipe(const Words& words) {
    return each_pair(words, 1, [&](std::string_view key, std::string_view value) {
      for (const Knob& knob : knobs()) {
        if (knob.name != key) continue;
        int64_t& target = case_.recipe.*knob.member;
        if (!is_pattern(knob.member)) return set_whole(key, value, target);
        for (target = 0; target < pattern_count; ++target) {
          if (name_of(static_cast<Pattern>(target)) == value) return std::string();
        }
        return wrong(key, "the name of a pattern", value);
      }
      return wrong("recipe", "the name of a knob", key);
    });
  }

  std::string read_pool(const Words& words) {
    return each_pair(words, 1, [&](std::string_view key, std::string_view value) {
      for (const PoolField& f : pool_fields) {
        if (f.name == key) return set_whole(key, value, case_.pool.*f.member);
      }
      return wrong("pool", "slots, offset, gap or states", key);
    });
  }

  std::string read_call(const Words& words) {
    if (words.size() < 2) return "call: expected the name of a call";
    if (case_.calls.size() >= calls_max) return "call: more than 4096 calls";
    Call call;
    int kind = 0;
    while (kind < call_kind_count && name_of(static_cast<CallKind>(kind)) != words[1]) ++kind;
    if (kind == call_kind_count) return wrong("call", "a call of the engine interface", words[1]);
    call.kind = static_cast<CallKind>(kind);
    const std::string why = each_pair(words, 2, [&](std::string_view key, std::string_view value) {
      return read_argument(call, key, value);
    });
    case_.calls.push_back(std::move(call));
    return why;
  }

  static std::string read_argument(Call& call, std::string_view key, std::string_view value) {
    for (const ListField& list : list_fields) {
      if (list.name != key) continue;
      for (const std::string_view item : split(value, ',', words_max)) {
        const std::string why = set_whole(key, item, (call.*list.member).emplace_back());
        if (!why.empty()) return why;
      }
      return call.kind == CallKind::recurrent ? "" : std::string(key) + " belongs to recurrent";
    }
    if (key == "omit") {
      for (const std::string_view name : split(value, ',', words_max)) call.omit.emplace(name);
      return "";
    }
    if (key == "read") {
      for (const std::string_view name : split(value, ',', words_max)) {
        const std::optional<Tensor> tensor = tensor_named(name);
        if (!tensor) return wrong("read", "the name of a tensor", name);
        call.reads.insert(*tensor);
      }
      return "";
    }
    for (int i = 0; i < argument_count; ++i) {
      const Argument argument = static_cast<Argument>(i);
      if (rule_of(argument).name != key) continue;
      if (!takes(call.kind, argument)) break;
      return set_whole(key, value, call.given[argument]);
    }
    return wrong("call " + std::string(name_of(call.kind)), "an argument that it takes", key);
  }

  std::string read_numbers(const Words& words) {
    if (words.size() < 3) return "numbers: expected a name and words of 8 hexadecimal digits";
    const bool is_name = std::all_of(words[1].begin(), words[1].end(), [](char c) {
      return is_digit_or_letter(c) || c == '_' || c == '@';
    });
    if (!is_name) return wrong("numbers", "the name of an array", words[1]);
    std::vector<uint32_t>& bits = case_.numbers[std::string(words[1])];
    constexpr size_t usual_count = 64;
    if (bits.empty()) bits.reserve(usual_count);
    for (size_t i = 2; i < words.size(); ++i) {
      uint32_t word = 0;
      if (!read_word(words[i], word)) {
        return wrong("numbers", "8 hexadecimal digits", words[i]);
      }
      if (++numbers_count_ > explicit_numbers_max) return "numbers: more than 2^20 of them";
      bits.push_back(word);
    }
    return "";
  }

  Case case_;
  Words words_;  // of the line at hand
  std::vector<std::string_view> seen_;
  size_t numbers_count_ = 0;
};

}  // namespace

std::optional<Case> parse_case(std::string_view text, std::string* why) {
  Reader reader;
  size_t number = 0;
  const auto fail = [&](const std::string& what) {
    *why = "line " + std::to_string(number) + ": " + what;
    return std::nullopt;
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    // Unseen where it is printed, and no word is right with it.
    if (line.ends_with('\r')) return fail("expected lines that end with \\n alone, got \\r\\n");
    if (number == 1) {
      if (line != case_first_line) return fail(wrong("first line", case_first_line, line));
      continue;
    }
    const std::string wrong_here = reader.read_line(line);
    if (!wrong_here.empty()) return fail(wrong_here);
  }
  if (number == 0) {
    number = 1;
    return fail(wrong("first line", case_first_line, ""));
  }
  const std::string wrong_in_all = reader.finish();
  if (!wrong_in_all.empty()) return fail(wrong_in_all);
  return reader.take();
}

}  // namespace gdn
