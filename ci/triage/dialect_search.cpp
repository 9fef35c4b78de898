// One dimension of the dialect at a time. Where the reference takes a dialect, it is asked; storage
// of inputs, and the layout of a state that is always handed over as [vh][kd][vd], are worked out
// here.
#include "ci/triage/dialect_search.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ci/triage/right_of.h"
#include "ci/triage/state_layout.h"
#include "reference/formats.h"

namespace gdn {
namespace {

struct Change {
  Operator op;
  std::string_view dimension, value;
  const char* sentence;
  std::vector<std::string> explains = {};
  double choices = 1;
};

// Of several arrays at once: one of them alone is said first, where that explains as much.
constexpr double of_several = 2;

const std::vector<Change>& changes() {
  using enum Operator;
  static const std::vector<Change> all = {
      {in_proj, "activation", "q8_0", "activations are rounded to q8_0 blocks"},
      {in_proj,
       "activation",
       "f32",
       "activations are not rounded to q8_0 blocks",
       {"activations_left_unrounded"}},
      {out_proj, "activation", "q8_0", "activations are rounded to q8_0 blocks"},
      {out_proj, "activation", "f32", "activations are not rounded to q8_0 blocks"},
      {gates, "gate_input", "raw_a", "A_log is exponentiated and negated once more"},
      {gates,
       "gate_input",
       "raw_a_exponentiated",
       "A_log is multiplied in as it is, not as -exp(A_log)",
       {"raw_a_log"}},
      {gates, "softplus", "log_one_plus_exp", "softplus is log(1 + exp x), zero far below 0"},
      {gates, "beta", "bf16", "beta is rounded to bf16", {"beta_rounded_to_bf16"}},
      {gates, "beta", "f32", "beta is not rounded to bf16"},
      {qk_norm, "qk_norm", "sum_eps", "q and k are divided by sqrt(sum + eps)"},
      // Above eps, where nearly all norms are, the two are one formula.
      {qk_norm,
       "qk_norm",
       "max_norm",
       "q and k are normalised by max(norm, eps), or by the norm without eps",
       {"l2_norm_max_form", "l2_norm_without_eps"}},
      {qk_norm,
       "qk_norm",
       "mean_eps",
       "q and k are normalised with eps in the mean of squares, kd times too much in their sum",
       {"l2_norm_mean_eps"}},
      {qk_norm, "qk_norm", "none", "q and k are not normalised"},
      {qk_norm, "scale_on", "q", "q is scaled where it should not be"},
      {qk_norm, "scale_on", "none", "q is not scaled", {"q_scale_missing"}},
      {qk_norm, "scale", "1/sqrt(kd)", "the scale of q that is given is taken as 1/sqrt(kd)"},
      {delta_rule, "state_layout", "vk", "the state is read and written as [vd][kd]"},
      {delta_rule,
       "state_layout",
       "kv",
       "the state is read and written as [kd][vd]",
       {"state_layout_ignored"}},
      {delta_rule, "head_map", "grouped", "v-heads are mapped to k-heads in groups"},
      {delta_rule,
       "head_map",
       "tiled",
       "v-heads are mapped to k-heads round-robin",
       {"head_map_tiled"}},
      {delta_rule,
       "scale_on",
       "output",
       "the scale of q is applied to the output as well",
       {"scale_of_one_taken_as_absent"}},
      {delta_rule, "gate_input", "log_g", "the decay itself is taken for its logarithm"},
      {delta_rule,
       "gate_input",
       "linear_alpha",
       "the log decay is used as the decay",
       {"gate_log_as_linear"}},
      {delta_rule, "decay_order", "folded", "the decay is folded into the product"},
      {delta_rule,
       "state_storage",
       "bf16",
       "the state is stored in bf16",
       {"state_rounded_to_bf16"}},
      {delta_rule, "state_storage", "f16", "the state is stored in f16", {"state_rounded_to_f16"}},
      {delta_rule, "state_storage", "f32", "the state is stored in float32"},
      {delta_rule, "input_storage", "bf16", "q, k, v and beta are rounded to bf16", {}, of_several},
      {delta_rule, "input_storage", "f16", "q, k, v and beta are rounded to f16", {}, of_several},
      {delta_rule,
       "output_storage",
       "bf16",
       "the output is rounded to bf16",
       {"o_rounded_to_bf16", "recurrence_output_rounded_to_bf16"}},
      {delta_rule,
       "output_storage",
       "f16",
       "the output is rounded to f16",
       {"o_rounded_to_f16", "recurrence_output_rounded_to_f16"}},
      {delta_rule, "output_storage", "f32", "the output is stored in float32"},
      // The slot-addressed recurrence normalises and scales by itself.
      {delta_rule, "qk_norm", "sum_eps", "q and k are divided by sqrt(sum + eps)"},
      {delta_rule, "qk_norm", "max_norm", "q and k are normalised by max(norm, eps)"},
      {delta_rule, "qk_norm", "mean_eps", "q and k are normalised with eps in the mean of squares"},
      {delta_rule, "qk_norm", "none", "q and k are not normalised"},
      {delta_rule,
       "scale_on",
       "q",
       "1/sqrt(kd) scales q where no scale should",
       {"scale_of_one_taken_as_absent"}},
      {delta_rule, "scale_on", "none", "the scale is applied nowhere"},
      {delta_rule,
       "scale",
       "1/sqrt(kd)",
       "a scale that is given is replaced by 1/sqrt(kd)",
       {"scale_of_one_taken_as_absent"}}};
  return all;
}

bool concerns(const Change& change, const OperatorRun& run) {
  if (change.op != run.op) return false;
  const bool of_recurrent = change.dimension == "qk_norm" || change.value == "none" ||
                            change.dimension == "scale" || change.value == "q";
  if (run.op == Operator::delta_rule && of_recurrent && !run.is_recurrent) return false;
  return get_dimension(run.dialect, change.dimension) != change.value;
}

void round_array(Evidence& at, const char* name, Format format) {
  const auto found = at.fed.find(name);
  if (found == at.fed.end()) return;
  for (float& x : found->second) x = static_cast<float>(round_to(format, x));
}

FaultyArrays right_by(const Change& change, const Evidence& at, const OperatorRun& run) {
  OperatorRun other = without_tokens(run);
  set_dimension(other.dialect, change.dimension, change.value);
  if (change.dimension == "state_layout") return right_of_transposed(at, run);
  if (change.dimension != "input_storage") return right_of(at, other);
  Evidence rounded = at;
  for (const char* name : {"q", "k", "v", "beta"}) {
    round_array(rounded, name, other.dialect.input_storage);
  }
  return right_of(rounded, other);
}

}  // namespace

std::vector<FaultForm> dialect_changes(const OperatorRun& run) {
  std::vector<FaultForm> forms;
  for (const Change& change : changes()) {
    if (!concerns(change, run)) continue;
    const auto expect = [&change](const Evidence& at, const OperatorRun& of) {
      return std::optional(right_by(change, at, of));
    };
    forms.push_back({std::string(change.dimension) + "=" + std::string(change.value),
                     change.sentence, run.op, expect, change.explains, change.choices});
  }
  return forms;
}

}  // namespace gdn
