// Properties of what judges engines: of cases and their text, of the reference's several forms of
// one recurrence, and of the model of a layer's life.
#include <cmath>
#include <cstdio>

#include "invariants/harness/life.h"
#include "invariants/harness/shrink.h"
#include "properties/case_gen.h"
#include "reference/delta_rule_exact.h"
#include "reference/real.h"
#include "reference/recurrence.h"

namespace gdn {
namespace {

void text_is_canonical() {
  const Case c = *case_gen();
  std::string why;
  const std::optional<Case> read = parse_case(print(c), &why);
  RC_ASSERT(why == "");
  RC_ASSERT(read.has_value());
  RC_ASSERT(print(*read) == print(c));
  RC_ASSERT(hash8(*read) == hash8(c));
}

void numbers_are_pure() {
  const Case c = *case_gen();
  std::string why;
  const std::optional<Numbers> one = materialise(c, &why);
  RC_ASSERT(why == "");
  const std::optional<Numbers> other = materialise(c.with_calls({}), &why);
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
    const auto bits = [](float x, float y) {
      return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), bits);
  };
  RC_ASSERT(one->tiles == other->tiles);
  RC_ASSERT(one->h.size() == other->h.size());
  for (size_t t = 0; t < one->h.size(); ++t) RC_ASSERT(same(one->h[t], other->h[t]));
  for (const auto& [name, numbers] : one->arrays) RC_ASSERT(same(numbers, other->arrays.at(name)));
  RC_ASSERT(one->layers.size() == other->layers.size());
  for (size_t l = 0; l < one->layers.size(); ++l) {
    RC_ASSERT(same(one->layers[l].qkv, other->layers[l].qkv));
    RC_ASSERT(one->layers[l].qkv_tiles == other->layers[l].qkv_tiles);
    RC_ASSERT(same(one->layers[l].dt_bias, other->layers[l].dt_bias));
  }
}

void neighbours_are_valid_and_differ() {
  const Case c = *case_gen();
  std::set<std::string> texts = {print(c)};
  for (const Case& near : c.neighbours()) {
    RC_ASSERT(why_invalid(near) == "");
    RC_ASSERT(print(near) != print(c));
    RC_ASSERT(hash8(near) != hash8(c));
    for (const auto& [name, bits] : near.numbers) RC_ASSERT(!bits.empty());
  }
}

// One of the default mix for which `is_such`.
template <class Condition>
Case drawn_such(Condition is_such) {
  return *case_gen([is_such](Rng& rng) {
    Case c = draw(rng);
    while (!is_such(c)) c = draw(rng);
    return c;
  });
}

// Numbers that were given in full still fit after any step.
void neighbours_can_be_made() {
  const Case c = drawn_such([](const Case& drawn) { return !drawn.numbers.empty(); });
  for (const Case& near : c.neighbours()) {
    std::string why;
    RC_ASSERT(materialise(near, &why).has_value());
  }
}

