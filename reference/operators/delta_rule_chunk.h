// A chunk of tokens of one head: what its inputs alone decide, each with its error. The symbols and
// the derivation are those of delta_rule_chunked.cpp.
#pragma once

#include <span>
#include <vector>

#include "reference/operators/delta_rule_head.h"
#include "reference/operators/table.h"

namespace gdn {

using Tokens = std::span<const HeadToken>;

// What a chunk knows from its inputs alone.
struct Chunk {
  Chunk(Tokens all, int64_t chunk_tokens, const DeltaRuleModel& stated);

  Tokens tokens;
  const DeltaRuleModel& model;
  size_t n, kd, vd;
  double C;
  double eta;             // of a product and the addition after it, before a factor e^(...)
  double lost;            // of exp, where its result is subnormal
  std::vector<double> G;  // cumsum(g)
  std::vector<double> G_error, G_rounding;  // by the inputs, and by the sum
  std::vector<double> kept;                 // prod a_t c_t up to i
  double guard = 0;  // infinite where something common to all columns may overflow

  double decay(size_t i, size_t j) const { return std::exp(G[i] - G[j]); }
  // Relative errors of e^(G_i) and of D_ij.
  double from_start_error(size_t i) const;
  double decay_error(size_t i, size_t j) const;
  void watch(const Table& sizes);
};

// L where `of_keys`, else P.
Estimate decayed_products(Chunk& chunk, bool of_keys);

struct Inverse {
  Table T;      // |T|
  Table E;      // of T^ - T
  Table Gamma;  // of the substitution's roundings, on T-
  Table size() const { return T + E; }
};

Inverse inverse_of(Chunk& chunk, const Estimate& L);

// beta_i e^(G_i) k_i as `keys`, e^(G_i) q_i as `queries`, beta v as `values`, D_nj k_j as `last`.
struct Rows {
  Estimate keys, queries, values, last;
};

Rows rows_of(Chunk& chunk);

}  // namespace gdn
