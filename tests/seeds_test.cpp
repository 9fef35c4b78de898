// The seeds: what each is for is said and is true. Those with numbers in full have their right
// values here, worked out by hand, and engines and reference are held to them; the table in
// corpus/README.md is held to what the seeds and the mutants named in it really do.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <stdexcept>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

using Values = std::vector<double>;

const std::vector<CorpusFile>& seeds() {
  static const std::vector<CorpusFile> files = case_files("seeds");
  return files;
}

const CorpusFile& seed_named(const std::string& name) {
  const std::string path = "seeds/" + name + ".case";
  for (const CorpusFile& seed : seeds()) {
    if (seed.name == path) return seed;
  }
  ADD_FAILURE() << "no file corpus/" << path;
  return seeds().front();
}

Lab lab_of(const std::string& engine) {
  std::string why;
  const std::optional<EngineSource> source = find_engine(engine, &why);
  if (!source) throw std::runtime_error(why);
  return Lab(*source);
}

// An output of a seed. `half_digit` is half a unit of the last digit where a value was cut off.
struct Literal {
  const char* seed;
  const char* array;
  Values right;
  std::vector<Values> wrong;  // answers that engines have given
  double half_digit = 0;
};

Values times(size_t count, const Values& all) {
  Values repeated;
  for (const double x : all) repeated.insert(repeated.end(), count, x);
  return repeated;
}

// 1 - 0.165^t of the tokens 1 to 64.
Values approach_to_one() {
  Values o;
  double left = 1;
  for (int t = 0; t < 64; ++t) o.push_back(1 - (left *= 0.165));
  return o;
}

std::vector<Literal> of_the_delta_rule() {
  return {
      // S decays to 1/2, beta = 1 takes all of it away; before the decay, 1/2 - 1.
      {"delta_rule/error_after_decay", "o", {0}, {{-0.5}}},
      {"delta_rule/error_after_decay", "S", {0}, {{-0.5}}},
      // 1 + 1 (5 - 1); the sum of both values is 6.
      {"recurrent/second_value_replaces_the_first", "o", {1, 5}, {{1, 6}}},
      {"recurrent/second_value_replaces_the_first", "S", {5}, {{6}}},
      // e^(ln 1/2); ln 1/2; e^(1/2).
      {"delta_rule/log_decay_halves_the_state", "o", {0.5}, {{-0.693}, {1.649}}},
      {"delta_rule/log_decay_halves_the_state", "S", {0.5}, {{-0.693}, {1.649}}},
      // e^-e^-1, e^-1, e^-e^2 = e^-7.38906.
      {"delta_rule/decays_of_three_amplitudes",
       "o",
       {0.692201, 0.367879, 0.000618},
       {{1.44467, 2.71828, 1618.18}},
       0.5e-6},
      // v (k.q) = (3, -4) (2 + 1/2), and S = k v^T.
      {"delta_rule/output_after_the_update", "o", {7.5, -10}, {{0, 0}}},
      {"delta_rule/output_after_the_update", "S", {3, -4, 6, -8}, {{0, 0, 0, 0}}},
      // v as it is under k-head 0, half of it under k-head 1; dealt out in turn, and q for k.
      {"delta_rule/two_v_heads_to_a_k_head", "o", {1, 2, 1.5, 2}, {{1, 1, 3, 2}, {1, 2, 3, 4}}},
      {"delta_rule/three_v_heads_to_a_k_head",
       "o",
       {1, 2, 3, 2, 2.5, 3},
       {{1, 1, 3, 2, 5, 3}, {1, 2, 3, 4, 5, 6}}},
      {"recurrent/v_heads_dealt_out_in_turn", "o", {1, 1, 3, 2}, {{1, 2, 1.5, 2}}},
      // Key 0 reads value 1.
      {"delta_rule/one_key_one_value_square", "o", {0, 1}, {{0, 0}, {1, 0}}},
      {"delta_rule/one_key_one_value_oblong", "o", {0, 1, 0}, {{0, 0, 0}, {0, 0, 1}}},
      {"recurrent/one_key_one_value_square_stored_transposed", "o", {0, 1}, {{0, 0}}},
      {"recurrent/one_key_one_value_oblong_stored_transposed", "o", {0, 1, 0}, {{0, 0, 0}}},
  };
}

