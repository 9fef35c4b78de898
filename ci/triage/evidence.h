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

// Arrays have the names that gdn_api::apply gives them (device/gdn.h); `fed` holds the constants of
// the layer too (A_log, dt_bias, conv weights, norm), but of the projections the weights are a view.
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
  std::vector<Evidence> tokens;
};

}  // namespace gdn
