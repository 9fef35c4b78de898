// The search for cases that tell dialects apart, and what it compares.
#include "ci/dialect_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ci/contract_lab.h"
#include "ci/state_layout.h"
#include "invariants/harness/shrink.h"
#include "reference/formats.h"
#include "reference/recurrent_call.h"

namespace gdn {
namespace {

// The largest number of a narrow format that is no larger than x.
double at_most(Format format, double x) {
  const double near = round_to(format, x);
  if (near <= x) return near;
  const uint16_t bits = format == Format::f16 ? f16_encode(near) : bf16_encode(near);
  uint16_t next = static_cast<uint16_t>(near > 0 ? bits - 1 : bits + 1);
  if (near == 0) next = 0x8001;
  return format == Format::f16 ? f16_decode(next) : bf16_decode(next);
}

// The ends of what is accepted; wider by the rounding of their computation.
double end_of(const ExpectedElement& e, double side) {
  const double end = std::nextafter(e.value + side * e.bound, side * infinity);
  return e.stored == Format::f32 ? end : round_to(e.stored, end);
}

bool is_plain(const ExpectedElement& e) { return std::isfinite(e.value) && std::isfinite(e.bound); }

using Arrays = std::map<std::string, std::vector<ExpectedElement>>;

void put(const Case& c, const std::map<std::string, Bounded>& expected, Arrays& arrays) {
  for (const auto& [name, bounded] : expected) {
    std::vector<ExpectedElement>& elements = arrays[name];
    elements.resize(bounded.size());
    for (size_t i = 0; i < bounded.size(); ++i) {
      elements[i] = {bounded.value[i], bounded.bound_of(i), bounded.stored};
    }
    // An odd result that is tolerated is none to tell anything by.
    for (const Tolerated& t : bounded.tolerated) elements[t.index].bound = infinity;
    const bool turned = c.dialect.state_layout == Dialect::StateLayout::vk;
    if (name == "S" && turned) elements = put_as_vk(elements, c.shape);
  }
}

// Of a call with sequences and slots: whether it is served, and which rows of o are left alone.
Arrays expected_of_call(const Case& c, const Lab& lab) {
  const CallExpectation want = lab.expect_recurrent(c, 0, lab.first_pool(c));
  Arrays arrays;
  using Is = ExpectedElement::Is;
  arrays["status"].emplace_back().is = want.refused ? Is::refused : Is::served;
  put(c, want.arrays, arrays);
  const RecurrentBatch batch = batch_of(c, c.calls.front());
  std::vector<ExpectedElement>& o = arrays["o"];
  for (size_t i = 0; i < o.size(); ++i) {
    const OutputKind kind = batch.output[i / static_cast<size_t>(c.shape.v_dim())];
    if (kind == OutputKind::untouched) o[i].is = Is::untouched;
    if (kind == OutputKind::meaningless) o[i].bound = infinity;
  }
  return arrays;
}

Arrays expected(const Case& c, const Lab& lab) {
  if (!c.calls.empty()) return expected_of_call(c, lab);
  Arrays arrays;
  const Expectation& want = lab.expect(c);
  if (!want.calls.empty()) put(c, want.calls.front().arrays, arrays);
  return arrays;
}

// A drawn gate is made to suit its dialect: one that both are given has to be spelled out.
bool gives_both_the_same(const Case& c, const Dialect& one, const Dialect& other) {
  const auto linear = Dialect::GateInput::linear_alpha;
  const bool alike = (one.gate_input == linear) == (other.gate_input == linear);
  return alike || c.subject != Subject::recurrent || c.numbers.contains("g");
}

Case start_of(Subject subject, uint64_t seed, int64_t exponent) {
  Case c;
  c.subject = subject;
  c.seed = seed;
  c.shape = {.hidden_size = 32,
             .num_k_heads = 2,
             .head_k_dim = 2,
             .num_v_heads = 4,
             .head_v_dim = 2,
             .conv_kernel = 1};
  if (subject == Subject::recurrent) c.tokens = 2;
  c.recipe.input_exponent = exponent;
  if (subject != Subject::in_proj) return c;
  c.rows = 1;
  c.cols = c.shape.hidden_size;
  c.shape.num_k_heads = c.shape.num_v_heads = c.shape.head_k_dim = 1;
  c.shape.head_v_dim = 32;
  return c;
}

// One sequence in a pool of three states, two tokens in slots of their own or one token in none.
std::vector<Case> starts_in_slots() {
  std::vector<Case> all;
  for (const std::vector<int64_t>& slots : {std::vector<int64_t>{1, 2}, {-1}}) {
    Case& c = all.emplace_back(start_of(Subject::recurrent, 1, 0));
    c.tokens = std::ssize(slots);
    c.pool.slots = c.pool.states = 3;
    Call call = call_of(CallKind::recurrent, {{Argument::tokens, c.tokens}});
    call.lengths = {c.tokens};
    call.slots = slots;
    c.calls = {std::move(call)};
  }
  return all;
}

// Where the search begins: numbers of ordinary size and so small that an eps counts, gates that are
// the same to all, and states in slots.
std::vector<Case> starts(Subject subject) {
  std::vector<Case> all;
  for (const int64_t exponent : {0, -12}) {
    for (const uint64_t seed : {1, 2}) {
      const Case c = start_of(subject, seed, exponent);
      all.push_back(c);
      if (subject != Subject::recurrent) continue;
      const auto gates = static_cast<size_t>(c.tokens * c.shape.num_v_heads);
      all.push_back(c.with_numbers("g", std::vector<float>(gates, 0)));
    }
  }
  if (subject != Subject::recurrent) return all;
  for (Case& c : starts_in_slots()) all.push_back(std::move(c));
  return all;
}

// g of A_log = 0 and dt_bias = 0 in float32, as the plain form computes it.
double plain_softplus_gives(const Case& c) {
  const float x = std::bit_cast<float>(c.numbers.at("a").front());
  return -std::log(1.0F + std::exp(x));
}

// How much there is to look at.
size_t count_of_numbers(const Case& c) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return SIZE_MAX;
  size_t count = numbers->tiles.size();
  for (const auto& [name, array] : numbers->arrays) count += array.size();
  return count;
}

struct Size {
  size_t numbers, letters;
  auto operator<=>(const Size&) const = default;
};
Size size_of(const Case& c) { return {count_of_numbers(c), print(c).size()}; }

}  // namespace