std::vector<Literal> of_long_runs() {
  return {
      // y <- 0.835 + 0.165 e^-20 y, and e^-20 = 2.06e-9: 0.835 to nine digits.
      {"recurrent/one_key_under_strong_decay", "o", Values(64, 0.835), {}, 1e-9},
      // Each element of S is that times 1/2.
      {"recurrent/one_key_under_strong_decay", "S", Values(4, 0.4175), {}, 1e-9},
      // The error 1 - y is 0.165 of itself after each token.
      {"recurrent/one_key_without_decay", "o", approach_to_one(), {Values(64, 0.835)}},
      {"recurrent/one_key_without_decay", "S", Values(4, 0.5), {Values(4, 0.4175)}},
      // 4096 ln 0.9985 = -6.148613, e^-6.148613 = 0.0021364.
      {"recurrent/slow_decay_of_4096_tokens", "S", {0.0021364}, {{1}}, 0.5e-7},
      // Each token leaves 1/2 (1 + eps/16) of S, eps = 1e-6: 2^-20 (1 + 20/16 1e-6) after 20 of
      // them, and 2^-20 = 9.5367432e-7. As they are, keys leave 1 - 16/2 = -7, and 7^20 = 8e16.
      {"recurrent/long_keys_without_input", "S", {9.536755e-7}, {{7.979e16}, {1}}, 0.5e-13},
  };
}

std::vector<Literal> of_other_operators() {
  const Values norms = {0.0883883, 0.0883849, 0.0880451, 0.0662266, 0};
  const Values max_form = {0.0883883, 0.0883883, 0.0883883, 0.0883883, 0};
  const Values mean_form = {0.0883883, 0.0879497, 0.0625, 0.0087950, 0};
  return {
      // -e^-1, -1, -e^2; A_log as it is grows by e^2 a token.
      {"gates/amplitudes_of_three_logarithms",
       "g",
       {-0.3678794, -1, -7.3890561},
       {{-1, 0, 2}},
       0.5e-7},
      {"gates/amplitudes_of_three_logarithms", "beta", {0.5, 0.5, 0.5}, {{0, 0, 0}}},
      // e^-100 = 3.720076e-44, and infinity times 0. A unit of the last place there is 1.4e-45.
      {"gates/large_amplitude_of_a_vanished_softplus",
       "g",
       {-3.720076e-44},
       {{NAN}, {-INFINITY}},
       0.5e-50},
      // 100 e^-5 = 0.67379470.
      {"gates/softplus_of_a_hundred", "g", {-0.6737947}, {{NAN}, {-INFINITY}, {0}}, 0.5e-7},
      // a / sqrt(128 a^2 + eps): the norms 1.0000, 0.99996, 0.99612, 0.74927, 0 over sqrt(128) =
      // 11.313708. max: a norm of 1 but at 0; eps in the mean: a / sqrt(128 (a^2 + eps)).
      {"qk_norm/equal_elements_down_to_zero",
       "k",
       times(128, norms),
       {times(128, max_form), times(128, mean_form), times(128, {1, 1e-2, 1e-3, 1e-4, 0})},
       0.5e-7},
      // 1 1 + 10 2 + 100 3 + 1000 4; 1000 1 + 100 2 + 10 3 + 4; 10 1 + 100 2 + 1000 4.
      {"conv/taps_oldest_first", "y", Values(4, 4321), {Values(4, 1234), Values(4, 4210)}},
      {"conv/taps_oldest_first",
       "hist",
       times(4, {2, 3, 4}),
       {times(4, {1, 2, 3}), times(4, {2, 3, 4321})}},
      // 10 2 + 100 3.
      {"conv/history_of_one", "y", Values(4, 320), {Values(4, 230)}},
      {"conv/history_of_one", "hist", Values(4, 3), {Values(4, 2)}},
  };
}

