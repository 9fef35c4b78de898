// One operator at one token, as an engine showed it: what it was fed, what it gave, what is right.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/dialect.h"
#include "reference/operators.h"
#include "reference/shape.h"
#include "reference/tensor.h"

namespace gdn {

// Arrays have the names that gdn_api::apply gives them (device/gdn.h), of a layer's steps too. What
// has no elements (g or gk that the dialect lacks, hist at one tap) is absent.
//
//   operator    fed                              gave     the tensors of a layer
//   in_proj     x                                y        h -> QKV, Z, B or A, by `matrix`
//   gates       a, b, A_log, dt_bias             beta, g  A, B -> BETA, G
//   conv        x, hist, weight                  y, hist  QKV, HIST before -> CONV, HIST after
//               (a layer's V, a slice of CONV)   v        V
//   qk_norm     q, k                             q, k     the q and k of CONV -> Q, K
//   delta_rule  q, k, v, beta, g and/or gk, S    o, S     Q, K, V, BETA, G, S before -> O, S after
//   gated_norm  o, z, weight                     y        O, Z, norm -> ONORM
//   out_proj    x                                y        ONORM -> OUT
//   dequant     -                                out
//
// The delta rule of a layer may be fed `next` as well, ONORM of the same token, for whoever
// computes that in place. hist and S in `fed` are those before the token, in `gave` those after it.
// Of the projections and dequant the weights are OperatorRun::weights. `right` of o is what the S
// in `gave` gives, as a layer's local check has it; explanations_of works that out itself.
struct Evidence {
  int64_t token = 0;  // of the sequence that was fed
  std::map<std::string, std::vector<float>> fed, gave;
  std::map<std::string, Bounded> right;  // what each of `gave` should have been
};

// An operator over the tokens at which it was seen, in their order. A view: the weights belong to
// whoever made it, and outlive it.
struct OperatorRun {
  Operator op = Operator::in_proj;
  std::string matrix;  // of in_proj: "qkv", "z", "b" or "a"; of out_proj "out"; else empty
  Matrix weights;      // of in_proj, out_proj and dequant
  Shape shape;
  Dialect dialect;
  Contract contract;
  // Of the slot-addressed recurrence: one Evidence a call, its arrays those of all its tokens, one
  // token after the other, q and k as they are before the dialect's norm.
  bool is_recurrent = false;
  std::vector<Evidence> tokens;
};

}  // namespace gdn
