// A whole GDN layer: what each tensor must be, token by token.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/dialect.h"
#include "reference/operators.h"
#include "reference/shape.h"
#include "reference/tensor.h"

namespace gdn {

// Weights of one layer; matrices do not own their memory.
struct LayerWeights {
  Matrix qkv;                  // [conv_dim, hidden]
  Matrix z;                    // [vh vd, hidden]
  Matrix b, a;                 // [vh, hidden]
  Matrix out;                  // [hidden, vh vd]
  std::vector<float> conv;     // [conv_dim][ck]
  std::vector<float> A_log;    // [vh]
  std::vector<float> dt_bias;  // [vh]
  std::vector<float> norm;     // [vd]
};

struct LayerInputs {
  Shape shape;
  Dialect dialect;
  LayerWeights weights;
  std::vector<std::vector<float>> h;  // [T][hidden_size]
  std::vector<int64_t> calls;         // tokens in each call; sums to T; empty: one each
};

// Tensors of one token, as read back from an engine or captured; any may be absent.
using TokenTensors = std::map<Tensor, std::vector<float>>;
using TokenExpectation = std::map<Tensor, Bounded>;

// The local check: each tensor from what the engine itself fed the operator that makes it. A
// tensor whose inputs are absent from `seen` is absent from the result, with two exceptions, both
// stated in layer_local.cpp: absent Q and K are taken from CONV through qk_norm with their bound,
// and a recurrence whose state was not read back at each token is judged with the running bound.
// `before`: S and HIST as the engine gave them after the token before the first of these, where
// every token's S was read back; null: the sequence starts from zero.
std::vector<TokenExpectation> expect_local(const LayerInputs& inputs,
                                           const std::vector<TokenTensors>& seen,
                                           const Contract& contract,
                                           const TokenTensors* before = nullptr);

// The global check: every tensor from weights and h alone, the bound carried through the layer.
std::vector<TokenExpectation> expect_global(const LayerInputs& inputs, const Contract& contract);

}  // namespace gdn
