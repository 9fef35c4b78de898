// The layers of a stack: their weights, made one at a time, and an engine that holds all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "reference/case.h"

namespace gdn::gpu {

struct StackLayer {
  LayerNumbers numbers;  // float32 rows and tiles of each large projection

  LayerWeights f32_view(const Shape& shape) const;
  LayerWeights q4_view(const Shape& shape) const;
  void scale_norm(int exponent);  // by a power of two, so that OUT scales by it, exactly
};

// Rows of norm about 1, and where they are coherent a mean of 1 / sqrt(cols) beside it. With
// independent rows a layer is a product of two random maps, z and v, and doubles every relative
// error: after twenty layers float32 and exact numbers have nothing in common. What coherent rows
// have in common carries a part of h through the layer.
StackLayer stack_layer(const Shape& shape, bool coherent, uint64_t seed, int64_t layer);

// The first refusal stays in why(); what is asked afterwards gives zeros.
class StackEngine {
 public:
  StackEngine(const EngineSource& source, const Shape& shape, bool q4);
  ~StackEngine();
  StackEngine(const StackEngine&) = delete;
  StackEngine& operator=(const StackEngine&) = delete;

  const std::string& why() const { return why_; }
  void load(int64_t layer, const StackLayer& weights);
  void reset();
  std::vector<float> step(int64_t layer, const std::vector<float>& h);
  std::vector<float> forward_one(const std::vector<float>& h);
  std::vector<std::vector<float>> forward(const std::vector<std::vector<float>>& h);  // from zero
  std::vector<float> read(int64_t layer, gdn_tensor tensor);

 private:
  void must(gdn_status status, const char* what);
  bool usable() const { return why_.empty(); }

  const gdn_api& api_;
  Shape shape_;
  bool q4_;
  gdn_engine* engine_ = nullptr;
  std::string why_;
};

}  // namespace gdn::gpu
