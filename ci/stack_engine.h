// An engine that holds a stack of layers with 4-bit weights, fed token by token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "reference/case.h"

namespace gdn {

class StackEngine {
 public:
  // What does not serve shows in conduct(): nothing is asked of the engine from there on.
  StackEngine(const EngineSource& source, const Shape& shape);

  void load(int64_t layer, const LayerNumbers& weights);
  // One token through one layer, and every tensor read back; nothing where that is refused.
  std::optional<TokenTensors> step(int64_t token, int64_t layer, const std::vector<float>& h);
  const Verdict& conduct() const { return conduct_; }
  bool serves() const { return engine_ && conduct_.holds(); }

 private:
  bool accept(gdn_status status, const std::string& what);
  void expect(bool true_of_a_sound_engine, const std::string& otherwise);
  std::optional<std::vector<float>> read(int64_t layer, Tensor tensor, const std::string& where);

  Shape shape_;
  Verdict conduct_;
  std::optional<Engine> engine_;
};

}  // namespace gdn