// -8 to 7 from the low nibbles, then 7 to -8 from the high ones, in each of the four rows.
Values four_ramps() {
  Values rows;
  for (int i = 0; i < 4 * 32; ++i) rows.push_back(i % 32 < 16 ? i % 32 - 8 : 23 - i % 32);
  return rows;
}

std::vector<Literal> of_tiles() {
  std::vector<Literal> all = {
      {"dequant/nibble_order", "out", four_ramps(), {Values(128, 0), Values(128, NAN)}},
      // 3 - 8 in byte 3; 23 - 19 in the high half of it. Interleaved, columns 3 and 19 are the high
      // nibbles of bytes 1 and 9: 14 - 8 and 6 - 8. Offset twice, -5 is 11 - 8 and 4 is 4 - 8.
      {"in_proj/unit_vector_in_the_low_half", "y", Values(4, -5), {Values(4, 6), Values(4, 3)}},
      {"in_proj/unit_vector_in_the_high_half", "y", Values(4, 4), {Values(4, -2), Values(4, -4)}},
      // 1, 3, 512 and 1023 times 2^-24 (1 - 8) 2^24.
      {"in_proj/subnormal_scales_by_bits",
       "y",
       {-7, -21, -3584, -7161},
       {Values(4, 0), {-3.5, -10.5, -1792, -3580.5}, {-14, -42, -7168, -14322}}},
      {"dequant/zero_blocks", "out", Values(128, 0), {Values(128, NAN)}},
      {"in_proj/zero_blocks", "y", Values(4, 0), {Values(4, NAN)}},
  };
  // 2, 3, 0 and 5 - 7; without the last block; its first block twice; its last one a neighbour's.
  // A row of one block has its first as its last.
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const CorpusFile& seed : seeds()) {
      const size_t at = seed.name.find("proj/columns_of_");
      if (at == std::string::npos) continue;
      const size_t begin = std::string("seeds/").size();
      found.push_back(seed.name.substr(begin, seed.name.size() - begin - 5));
    }
    return found;
  }();
  for (const std::string& name : names) {
    all.push_back({name.c_str(), "y", {2, 3, 0, -2}, {{0, 3, 0, 5}, {2, 6, 0, 3}, {0, 5, -7, 5}}});
  }
  return all;
}