// What no case can fail shrinks nothing; what every case fails shrinks to where nothing is left.
void shrinking_ends() {
  const Case c = *case_gen();
  const Shrunk none = shrink(
      c, [](const Case&) { return false; }, 1000);
  RC_ASSERT(print(none.smallest) == print(c));
  const Shrunk all = shrink(
      c, [](const Case&) { return true; }, 10'000);
  RC_ASSERT(all.smallest.neighbours().empty());
}

// A model of the first calls is the first part of the model of all.
void life_goes_forward() {
  const Case c = drawn_such(
      [](const Case& drawn) { return drawn.subject == Subject::layer && !drawn.calls.empty(); });
  const Life whole = live(c);
  RC_ASSERT(whole.calls.size() == c.calls.size());
  const auto half = static_cast<std::ptrdiff_t>(c.calls.size() / 2);
  const Life first = live(c.with_calls({c.calls.begin(), c.calls.begin() + half}));
  for (size_t i = 0; i < first.calls.size(); ++i) {
    RC_ASSERT(first.calls[i].refused == whole.calls[i].refused);
    RC_ASSERT(first.calls[i].tokens == whole.calls[i].tokens);
    RC_ASSERT(first.calls[i].read == whole.calls[i].read);
  }
  for (size_t place = 1; place < whole.fed.size(); ++place) {
    const Fed& fed = whole.fed[place];
    RC_ASSERT(fed.before < place);
    RC_ASSERT(fed.out_of < place);
    RC_ASSERT(fed.call < c.calls.size());
    RC_ASSERT(!whole.calls[fed.call].refused);
  }
}

// A recurrence whose exact values no form can miss: no norm, no storage, numbers of middling size.
Case draw_plain_recurrence(Rng& rng) {
  Case c;
  c.subject = Subject::recurrent;
  c.seed = rng.next() >> 44;
  const int64_t heads = rng.range(1, 2);
  c.shape = {.hidden_size = 1,
             .num_k_heads = heads,
             .head_k_dim = rng.range(1, 5),
             .num_v_heads = heads,
             .head_v_dim = rng.range(1, 5),
             .conv_kernel = 1};
  c.dialect.gate_input = Dialect::GateInput::log_g;
  c.dialect.qk_norm = Dialect::QkNorm::none;
  c.dialect.scale_on = Dialect::ScaleOn::none;
  c.tokens = rng.range(1, 20);
  constexpr int64_t horizons[] = {1, 100, 1'000'000};
  c.recipe.horizon_tokens = horizons[rng.range(0, 2)];
  c.recipe.coherence_16ths = rng.range(0, 16);
  c.recipe.beta_logit = rng.range(-20, 20);
  c.recipe.beta_factor = rng.range(1, 2);
  return c;
}

struct Sequence {
  Case content;
  std::map<std::string, std::vector<float>> arrays;

  std::vector<float> row(const char* name, int64_t token, int64_t width) const {
    const auto begin = arrays.at(name).begin() + token * width;
    return {begin, begin + width};
  }
  TokenInputs inputs(int64_t t) const {
    const Shape& s = content.shape;
    TokenInputs in;
    in.q = exactly(row("q", t, s.k_dim()));
    in.k = exactly(row("k", t, s.k_dim()));
    in.v = exactly(row("v", t, s.v_dim()));
    in.g = exactly(row("g", t, s.num_v_heads));
    in.beta = exactly(row("beta", t, s.num_v_heads));
    return in;
  }
  // One head of one token, in many digits.
  exact::Token<Real> exact_token(int64_t t, int64_t head) const {
    const Shape& s = content.shape;
    const auto part = [&](const char* name, int64_t heads, int64_t width) {
      const std::vector<float> numbers = row(name, t * heads + head, width);
      return std::vector<Real>(numbers.begin(), numbers.end());
    };
    return {part("q", s.num_k_heads, s.head_k_dim), part("k", s.num_k_heads, s.head_k_dim),
            part("v", s.num_v_heads, s.head_v_dim), part("g", s.num_v_heads, 1).front(),
            part("beta", s.num_v_heads, 1).front()};
  }
};

Sequence drawn_sequence() {
  Sequence sequence;
  sequence.content = *case_gen(draw_plain_recurrence);
  RC_PRE(sequence.content.subject == Subject::recurrent && sequence.content.tokens >= 1);
  std::string why;
  sequence.arrays = materialise(sequence.content, &why)->arrays;
  return sequence;
}

// The running form gives as its value what an independent form, in one chunk, gives: they differ
// by the rounding of a value to double, far below its bound in float32.
void running_is_chunked() {
  const Sequence sequence = drawn_sequence();
  const Case& c = sequence.content;
  const Shape& s = c.shape;
  RunningRecurrence running(s, c.dialect, Contract{}, sequence.arrays.at("S"));
  std::vector<TokenInputs> tokens;
  for (int64_t t = 0; t < c.tokens; ++t) tokens.push_back(sequence.inputs(t));
  const std::vector<Bounded> o = running.call(tokens);
  const Bounded state = running.state();
  const int64_t per_head = s.head_k_dim * s.head_v_dim;
  for (int64_t head = 0; head < s.num_v_heads; ++head) {
    const auto begin = sequence.arrays.at("S").begin() + head * per_head;
    std::vector<Real> S(begin, begin + per_head);
    std::vector<exact::Token<Real>> of_head;
    for (int64_t t = 0; t < c.tokens; ++t) of_head.push_back(sequence.exact_token(t, head));
    const std::vector<std::vector<Real>> want = exact::chunked(S, of_head);
    for (int64_t t = 0; t < c.tokens; ++t) {
      for (int64_t j = 0; j < s.head_v_dim; ++j) {
        const auto at = static_cast<size_t>(head * s.head_v_dim + j);
        const Real value = want[static_cast<size_t>(t)][static_cast<size_t>(j)];
        const double off = static_cast<double>(abs(value - o[static_cast<size_t>(t)].value[at]));
        RC_ASSERT(off <= o[static_cast<size_t>(t)].bound_of(at) / 2);
      }
    }
    for (int64_t i = 0; i < per_head; ++i) {
      const auto at = static_cast<size_t>(head * per_head + i);
      const double off = static_cast<double>(abs(S[static_cast<size_t>(i)] - state.value[at]));
      RC_ASSERT(off <= state.bound_of(at) / 2);
    }
  }
}

// Of one token from a state that is exact, the running bound and the local one judge alike: the
// values are the same, and neither interval lies outside the other.
void local_is_running() {
  const Sequence sequence = drawn_sequence();
  const Case& c = sequence.content;
  const std::vector<float>& before = sequence.arrays.at("S");
  RunningRecurrence running(c.shape, c.dialect, Contract{}, before);
  running.call({sequence.inputs(0)});
  const Bounded one = running.state();
  const Bounded other =
      delta_rule_state(before, sequence.inputs(0), c.shape, c.dialect, Contract{});
  RC_ASSERT(one.size() == other.size());
  for (size_t i = 0; i < one.size(); ++i) {
    const double bound = std::max(one.bound_of(i), other.bound_of(i));
    RC_ASSERT(std::abs(one.value[i] - other.value[i]) <= bound);
  }
}

// A bound grows with the calls before it only: cut anywhere, the loop gives the same.
void a_loop_has_no_calls() {
  const Sequence sequence = drawn_sequence();
  const Case& c = sequence.content;
  const std::vector<float>& before = sequence.arrays.at("S");
  std::vector<TokenInputs> tokens;
  for (int64_t t = 0; t < c.tokens; ++t) tokens.push_back(sequence.inputs(t));
  RunningRecurrence whole(c.shape, c.dialect, Contract{}, before);
  RunningRecurrence cut(c.shape, c.dialect, Contract{}, before);
  whole.call(tokens);
  const std::ptrdiff_t half = c.tokens / 2;
  cut.call({tokens.begin(), tokens.begin() + half});
  cut.call({tokens.begin() + half, tokens.end()});
  RC_ASSERT(whole.state().value == cut.state().value);
  RC_ASSERT(whole.state().bound == cut.state().bound);
}

int run() {
  use_fixed_seed(20261129, 300);
  bool all = rc::check("a case's text is canonical", text_is_canonical);
  all &= rc::check("a case's numbers are a function of it", numbers_are_pure);
  all &= rc::check("neighbours are valid and differ", neighbours_are_valid_and_differ);
  all &= rc::check("neighbours can be made", neighbours_can_be_made);
  all &= rc::check("shrinking comes to an end", shrinking_ends);
  all &= rc::check("the model of a layer's life goes forward", life_goes_forward);
  all &= rc::check("the running recurrence is the chunked one", running_is_chunked);
  all &= rc::check("the local recurrence is the running one", local_is_running);
  all &= rc::check("the running loop has no calls", a_loop_has_no_calls);
  return all ? 0 : 1;
}

}  // namespace
}  // namespace gdn

int main() { return gdn::run(); }
