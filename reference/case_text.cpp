// The text form of a case: one thing a line, in a fixed order, what has its default left out.
#include <algorithm>
#include <charconv>
#include <type_traits>

#include "reference/case.h"
#include "reference/case_fields.h"

namespace gdn {
namespace {

void append(std::string& text, std::string_view words) { text += words; }

template <class Number>
requires std::is_arithmetic_v<Number>
void append(std::string& text, Number value) {
  char buffer[32];
  text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

template <class Value>
void pair(std::string& text, std::string_view key, const Value& value) {
  text += ' ';
  text += key;
  text += '=';
  append(text, value);
}

template <class Items, class Name>
void list(std::string& text, std::string_view key, const Items& items, const Name& name_of_item) {
  if (items.empty()) return;
  char before = '=';
  text += ' ';
  text += key;
  for (const auto& item : items) {
    text += before;
    append(text, name_of_item(item));
    before = ',';
  }
}

void shape_line(std::string& text, const Shape& shape) {
  text += "shape";
  for (const DimensionField& d : dimension_fields) pair(text, d.name, shape.*d.member);
  for (const EpsilonField& e : epsilon_fields) pair(text, e.name, shape.*e.member);
  text += '\n';
}

void dialect_line(std::string& text, const Dialect& dialect) {
  const std::optional<Dialect> preset = dialect_named(dialect.name);
  const Dialect base = preset.value_or(Dialect{});
  text += "dialect ";
  text += base.name;
  const bool differs = !(dialect == base);
  for (const std::string_view dimension : dialect_dimensions()) {
    if (!differs) break;
    const std::string value = get_dimension(dialect, dimension);
    if (value != get_dimension(base, dimension)) pair(text, dimension, value);
  }
  text += '\n';
}

void recipe_line(std::string& text, const Recipe& recipe) {
  const Recipe usual;
  if (recipe == usual) return;
  text += "recipe";
  for (const Knob& knob : knobs()) {
    const int64_t value = recipe.*knob.member;
    if (value == usual.*knob.member) continue;
    if (is_pattern(knob.member)) {
      pair(text, knob.name, name_of(static_cast<Pattern>(value)));
    } else {
      pair(text, knob.name, value);
    }
  }
  text += '\n';
}

void call_line(std::string& text, const Call& call) {
  text += "call ";
  text += name_of(call.kind);
  for (const auto& [argument, value] : call.given) {
    const ArgumentRule& rule = rule_of(argument);
    if (value != rule.unless_given) pair(text, rule.name, value);
  }
  const auto same = [](const auto& item) { return item; };
  for (const ListField& f : list_fields) list(text, f.name, call.*f.member, same);
  list(text, "omit", call.omit, [](const std::string& name) { return std::string_view(name); });
  list(text, "read", call.reads, [](Tensor tensor) { return name_of(tensor); });
  text += '\n';
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
  text += "\nsubject ";
  text += name_of(c.subject);
  text += "\nseed ";
  append(text, c.seed);
  text += '\n';
  shape_line(text, c.shape);
  dialect_line(text, c.dialect);
  if (c.weights != Weights::f32) {
    text += "weights ";
    text += name_of(c.weights);
    text += '\n';
  }
  if (c.rows != 0 || c.cols != 0) {
    text += "matrix";
    pair(text, "rows", c.rows);
    pair(text, "cols", c.cols);
    text += '\n';
  }
  text += "tokens ";
  append(text, c.tokens);
  text += '\n';
  recipe_line(text, c.recipe);
  if (!(c.pool == PoolLayout{})) {
    text += "pool";
    for (const PoolField& f : pool_fields) pair(text, f.name, c.pool.*f.member);
    text += '\n';
  }
  for (const Call& call : c.calls) call_line(text, call);
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
