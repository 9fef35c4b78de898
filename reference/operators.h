// What each operator of the GDN layer must give, and how far a float32 engine may lie from it.
// The inputs are Bounded: read back from an engine (bound empty, the local check) or carried
// through earlier operators (value and bound, the global check). The formula and the derivation
// of each bound stand in reference/operators/<operator>.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/dialect.h"
#include "reference/shape.h"

namespace gdn {

class RowSums;  // reference/row_sums.h

// A row-major [rows, cols] weight matrix, float32 or 4-bit tiles; it does not own its memory.
struct Matrix {
  int64_t rows = 0, cols = 0;
  const float* f32 = nullptr;      // either this
  const uint8_t* tiles = nullptr;  // or this, rows % 4 == 0 and cols % 32 == 0
  // Who takes the sums of its rows where they alone say what a projection must be; null: the CPU.
  const RowSums* summed_by = nullptr;

  void decode_row(int64_t row, float* weights) const;  // exact; `cols` floats
};

// in_proj and out_proj: y = W x. Activations are float32 or q8_0, by the dialect; q8_0 rounds the
// engine's own x, bit for bit (a carried bound on x adds what one flipped code can do).
Bounded project(const Matrix& w, const Bounded& x, Dialect::Activation activation,
                const Reduction& order, const Contract& contract);

struct Gates {
  Bounded beta;  // [vh] sigmoid(b)
  Bounded g;     // [vh] -exp(A_log) softplus(a + dt_bias)
};
Gates gates(const Bounded& a, const Bounded& b, std::span<const float> A_log,
            std::span<const float> dt_bias, const Dialect& dialect, const Contract& contract);

// window: [ck][channels], oldest first, the newest is this token's input; w: [channels][ck].
// Returns silu(sum_j w[c][j] window_j[c]), [channels].
Bounded conv(const Bounded& window, std::span<const float> w, int64_t channels,
             const Contract& contract);

struct NormedQk {
  Bounded q, k;  // [kh][kd], q with its scale
};
NormedQk qk_norm(const Bounded& q, const Bounded& k, const Shape& shape, const Dialect& dialect,
                 const Contract& contract);

// o, z: [vh][vd]; w: [vd]. Returns o / sqrt(mean(o^2) + eps) w z sigmoid(z), [vh][vd].
Bounded gated_norm(const Bounded& o, const Bounded& z, std::span<const float> w, const Shape& shape,
                   const Contract& contract);

// Decoded weights of a tile matrix, row-major; every value is exact (bound 0), and a block whose
// d is infinite or NaN gives what IEEE's d (code - 8) gives.
Bounded dequant(const uint8_t* tiles, int64_t rows, int64_t cols);

}  // namespace gdn
