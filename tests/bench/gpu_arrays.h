// The arrays of a stack of layers of one shape on a GPU, filled with random numbers: what the
// kernels are timed on, one layer after the other, so that every launch finds its weights cold.
#pragma once

#include <cstdint>

#include "reference/shape.h"

namespace gdn::gpu {

uint64_t tile_bytes(int64_t rows, int64_t cols);
// Uniform in [-scale, scale). Filling is queued; the memory belongs to the caller.
float* random_floats(int64_t count, uint64_t seed, float scale = 1);

struct LayerArrays {
  uint8_t *qkv, *z, *out;                        // tiles; z follows qkv in one array
  float *b, *a, *conv, *A_log, *dt_bias, *norm;  // weights
  float *S, *history;
};

LayerArrays layer_arrays(const Shape& s, uint64_t layer);
void free_layer(const LayerArrays& l);

// What one token has between the operators; shared by all layers, as in an engine that does not
// observe.
struct TokenArrays {
  float *h, *qkv, *z, *a, *b, *beta, *g, *decay, *conv, *q, *k, *o, *normed, *rounded, *out;
};

TokenArrays token_arrays(const Shape& s);

}  // namespace gdn::gpu
