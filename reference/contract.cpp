// The longest chain of additions of a reduction, and the contracts of sources that cannot say.
#include "reference/contract.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gdn {
namespace {

int64_t ceil_divide(int64_t n, int64_t size) { return (n + size - 1) / size; }

// The smallest d with 2^d >= n, n >= 1.
int64_t ceil_log2(int64_t n) { return std::bit_width(static_cast<uint64_t>(n - 1)); }

// Element 0 takes part in each addition that any element can (it opens the fullest accumulator,
// the fullest block, and is never the unpaired one of a tree), so its chain is the longest and the
// stages' lengths add up. What the stages leave over is summed serially.
int64_t depth_of_stages(const std::vector<Reduction::Stage>& stages, int64_t n) {
  using Kind = Reduction::Stage::Kind;
  int64_t depth = 0;
  int64_t left = n;
  for (const Reduction::Stage& stage : stages) {
    const int64_t size = std::max<int64_t>(1, stage.size);
    switch (stage.kind) {
      case Kind::stride:
        depth += ceil_divide(left, size) - 1;
        left = std::min(left, size);
        break;
      case Kind::block:
        depth += std::min(left, size) - 1;
        left = ceil_divide(left, size);
        break;
      case Kind::serial:
        depth += left - 1;
        left = 1;
        break;
      case Kind::tree_adjacent:
      case Kind::tree_halves:
        depth += ceil_log2(left);
        left = 1;
        break;
    }
  }
  return depth + left - 1;
}

}  // namespace

const Reduction& projection_order(const Contract& contract, const Reduction& declared, bool is_q4) {
  return is_q4 && contract.q4_projection ? *contract.q4_projection : declared;
}

int projection_bits(const Contract& contract, bool is_q4) {
  return is_q4 ? contract.q4_activation_bits.value_or(contract.activation_bits)
               : contract.activation_bits;
}

double depth_of(const Reduction& reduction, int64_t n) {
  if (n <= 1) return 0;
  // A tree of n leaves has n - 1 additions, so no chain is longer, whatever was declared.
  const double longest = static_cast<double>(n - 1);
  switch (reduction.kind) {
    case Reduction::Kind::any:
      return longest;
    case Reduction::Kind::depth: {
      const double blocks = std::ceil(static_cast<double>(n) / reduction.depth_c);
      const double declared = reduction.depth_a + reduction.depth_b * blocks +
                              reduction.depth_d * static_cast<double>(ceil_log2(n));
      return std::clamp(declared, 0.0, longest);
    }
    case Reduction::Kind::order:
      return static_cast<double>(depth_of_stages(reduction.stages, n));
  }
  return longest;
}

// Torch adds in whatever order its kernels and threads choose; its exp, log1p and rsqrt stay within
// 2 ulp, division and square root are IEEE. Its recurrence decays the state before it reads it.
Contract torch_cpu_contract() {
  Contract contract;
  contract.name = "torch_cpu";
  contract.softplus = SoftplusForm::log1p_thresholds;
  contract.gate_sum_form_below = -std::numeric_limits<double>::infinity();
  contract.decay = DecayForm::first;
  contract.recurrence = Recurrence::chunked_row_inverse;
  contract.chunk_tokens = 64;
  return contract;
}

// Triton's exp is ex2.approx of x log2(e): e_exp = 4u + 2u |x|, so 2 ulp and 2 per x. Division and
// square root are the approximate ones, 4u, so 2 ulp.
Contract triton_contract() {
  Contract contract;
  contract.name = "triton";
  contract.functions.exp_ulp = 2;
  contract.functions.exp_ulp_per_x = 2;
  contract.functions.division_ulp = 2;
  contract.functions.sqrt_ulp = 2;
  contract.softplus = SoftplusForm::any;
  contract.gate_sum_form_below = -std::numeric_limits<double>::infinity();
  contract.decay = DecayForm::first;
  contract.recurrence = Recurrence::token_loop;
  return contract;
}

// Any float32 program without approximate functions. None known adds A_log inside the exponential.
Contract any_f32_contract() {
  Contract contract;
  contract.name = "any_f32";
  contract.softplus = SoftplusForm::any;
  contract.gate_sum_form_below = -std::numeric_limits<double>::infinity();
  contract.decay = DecayForm::any;
  contract.recurrence = Recurrence::token_loop;
  return contract;
}

}  // namespace gdn
