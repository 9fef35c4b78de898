// Faults of the delta rule: other inputs than were fed, and other orders of its steps.
#include <algorithm>
#include <cmath>

#include "ci/triage/delta_parts.h"
#include "ci/triage/state_layout.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Balls = std::vector<Ball>;

FaultForm rule(std::string name, std::string sentence, Alter alter,
               std::vector<std::string> explains = {}, double choices = 1) {
  return altered(std::move(name), std::move(sentence), Operator::delta_rule, std::move(alter),
                 std::move(explains), choices);
}

template <class Change>
Alter each(const char* array, Change change) {
  return [array, change](Evidence& at, OperatorRun&) {
    const auto found = at.fed.find(array);
    if (found == at.fed.end()) return false;
    for (float& x : found->second) x = change(x);
    return true;
  };
}

const RegisteredForm inputs[] = {
    rule("beta_clamped_to_one", "beta above 1 counts as 1",
         each("beta", [](float x) { return x > 1 ? 1 : x; })),
    rule("beta_halved", "beta counts half", each("beta", [](float x) { return x / 2; })),
    rule("beta_doubled", "beta counts double", each("beta", [](float x) { return 2 * x; })),
    rule("beta_ignored", "beta is taken as 1", each("beta", [](float) { return 1.0F; })),
    rule("beta_zero", "beta is taken as 0", each("beta", [](float) { return 0.0F; })),
    rule("beta_of_the_first_head", "every head takes the beta of the first",
         [](Evidence& at, OperatorRun& run) {
           std::vector<float>& beta = at.fed["beta"];
           const auto heads = static_cast<size_t>(run.shape.num_v_heads);
           for (size_t i = 0; i < beta.size(); ++i) beta[i] = beta[i / heads * heads];
           return true;
         }),
    rule("decay_ignored", "the state does not decay", each("g", [](float) { return 0.0F; })),
    rule("decay_inverted", "the state grows by exp(-g)", each("g", [](float x) { return -x; })),
    rule("decay_applied_twice", "the state decays twice", each("g", [](float x) { return 2 * x; })),
    rule("decay_of_the_first_head", "every head decays as the first",
         [](Evidence& at, OperatorRun& run) {
           if (!at.fed.contains("g")) return false;
           std::vector<float>& g = at.fed["g"];
           const auto heads = static_cast<size_t>(run.shape.num_v_heads);
           for (size_t i = 0; i < g.size(); ++i) g[i] = g[i / heads * heads];
           return true;
         }),
    rule("channel_decays_ignored", "the decay of each key channel is left out",
         [](Evidence& at, OperatorRun&) { return at.fed.erase("gk") > 0; }),
    rule("head_decay_ignored_beside_channels", "of two decays that of the head is left out",
         [](Evidence& at, OperatorRun&) { return at.fed.contains("gk") && at.fed.erase("g") > 0; }),
    rule("query_taken_as_keys", "q and k change places",
         [](Evidence& at, OperatorRun&) {
           std::swap(at.fed["q"], at.fed["k"]);
           return true;
         }),
    rule("output_read_with_the_key", "the output is read with k in place of q",
         [](Evidence& at, OperatorRun&) {
           at.fed["q"] = at.fed["k"];
           return true;
         }),
    rule("state_dropped", "the state before the token counts as zero",
         each("S", [](float) { return 0.0F; }),
         {"state_dropped_at_call", "run_starts_from_zero_state"}),
    rule("first_k_head_for_all", "every v-head reads the first k-head",
         [](Evidence& at, OperatorRun& run) {
           const auto kd = static_cast<size_t>(run.shape.head_k_dim);
           const auto all = static_cast<size_t>(run.shape.k_dim());
           for (const char* name : {"q", "k"}) {
             std::vector<float>& x = at.fed[name];
             for (size_t i = 0; i < x.size(); ++i) x[i] = x[i / all * all + i % kd];
           }
           return true;
         }),
    rule("scale_applied_again", "q is scaled by 1/sqrt(kd) again",
         [](Evidence&, OperatorRun& run) {
           if (run.dialect.scale_on == Dialect::ScaleOn::output) return false;
           run.dialect.scale_on = Dialect::ScaleOn::output;
           return true;
         },
         {"q_scale_twice"})};

