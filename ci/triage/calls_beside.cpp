// Faults of the host that no state of a layer shows.
#include "ci/triage/calls_beside.h"

#include <algorithm>
#include <cmath>

namespace gdn {
namespace {

CallFinding host(const Case& shown, Verdict verdict, const char* cause, const char* sentence) {
  CallFinding found;
  found.op = "host";
  found.shown = shown;
  found.verdict = std::move(verdict);
  found.causes = {cause};
  found.sentences = {sentence};
  return found;
}

// All arrays of numbers of two calls, side by side.
struct Pair {
  const std::vector<float>* here;
  const std::vector<float>* there;
};
std::vector<Pair> pairs_of(const CallObserved& here, const CallObserved& there) {
  std::vector<Pair> pairs = {{&here.out, &there.out}};
  for (const auto& [tensor, values] : here.reads) {
    const auto other = there.reads.find(tensor);
    if (other != there.reads.end()) pairs.push_back({&values, &other->second});
  }
  for (const auto& [name, values] : here.arrays) {
    const auto other = there.arrays.find(name);
    if (other != there.arrays.end()) pairs.push_back({&values, &other->second});
  }
  return pairs;
}

// Do elements differ, and is each that does a zero here, and `is_so` of what it is there?
bool only(const CallObserved& here, const CallObserved& there, bool (*is_so)(float)) {
  bool differs = false;
  for (const Pair& pair : pairs_of(here, there)) {
    if (pair.here->size() != pair.there->size()) return false;
    for (size_t i = 0; i < pair.here->size(); ++i) {
      const float x = (*pair.here)[i], y = (*pair.there)[i];
      if (equal_bits({&x, 1}, {&y, 1})) continue;
      if (x != 0 || !is_so(y)) return false;
      differs = true;
    }
  }
  return differs;
}

// Of a layer that both are fed token by token: the first operator that gives other bits.
std::string first_to_differ(const Case& c, const Lab& lab, const Lab& simulator) {
  const Case steps = c.with_calls(stepped_calls(c));
  const Observation here = lab.run(steps);
  const Observation there = simulator.run(steps);
  if (here.calls.size() != there.calls.size()) return "host";
  for (size_t i = 0; i < here.calls.size(); ++i) {
    std::optional<Operator> first;
    for (const auto& [tensor, values] : here.calls[i].reads) {
      const auto other = there.calls[i].reads.find(tensor);
      if (other == there.calls[i].reads.end() || equal_bits(values, other->second)) continue;
      first = std::min(first.value_or(Operator::dequant), operator_of(tensor));
    }
    if (first) return std::string(name_of(*first));
  }
  return "host";
}

// Where numbers within their bounds are not those of the simulator: the operator that makes them.
std::string operator_unlike(const Case& c, const Lab& lab, const Lab& simulator) {
  if (c.subject == Subject::layer) return first_to_differ(c, lab, simulator);
  if (c.subject == Subject::recurrent && c.dialect.qk_norm != Dialect::QkNorm::none) {
    Case plain = c;
    plain.dialect.qk_norm = Dialect::QkNorm::none;
    const bool differs = same_bits(lab.run(plain), simulator.run(plain)).outcome == Outcome::fails;
    if (!differs) return std::string(name_of(Operator::qk_norm));
  }
  return std::string(name_of(*operator_of(c.subject)));
}

// A state in one layout is right and in the other it is not.
std::optional<CallFinding> wrong_layout(const Case& given, const Lab& lab) {
  for (const auto layout : {Dialect::StateLayout::kv, Dialect::StateLayout::vk}) {
    Case c = given.with_calls({});
    c.dialect.state_layout = layout;
    const Observation seen = lab.run(c);
    if (!seen.served().holds()) continue;
    const auto& arrays = seen.calls.front().arrays;
    const auto& want = lab.expect(c).calls.front().arrays;
    Verdict verdict = claim(true, "");
    for (const auto& [name, values] : arrays) {
      if (!want.contains(name)) continue;
      verdict = both(std::move(verdict), within(name, values, want.at(name)));
    }
    if (verdict.outcome != Outcome::fails) continue;
    // The other layout must be right, or it is the rule that is wrong and not the layout.
    Case other = c;
    other.dialect.state_layout =
        layout == Dialect::StateLayout::kv ? Dialect::StateLayout::vk : Dialect::StateLayout::kv;
    const Observation there = lab.run(other);
    if (!there.served().holds()) return std::nullopt;
    Verdict right = claim(true, "");
    for (const auto& [name, bound] : lab.expect(other).calls.front().arrays) {
      right = both(std::move(right), within(name, there.calls.front().arrays.at(name), bound));
    }
    if (right.outcome != Outcome::holds) return std::nullopt;
    CallFinding found = host(c, verdict, "state_layout_ignored",
                             "the state is taken for the other layout than the one asked for");
    found.kind = CallKind::recurrent;
    found.tensor = "S";
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CallFinding> wrongly_opened(const Case& c, const Lab& lab) {
  const CallObserved right = lab.opened(c.shape);
  if (!right.ok()) return std::nullopt;
  const auto is_opened = [&](const Shape& shape, const std::string& what, const char* cause,
                             const char* sentence) -> std::optional<CallFinding> {
    const CallObserved seen = lab.opened(shape);
    if (!seen.ok()) return std::nullopt;
    return host(c, claim(false, "open: " + what + ": got GDN_OK, expected a refusal"), cause,
                sentence);
  };
  Shape heads = c.shape;
  heads.num_k_heads = 2;
  heads.num_v_heads = 3;
  if (auto found = is_opened(heads, "2 k-heads and 3 v-heads", "kh_not_dividing_vh_accepted",
                             "v-heads that are no multiple of the k-heads are opened")) {
    return found;
  }
  for (int64_t Shape::*const field :
       {&Shape::hidden_size, &Shape::num_k_heads, &Shape::head_k_dim, &Shape::num_v_heads,
        &Shape::head_v_dim, &Shape::conv_kernel, &Shape::num_layers}) {
    for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
      Shape shape = c.shape;
      shape.*field = value;
      if (auto found = is_opened(shape, "a dimension of " + std::to_string(value),
                                 "impossible_shape_accepted", "an impossible shape is opened")) {
        return found;
      }
    }
  }
  return std::nullopt;
}

std::optional<CallFinding> unlike_the_simulator(const Case& given, const Lab& lab) {
  std::string why;
  const Lab* const simulator = lab.beside("simt", &why);
  if (simulator == nullptr || lab.engine() == simulator->engine() ||
      lab.contract().name != simulator->contract().name) {
    return std::nullopt;
  }
  const bool stepped = given.subject == Subject::layer && given.calls.empty();
  const Case c = stepped ? given.with_calls(stepped_calls(given)) : given;
  const Observation here = lab.run(c);
  const Observation there = simulator->run(c);
  if (here.calls.size() != there.calls.size()) return std::nullopt;
  const std::vector<Call> made = c.calls_made();
  for (size_t i = 0; i < here.calls.size(); ++i) {
    const CallObserved& one = here.calls[i];
    const CallObserved& two = there.calls[i];
    Verdict verdict = same_bits("call " + std::to_string(i + 1), one, two);
    if (verdict.outcome != Outcome::fails) continue;
    // A simulator that fails is no measure of another engine.
    if (two.status == GDN_INTERNAL) return std::nullopt;
    CallFinding found = host(c, std::move(verdict), "unlike_the_simulator",
                             "its kernels give other bits than on the simulator");
    if (one.status == two.status) found.op = operator_unlike(c, lab, *simulator);
    found.call = i;
    found.kind = made[i].kind;
    const auto is_subnormal = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; };
    const auto is_zero = [](float x) { return x == 0; };
    // What a machine does to every result is no operator's.
    if (only(one, two, is_subnormal) || only(one, two, is_zero)) found.op = "host";
    if (only(one, two, is_subnormal)) {
      found.causes.insert(found.causes.begin(), "subnormal_outputs_flushed");
      found.sentences.insert(found.sentences.begin(), "subnormal results are zeros");
    } else if (only(one, two, is_zero)) {
      found.causes.insert(found.causes.begin(), "zero_loses_its_sign");
      found.sentences.insert(found.sentences.begin(), "zeros have another sign");
    }
    return found;
  }
  return std::nullopt;
}

std::optional<CallFinding> wrong_beside_layers(const Case& c, const Lab& lab) {
  if (!lab.why_not(c).empty()) return std::nullopt;
  if (c.subject == Subject::recurrent) {
    if (auto found = wrong_layout(c, lab)) return found;
  }
  return unlike_the_simulator(c, lab);
}

}  // namespace gdn
