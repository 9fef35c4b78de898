// The text form of a case: one thing a line, in a fixed order, what has its default left out.
#include <algorithm>
#include <charconv>

#include "reference/case.h"
#include "reference/case_fields.h"

namespace gdn {
namespace {

std::string text_of(float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

template <class Items, class Name>
std::string joined(const Items& items, Name name_of_item) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ',';
    text += name_of_item(item);
  }
  return text;
}

void pair(std::string& line, std::string_view key, std::string_view value) {
  line += ' ';
  line += key;
  line += '=';
  line += value;
}

std::string shape_line(const Shape& shape) {
  std::string line = "shape";
  for (const DimensionField& d : dimension_fields)
    pair(line, d.name, std::to_string(shape.*d.member));
  for (const EpsilonField& e : epsilon_fields) pair(line, e.name, text_of(shape.*e.member));
  return line + '\n';
}

std::string dialect_line(const Dialect& dialect) {
  const std::optional<Dialect> preset = dialect_named(dialect.name);
  const Dialect base = preset.value_or(Dialect{});
  std::string line = "dialect " + (preset ? dialect.name : base.name);
  if (dialect == base) return line + '\n';
  for (const std::string_view dimension : dialect_dimensions()) {
    const std::string value = get_dimension(dialect, dimension);
    if (value != get_dimension(base, dimension)) pair(line, dimension, value);
  }
  return line + '\n';
}

std::string recipe_line(const Recipe& recipe) {
  std::string line = "recipe";
  const Recipe usual;
  for (const Knob& knob : knobs()) {
    const int64_t value = recipe.*knob.member;
    if (value == usual.*knob.member) continue;
    pair(line, knob.name,
         is_pattern(knob.member) ? std::string(name_of(static_cast<Pattern>(value)))
                                 : std::to_string(value));
  }
  return line == "recipe" ? "" : line + '\n';
}

std::string call_line(const Call& call) {
  std::string line = "call " + std::string(name_of(call.kind));
  for (const auto& [argument, value] : call.given) {
    const ArgumentRule& rule = rule_of(argument);
    if (value != rule.unless_given) pair(line, rule.name, std::to_string(value));
  }
  for (const ListField& list : list_fields) {
    const std::vector<int64_t>& items = call.*list.member;
    const auto text = [](int64_t item) { return std::to_string(item); };
    if (!items.empty()) pair(line, list.name, joined(items, text));
  }
  const auto tensor = [](Tensor t) { return std::string(name_of(t)); };
  const auto same = [](const std::string& name) { return name; };
  if (!call.omit.empty()) pair(line, "omit", joined(call.omit, same));
  if (!call.reads.empty()) pair(line, "read", joined(call.reads, tensor));
  return line + '\n';
}

constexpr size_t words_a_line = 8;
constexpr size_t word_chars = 9;  // a space and eight digits

void number_lines(std::string& text, const std::string& name, const std::vector<uint32_t>& bits) {
  for (size_t begin = 0; begin < bits.size(); begin += words_a_line) {
    text += "numbers ";
    text += name;
    const size_t end = std::min(begin + words_a_line, bits.size());
    char words[words_a_line * word_chars];
    char* at = words;
    for (size_t i = begin; i < end; ++i) {
      *at++ = ' ';
      for (int shift = 28; shift >= 0; shift -= 4) {
        *at++ = "0123456789abcdef"[bits[i] >> shift & 15];
      }
    }
    text.append(words, at);
    text += '\n';
  }
}

// How long a text may be for which memory is taken at once.
size_t chars_about(const Case& c) {
  size_t chars = 512 + 64 * c.calls.size();
  for (const auto& [name, bits] : c.numbers) {
    chars += bits.size() * word_chars + (bits.size() / words_a_line + 1) * (name.size() + 10);
  }
  return chars;
}

}  // namespace

std::string print(const Case& c) {
  std::string text;
  text.reserve(chars_about(c));
  text += case_first_line;
  text += "\nsubject " + std::string(name_of(c.subject)) + '\n';
  text += "seed " + std::to_string(c.seed) + '\n';
  text += shape_line(c.shape) + dialect_line(c.dialect);
  if (c.weights != Weights::f32) text += "weights " + std::string(name_of(c.weights)) + '\n';
  if (c.rows != 0 || c.cols != 0) {
    text += "matrix rows=" + std::to_string(c.rows) + " cols=" + std::to_string(c.cols) + '\n';
  }
  text += "tokens " + std::to_string(c.tokens) + '\n';
  text += recipe_line(c.recipe);
  if (!(c.pool == PoolLayout{})) {
    std::string line = "pool";
    for (const PoolField& f : pool_fields) pair(line, f.name, std::to_string(c.pool.*f.member));
    text += line + '\n';
  }
  for (const Call& call : c.calls) text += call_line(call);
  for (const auto& [name, bits] : c.numbers) number_lines(text, name, bits);
  return text;
}

std::string hash8(const Case& c) {
  const uint64_t hash = fnv1a64(print(c));
  const uint32_t folded = static_cast<uint32_t>(hash ^ (hash >> 32));
  std::string text;
  for (int digit = 0; digit < 8; ++digit)
    text += "0123456789abcdef"[folded >> (28 - 4 * digit) & 15];
  return text;
}

}  // namespace gdn