// Inputs and decay, rounded on the way in.
std::vector<RegisteredForm> rounded_inputs() {
  std::vector<RegisteredForm> forms;
  for (const Format format : {Format::bf16, Format::f16}) {
    const std::string name = format == Format::bf16 ? "bf16" : "f16";
    for (const char* array : {"q", "k", "v", "beta", "g", "gk", "S"}) {
      const std::string tensor = array == std::string("S") ? "state" : array;
      forms.emplace_back(
          rule(tensor + "_rounded_to_" + name, tensor + " is rounded to " + name + " when read",
               each(array, [format](float x) { return static_cast<float>(round_to(format, x)); }),
               array == std::string("v") ? std::vector{"values_rounded_to_" + name}
                                         : std::vector<std::string>{}));
    }
    const auto narrow = [format](const DeltaHead& h, const OperatorRun&) {
      DeltaHead held = h;
      for (Ball& row : held.decay) row = rounded_to(format, row);
      return FaultyHead{held.state_after(), {}};
    };
    forms.emplace_back(by_head("decay_held_in_" + name, "the decay is rounded to " + name, narrow));
  }
  return forms;
}
const std::vector<RegisteredForm> rounded = rounded_inputs();

FaultyHead state_only(Balls S) { return {std::move(S), {}}; }
FaultyHead output_only(Balls o) { return {{}, std::move(o)}; }

FaultyHead with_decay(DeltaHead h, const std::function<Ball(const Ball&)>& change) {
  for (Ball& row : h.decay) row = change(row);
  return state_only(h.state_after());
}

