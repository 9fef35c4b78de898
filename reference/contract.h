// What an engine says of its own arithmetic: the bounds are computed from it, and an engine is
// held to what it says. Errors of functions are in units in the last place (ulp) of float32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gdn {

// How a sum of n products is ordered.
struct Reduction {
  enum class Kind : uint8_t {
    any,    // nothing is known: the longest chain has n - 1 additions
    depth,  // the longest chain has depth_a + depth_b ceil(n / depth_c) + depth_d ceil(log2 n)
    order,  // exactly `stages`, one after the other, each on the results of the one before
  };
  struct Stage {
    enum class Kind : uint8_t {
      stride,         // element i is added to accumulator i mod size, in rising order of i
      block,          // elements [j size, (j+1) size) are summed serially into result j
      serial,         // one accumulator, rising order
      tree_adjacent,  // pairs (0,1), (2,3), ... until one is left; an odd last one passes on
      tree_halves,    // i and i + ceil(n/2), until one is left; an unpaired one passes on
    };
    Kind kind = Kind::serial;
    int64_t size = 0;    // of stride and block
    bool fused = false;  // the first stage alone multiplies: is its multiply-add fused?
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  // An accumulator starts from its first element (the first product is no addition), or, the same
  // in every rounding, from zero.
  Kind kind = Kind::any;
  double depth_a = 0, depth_b = 0, depth_c = 1, depth_d = 0;
  std::vector<Stage> stages;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

// The longest chain of additions of a sum of n terms, n >= 1.
double depth_of(const Reduction& reduction, int64_t n);

struct FunctionErrors {
  double exp_ulp = 2;        // |error| <= exp_ulp ulp + exp_ulp_per_x |x| u |exp x|
  double exp_ulp_per_x = 0;  // c1: ex2.approx-style functions grow with |x|
  double log1p_ulp = 2;
  double rsqrt_ulp = 2;
  double sigmoid_ulp = 2;     // of a sigmoid that is one function of its own
  double division_ulp = 0.5;  // 0.5 is IEEE: one rounding, u
  double sqrt_ulp = 0.5;
  friend bool operator==(const FunctionErrors&, const FunctionErrors&) = default;
};

// y sigmoid(y), and sigmoid alone (where the leading y is 1). `any` takes the widest of all.
enum class SigmoidForm : uint8_t {
  any,
  divide,           // y / (1 + exp(-y))
  reciprocal,       // y * fl(1 / (1 + exp(-y)))
  exp_of_negative,  // E / (1 + E) with E = exp(y) for y < 0, one of the above for y >= 0
};
// x / rho, rho = sqrt(sum).
enum class NormForm : uint8_t { any, rsqrt, divide_by_sqrt, times_reciprocal_sqrt };
enum class MeanForm : uint8_t { any, divide, times_rounded_reciprocal };
enum class QScaleForm : uint8_t { any, rounded_constant, reciprocal_of_sqrt };  // of 1/sqrt(kd)
enum class SoftplusForm : uint8_t { any, log1p_thresholds, log_one_plus_exp };
enum class DecayForm : uint8_t { any, first, folded };  // S first, or v - alpha S^T k
enum class Recurrence : uint8_t { token_loop, chunked_row_inverse };

struct Contract {
  std::string name;
  Reduction in_proj, conv, qk_norm, delta_u, delta_o, gated_norm, out_proj;
  bool fused_possible = true;  // outside reductions and where a reduction is any or depth
  FunctionErrors functions;
  SigmoidForm silu = SigmoidForm::any;
  SigmoidForm sigmoid = SigmoidForm::any;
  NormForm qk_norm_form = NormForm::any;
  NormForm gated_norm_form = NormForm::any;
  MeanForm mean = MeanForm::any;
  QScaleForm q_scale = QScaleForm::any;
  SoftplusForm softplus = SoftplusForm::log1p_thresholds;
  // g = -exp(A_log + x) for x below this, -exp(A_log) softplus(x) from it on. -inf: never.
  double gate_sum_form_below = 0;  // set by the ready-made contracts
  DecayForm decay = DecayForm::any;
  bool flushes_subnormals = false;
  int activation_bits = 0;  // 0: float32; b: block fixed point of b bits, blocks of 32
  // Of projections with 4-bit weights, where they are not as those of float32 weights.
  std::optional<Reduction> q4_projection;
  std::optional<int> q4_activation_bits;
  Recurrence recurrence = Recurrence::token_loop;  // of calls above one token
  int64_t chunk_tokens = 64;
};

// Of a projection with such weights; `declared` is in_proj or out_proj.
const Reduction& projection_order(const Contract& contract, const Reduction& declared, bool is_q4);
int projection_bits(const Contract& contract, bool is_q4);

// Ready-made contracts for sources that cannot say.
Contract torch_cpu_contract();  // any order; 2 ulp; IEEE division; chunked(64) above one token
Contract triton_contract();     // any order; e_exp = 4u + 2u|x|; division and sqrt 4u; token loop
Contract any_f32_contract();    // any order; 2 ulp; IEEE division; decay first or folded

}  // namespace gdn