Lab lab_of_any_order() {
  Contract contract = any_f32_contract();
  // The dialect alone says which form it is.
  contract.softplus = SoftplusForm::log1p_thresholds;
  return lab_of(std::move(contract));
}

bool exclude_each_other(const ExpectedElement& one, const ExpectedElement& other) {
  if (one.is != other.is) return true;
  if (one.is != ExpectedElement::Is::number) return false;
  if (!is_plain(one) || !is_plain(other)) return false;
  const double low = std::max(end_of(one, -1), end_of(other, -1));
  const double high = std::min(end_of(one, 1), end_of(other, 1));
  if (low > high) return true;
  for (const Format format : {one.stored, other.stored}) {
    if (format != Format::f32 && at_most(format, high) < low) return true;
  }
  return false;
}

std::optional<ToldApart> told_apart(const Case& c, const Dialect& one, const Dialect& other,
                                    const Lab& lab) {
  if (!gives_both_the_same(c, one, other)) return std::nullopt;
  Case first = c;
  Case second = c;
  first.dialect = one;
  second.dialect = other;
  if (!why_invalid(first).empty() || !why_invalid(second).empty()) return std::nullopt;
  const Arrays wanted = expected(first, lab);
  const Arrays against = expected(second, lab);
  for (const auto& [name, elements] : wanted) {
    const auto found = against.find(name);
    if (found == against.end() || found->second.size() != elements.size()) continue;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!exclude_each_other(elements[i], found->second[i])) continue;
      return ToldApart{std::move(first), name, i, elements[i], found->second[i]};
    }
  }
  return std::nullopt;
}

std::span<const Subject> told_subjects() {
  static constexpr Subject all[] = {Subject::recurrent, Subject::gates, Subject::in_proj};
  return all;
}

std::optional<ToldApart> smallest_case(Subject subject, const Dialect& one, const Dialect& other,
                                       const Lab& lab) {
  constexpr size_t tries_max = 2000;
  std::optional<ToldApart> best;
  for (const Case& start : starts(subject)) {
    const std::optional<ToldApart> seen = told_apart(start, one, other, lab);
    if (!seen) continue;
    Case c = start;
    c.dialect = one;
    const auto still = [&](const Case& near) {
      if (!(near.dialect == one)) return false;
      // What shows in numbers is not to end as a call that one of them refuses.
      const std::optional<ToldApart> still_seen = told_apart(near, one, other, lab);
      return still_seen && still_seen->array == seen->array;
    };
    const Case small = shrink(c, still, tries_max).smallest;
    if (!best || size_of(small) < size_of(best->c)) best = told_apart(small, one, other, lab);
  }
  return best;
}

std::vector<std::string> differences(const Dialect& one, const Dialect& other) {
  std::vector<std::string> names;
  for (const std::string_view dimension : dialect_dimensions()) {
    if (get_dimension(one, dimension) != get_dimension(other, dimension)) {
      names.emplace_back(dimension);
    }
  }
  return names;
}

std::string_view why_equal_numbers(std::string_view dimension, std::string_view one,
                                   std::string_view other) {
  const auto are = [&](std::string_view a, std::string_view b) {
    return (one == a && other == b) || (one == b && other == a);
  };
  if (dimension == "scale_on" && are("q", "output")) {
    return "(s q) S = s (q S): equal but for rounding, which both bounds hold";
  }
  if (dimension == "decay_order") {
    return "k (a S) = a (k S): equal but for rounding, which both bounds hold";
  }
  if (dimension == "gate_input" && are("raw_a", "log_g")) {
    return "one formula for g, evaluated by the engine or by its caller";
  }
  if (dimension == "sequence_coding")
    return "the same sequences: their lengths are passed otherwise";
  if (dimension == "state_writes" && are("final_only", "last_k_newest_first")) {
    return "the same final state; the last K are kept besides, where that is asked for";
  }
  if (dimension == "start_slot") return "accepted counts are given to the one alone";
  return "";
}

std::optional<ToldApart> softplus_case(const Lab& lab) {
  Case c = start_of(Subject::gates, 1, 0);
  c.shape.num_k_heads = c.shape.num_v_heads = c.shape.head_k_dim = c.shape.head_v_dim = 1;
  c.shape.hidden_size = 1;
  c = c.with_numbers("a", {-17}).with_numbers("A_log", {0}).with_numbers("dt_bias", {0});
  Dialect plain;
  plain.softplus = Dialect::Softplus::log_one_plus_exp;
  c.dialect = Dialect{};
  const ExpectedElement strict = expected(c, lab).at("g").front();
  Case loose = c;
  loose.dialect = plain;
  const ExpectedElement wide = expected(loose, lab).at("g").front();
  const double got = plain_softplus_gives(c);
  const bool right_for_one =
      std::abs(got - wide.value) <= wide.bound && std::abs(got - strict.value) > strict.bound;
  if (!right_for_one) return std::nullopt;
  return ToldApart{c, "g", 0, strict, wide};
}

}  // namespace gdn