const RegisteredForm orders[] = {
    by_head("error_before_decay", "the error is taken from the state before it decays",
            [](const DeltaHead& h, const OperatorRun&) {
              return state_only(h.written(h.decayed(h.S), h.k, h.error(h.read(h.S, h.k))));
            }),
    by_head("error_before_decay", "the error is taken from the state before it decays",
            // The right rule, with v moved by what decay took from S^T k.
            [](const DeltaHead& h, const OperatorRun&) {
              const Balls t = h.decayed(h.S);
              Balls taken = h.S;
              for (size_t i = 0; i < taken.size(); ++i) taken[i] = taken[i] - t[i];
              DeltaHead moved = h;
              const Balls by = h.read(taken, h.k);
              for (size_t j = 0; j < h.vd; ++j) moved.v[j] = h.v[j] - by[j];
              return state_only(h.written(t, h.k, moved.error(h.read(t, h.k))));
            }),
    by_head("decay_applied_to_the_update", "the state decays once more after the token is written",
            // What was held decays once, what the token adds decays too; o came before that.
            [](const DeltaHead& h, const OperatorRun&) {
              const Balls kept = h.decayed(h.S), after = h.state_after();
              Balls added = after;
              for (size_t i = 0; i < added.size(); ++i) added[i] = after[i] - kept[i];
              Balls S = h.decayed(added);
              for (size_t i = 0; i < S.size(); ++i) S[i] = kept[i] + S[i];
              return FaultyHead{S, h.read(after, h.q)};
            }),
    by_head("decay_applied_to_the_update", "the state decays after the token is written",
            [](const DeltaHead& h, const OperatorRun&) {
              return state_only(h.decayed(h.written(h.S, h.k, h.error(h.read(h.S, h.k)))));
            }),
    by_head("plain_sum_without_error",
            "the state adds k v^T in place of the error, a plain linear attention",
            [](const DeltaHead& h, const OperatorRun&) {
              return state_only(h.written(h.decayed(h.S), h.k, h.error(Balls(h.vd))));
            }),
    by_head("error_added", "what the key held is added to the error, not subtracted",
            [](const DeltaHead& h, const OperatorRun&) {
              const Balls t = h.decayed(h.S);
              Balls u = h.read(t, h.k);
              for (Ball& x : u) x = -x;
              return state_only(h.written(t, h.k, h.error(u)));
            }),
    by_head("beta_applied_to_v_alone", "beta multiplies v and not what the key held",
            [](const DeltaHead& h, const OperatorRun&) {
              const Balls t = h.decayed(h.S);
              Balls d = h.read(t, h.k);
              for (size_t j = 0; j < h.vd; ++j) d[j] = h.beta * h.v[j] - d[j];
              return state_only(h.written(t, h.k, d));
            }),
    by_head("query_written_into_state", "the error is written into the state along q, not k",
            [](const DeltaHead& h, const OperatorRun&) {
              const Balls t = h.decayed(h.S);
              return state_only(h.written(t, h.q, h.error(h.read(t, h.k))));
            }),
    by_head("query_written_into_state", "the error is written into the state along q, not k",
            // d as what the right rule wrote along the key's largest entry, over that.
            [](const DeltaHead& h, const OperatorRun&) {
              const auto is_smaller = [](const Ball& a, const Ball& b) {
                return std::abs(a.value) < std::abs(b.value);
              };
              const size_t row = static_cast<size_t>(
                  std::max_element(h.k.begin(), h.k.end(), is_smaller) - h.k.begin());
              if (h.k[row].value == 0) return FaultyHead{};
              const Balls t = h.decayed(h.S), after = h.state_after();
              Balls d;
              for (size_t j = 0; j < h.vd; ++j) {
                d.push_back((after[row * h.vd + j] - t[row * h.vd + j]) / h.k[row]);
              }
              return state_only(h.written(t, h.q, d));
            }),
    by_head("error_read_with_the_query", "the error is taken with q in place of k",
            [](const DeltaHead& h, const OperatorRun&) {
              const Balls t = h.decayed(h.S);
              return state_only(h.written(t, h.k, h.error(h.read(t, h.q))));
            }),
    by_head("output_from_the_old_state", "the output reads the decayed state without this token",
            [](const DeltaHead& h, const OperatorRun&) {
              return output_only(h.read(h.decayed(h.S), h.q));
            }),
    by_head("output_from_the_old_state", "the output reads the state as it was before the token",
            [](const DeltaHead& h, const OperatorRun&) { return output_only(h.read(h.S, h.q)); }),
    by_head("gate_exponentiated_twice", "the decay is exponentiated twice",
            [](const DeltaHead& h, const OperatorRun& run) {
              return with_decay(h, [&](const Ball& a) { return exp_of(a, run.contract); });
            }),
    by_head(
        "decay_complemented", "the state decays by 1 - exp(g)",
        [](const DeltaHead& h, const OperatorRun&) {
          return with_decay(h, [](const Ball& a) { return exact_ball(1) - a; });
        },
        {}, rarely_made),
    by_head("state_not_updated", "the state stays as it was",
            [](const DeltaHead& h, const OperatorRun&) { return state_only(h.S); }),
    by_head("state_saturates_at_one", "the state is clamped to [-1, 1]",
            [](const DeltaHead& h, const OperatorRun&) {
              Balls S = h.state_after();
              const Balls o = h.read(S, h.q);
              for (Ball& x : S) {
                if (std::abs(x.value) - x.bound > 1) x = exact_ball(std::copysign(1, x.value));
              }
              return FaultyHead{S, o};
            }),
    by_head("state_saturates_at_one", "the state is clamped to [-1, 1] before it is read",
            [](const DeltaHead& h, const OperatorRun&) {
              Balls S = h.state_after();
              for (Ball& x : S) {
                if (std::abs(x.value) - x.bound > 1) x = exact_ball(std::copysign(1, x.value));
              }
              return state_only(S);
            })};

FaultForm transposed_read() {
  return rule("state_read_transposed", "the output reads the state as [vd][kd]",
              [](Evidence& at, OperatorRun& run) {
                if (run.is_recurrent || !at.gave.contains("S")) return false;
                at.gave["S"] = taken_as_vk(at.gave["S"], run.shape);
                return true;
              });
}
const RegisteredForm layouts[] = {transposed_read()};

// The gate of the operator that comes next, multiplied in where o lies.
std::optional<FaultyArrays> overwritten(const Evidence& at, const OperatorRun&) {
  const auto next = at.fed.find("next");
  if (next == at.fed.end()) return std::nullopt;
  return FaultyArrays{{"o", exactly(next->second)}};
}
const RegisteredForm in_place({"output_gated_in_place",
                               "o is overwritten with what the gated norm makes of it",
                               Operator::delta_rule, overwritten});

}  // namespace
}  // namespace gdn