std::vector<Literal> literals() {
  std::vector<Literal> all = of_the_delta_rule();
  for (const auto& more : {of_long_runs(), of_other_operators(), of_tiles()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<float> as_floats(const Values& values) { return {values.begin(), values.end()}; }

// The literal with the reference's bound of each element, and what was cut off of it.
Bounded bounded(const Literal& literal, const Bounded& want) {
  Bounded b = want;
  b.value = literal.right;
  b.bound.clear();
  for (size_t i = 0; i < want.size(); ++i) {
    b.bound.push_back(want.bound_of(i) + literal.half_digit);
  }
  return b;
}

class SeedLiterals : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, SeedLiterals, testing::Values("twin", "simt"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST_P(SeedLiterals, AreWhatTheEngineAndTheReferenceGive) {
  const Lab lab = lab_of(GetParam());
  for (const Literal& literal : literals()) {
    const Worked worked = work(lab, seed_named(literal.seed).content);
    const std::string what = std::string(literal.seed) + ", " + literal.array;
    ASSERT_TRUE(worked.served.holds()) << what << ": " << worked.served.detail;
    const Bounded& want = worked.want.at(literal.array);
    ASSERT_EQ(want.size(), literal.right.size()) << what;
    const Bounded right = bounded(literal, want);
    const Verdict engine = within("engine", worked.got.at(literal.array), right);
    const Verdict reference = within("reference", as_floats(want.value), right);
    EXPECT_TRUE(engine.holds()) << what << ": " << engine.detail;
    EXPECT_TRUE(reference.holds()) << what << ": " << reference.detail;
    for (const Values& wrong : literal.wrong) {
      EXPECT_EQ(within("wrong", as_floats(wrong), want).outcome, Outcome::fails)
          << what << ": the bound accepts " << wrong[0] << ", ...";
    }
  }
}

TEST(Seeds, AreCanonicalAndSayTheirIdea) {
  for (const CorpusFile& seed : seeds()) {
    std::istringstream lines(seed.text);
    std::string without_comments, idea;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#")) without_comments += line + '\n';
      if (line.starts_with("# ") && idea.empty()) idea = line;
    }
    EXPECT_EQ(without_comments, print(seed.content)) << seed.name;
    EXPECT_GT(idea.size(), 10U) << seed.name << ": the second line says what it is for";
    EXPECT_TRUE(seed.text.find(idea) == seed.text.find('\n') + 1) << seed.name;
  }
}

TEST(Seeds, AreAllDifferent) {
  std::map<std::string, std::string> names;
  for (const CorpusFile& seed : seeds()) {
    const auto [known, is_new] = names.emplace(print(seed.content), seed.name);
    EXPECT_TRUE(is_new) << seed.name << " is the case of " << known->second;
  }
}

// A row of the table in corpus/README.md: patterns of seeds, and mutants with the invariant that
// sees each on one of them.
struct Row {
  std::string kind;
  std::vector<std::string> patterns;
  std::vector<std::pair<std::string, std::string>> mutants;
};

std::vector<std::string> words_of(const std::string& cell) {
  std::istringstream in(cell);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<Row> table() {
  std::istringstream lines(file_text(std::filesystem::path(SOURCE_DIR) / "corpus" / "README.md"));
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "<!-- seeds: begin -->") inside = true;
    if (line == "<!-- seeds: end -->") inside = false;
    if (!inside || !line.starts_with("| ") || line.starts_with("| kind |")) continue;
    std::vector<std::string> cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
    EXPECT_EQ(cells.size(), 3U) << line;
    Row row{cells.at(0), words_of(cells.at(1)), {}};
    const std::vector<std::string> pairs = words_of(cells.at(2));
    for (const std::string& pair : pairs) {
      if (pair == "-") continue;
      const size_t colon = pair.find(':');
      EXPECT_NE(colon, std::string::npos) << pair << ": expected mutant:invariant";
      row.mutants.emplace_back(pair.substr(0, colon),
                               pair.substr(std::min(colon, pair.size() - 1) + 1));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<const CorpusFile*> matching(const std::string& pattern) {
  std::vector<const CorpusFile*> found;
  for (const CorpusFile& seed : seeds()) {
    const std::string path = "seeds/" + pattern + ".case";
    if (fnmatch(path.c_str(), seed.name.c_str(), FNM_PATHNAME) == 0) found.push_back(&seed);
  }
  return found;
}

TEST(SeedTable, NamesSeedsThatExist) {
  EXPECT_GE(table().size(), 30U) << "corpus/README.md has no table of seeds";
  for (const Row& row : table()) {
    for (const std::string& pattern : row.patterns) {
      EXPECT_FALSE(matching(pattern).empty()) << row.kind << ": no seed " << pattern;
    }
  }
}

TEST(SeedTable, NamesMutantsThatFallOnItsSeeds) {
  for (const Row& row : table()) {
    for (const auto& [mutant, name] : row.mutants) {
      const Invariant* invariant = invariant_named(name);
      ASSERT_NE(invariant, nullptr) << row.kind << ": no invariant " << name;
      const Lab lab = lab_of("mutant:" + mutant);
      bool falls = false;
      for (const std::string& pattern : row.patterns) {
        for (const CorpusFile* seed : matching(pattern)) {
          falls = falls || check(*invariant, seed->content, lab).outcome == Outcome::fails;
        }
      }
      EXPECT_TRUE(falls) << row.kind << ": " << mutant << " survives " << name;
    }
  }
}

}  // namespace
}  // namespace gdn
