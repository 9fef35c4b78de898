// Entries carry the separators that they need where they stand, so that one insertion makes a whole
// word of a line.
#include "fuzz/case_dictionary.h"

#include <set>
#include <string_view>

#include "reference/case.h"
#include "reference/case_fields.h"

namespace gdn {
namespace {

class Dictionary {
 public:
  // A line break, or a byte that is no letter of the format's, is written as its number.
  void add(std::string_view section, const std::string& entry) {
    if (!seen_.insert(entry).second) return;
    if (section != section_) text_ += "\n# " + std::string(section) + "\n";
    section_ = section;
    text_ += '"';
    for (const char c : entry) {
      if (c == '\n') {
        text_ += "\\x0A";
      } else {
        if (c == '"' || c == '\\') text_ += '\\';
        text_ += c;
      }
    }
    text_ += "\"\n";
  }
  std::string text() const { return text_; }

 private:
  std::string text_ =
      "# Words of a case's text form. Written by `fuzz_case_text --dictionary > fuzz/case.dict`.\n";
  std::string section_;
  std::set<std::string> seen_;
};

void add_lines(Dictionary& words) {
  words.add("lines", std::string(case_first_line) + '\n');
  for (const char* key : {"subject", "seed", "shape", "dialect", "weights", "matrix", "tokens",
                          "recipe", "pool", "call", "numbers"}) {
    words.add("lines", '\n' + std::string(key) + ' ');
  }
  for (int i = 0; i <= static_cast<int>(Subject::recurrent); ++i) {
    words.add("subjects", "subject " + std::string(name_of(static_cast<Subject>(i))) + '\n');
  }
  for (const Weights weights : {Weights::f32, Weights::q4}) {
    words.add("weights", "weights " + std::string(name_of(weights)) + '\n');
  }
}

void add_fields(Dictionary& words) {
  const auto pair = [&](std::string_view section, std::string_view key) {
    words.add(section, ' ' + std::string(key) + '=');
  };
  for (const DimensionField& field : dimension_fields) pair("shape", field.name);
  for (const EpsilonField& field : epsilon_fields) pair("shape", field.name);
  for (const PoolField& field : pool_fields) pair("pool", field.name);
  for (const char* key : {"rows", "cols"}) pair("matrix", key);
  for (const Knob& knob : knobs()) pair("recipe", knob.name);
  for (int i = 0; i < pattern_count; ++i) {
    words.add("patterns", '=' + std::string(name_of(static_cast<Pattern>(i))));
  }
  for (const std::string_view name : dialect_names()) {
    words.add("dialects", "dialect " + std::string(name));
  }
  for (const std::string_view dimension : dialect_dimensions()) {
    const std::string key = ' ' + std::string(dimension) + '=';
    words.add("dialects", key);
    for (const std::string_view value : dimension_values(dimension)) {
      words.add("dialects", key + std::string(value));
    }
  }
}

void add_calls(Dictionary& words) {
  for (int i = 0; i < call_kind_count; ++i) {
    words.add("calls", "\ncall " + std::string(name_of(static_cast<CallKind>(i))));
  }
  for (int i = 0; i < argument_count; ++i) {
    words.add("arguments", ' ' + std::string(rule_of(static_cast<Argument>(i)).name) + '=');
  }
  for (const ListField& list : list_fields) {
    words.add("arguments", ' ' + std::string(list.name) + '=');
  }
  words.add("arguments", " omit=");
  words.add("arguments", " read=");
  for (int i = 0; i < tensor_count; ++i) {
    words.add("tensors", ',' + std::string(name_of(static_cast<Tensor>(i))));
  }
  for (const char* name : {"src", "dst", "id", "tiles", "y"}) {
    words.add("pointers", ',' + std::string(name));
  }
}

// Of every subject, as its arrays are made; those of a layer have no list.
void add_arrays(Dictionary& words) {
  std::set<std::string> names = {"h",   "a", "b",   "conv",      "A_log",   "dt_bias",   "norm",
                                 "qkv", "z", "out", "qkv_tiles", "z_tiles", "out_tiles", "tiles"};
  for (int i = 1; i <= static_cast<int>(Subject::recurrent); ++i) {
    Case c;
    c.subject = static_cast<Subject>(i);
    c.shape = {.hidden_size = 1,
               .num_k_heads = 1,
               .head_k_dim = 1,
               .num_v_heads = 1,
               .head_v_dim = 1,
               .conv_kernel = 2};
    const bool has_matrix = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
    c.rows = has_matrix ? 1 : 0;
    c.cols = c.rows;
    c.tokens = c.subject == Subject::recurrent ? 1 : 0;
    for (const Dialect::Decay decay : {Dialect::Decay::per_head, Dialect::Decay::g_then_gk}) {
      c.dialect.decay = decay;
      std::string why;
      const std::optional<Numbers> numbers = materialise(c, &why);
      if (!numbers) continue;
      for (const auto& [name, values] : numbers->arrays) names.insert(name);
    }
  }
  for (const std::string& name : names) words.add("arrays", "\nnumbers " + name + ' ');
  for (const std::string& name : names) words.add("pointers", ',' + name);
}

// Zeros, ones, ends of ranges, NaNs; whole numbers at the ends of theirs.
void add_values(Dictionary& words) {
  for (const char* bits : {"00000000", "80000000", "3f800000", "bf800000", "00000001", "007fffff",
                           "00800000", "7f7fffff", "7f800000", "ff800000", "7fc00000", "ffffffff",
                           "41a00000", "42b17218", "7c007c00", "00010001"}) {
    words.add("bits of numbers", ' ' + std::string(bits));
  }
  for (const char* value :
       {"0", "-1", "-2", "1", "2", "32", "64", "4611686018427387904", "9223372036854775807",
        "-9223372036854775808", "18446744073709551615", "1e-06", "0.5"}) {
    words.add("values", '=' + std::string(value));
  }
  words.add("values", "@1");
}

}  // namespace

std::string case_dictionary() {
  Dictionary words;
  add_lines(words);
  add_fields(words);
  add_calls(words);
  add_arrays(words);
  add_values(words);
  return words.text();
}

}  // namespace gdn
