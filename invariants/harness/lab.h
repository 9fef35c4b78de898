// The only object that holds an engine. It runs cases on it, watches over the memory that it hands
// out, and knows what each case should give.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "invariants/harness/observation.h"
#include "reference/case.h"
#include "reference/layer.h"

namespace gdn {

// How a run is set up, beyond the case: none of it may change a bit of what comes out.
struct RunOptions {
  bool observe = true;
  std::optional<uint32_t> fill = {};  // the pattern over fresh memory, where the engine can
};

// Not for use by several threads at once.
class Lab {
 public:
  explicit Lab(EngineSource engine);

  const std::string& engine() const { return engine_.name; }
  const Description& description() const { return engine_.description; }
  const Contract& contract() const { return engine_.description.contract; }

  // Why the engine does not serve a case (a capability or another dialect); empty if it does.
  std::string why_not(const Case& c) const;
  bool can_fill() const { return description().options.contains("fill"); }

  // On a fresh engine each time.
  Observation run(const Case& c, const RunOptions& options = {}) const;

  // The global check: what follows from the case alone. Remembered, by the case's text.
  const Expectation& expect(const Case& c) const;
  // The local check: what follows, operator by operator, from what the engine itself read back.
  // Of a sequence that starts from zero; `tokens` are rows of the case's stream, as fed.
  std::vector<TokenExpectation> expect_local(const Case& c, int64_t layer,
                                             const std::vector<int64_t>& tokens,
                                             const std::vector<TokenTensors>& seen) const;

  // A capture's weights and inputs, of layer 0, through `step`; nothing is copied again.
  LayerRun run_layer(const LayerInputs& inputs) const;
  RecurrentRun run_recurrent(const RecurrentInputs& inputs) const;
  // Decoded tiles, in `out`; the verdict is about statuses and memory, not the numbers.
  Verdict dequant(int64_t rows, int64_t cols, std::span<const uint8_t> tiles,
                  std::vector<float>& out) const;

 private:
  Expectation make_expectation(const Case& c) const;
  const Numbers* numbers_of(const Case& c, std::string* why) const;

  EngineSource engine_;
  mutable std::map<std::string, Expectation> expectations_;
  // Of the case that was used last: an invariant runs the same one again and again.
  mutable std::string numbers_text_;
  mutable std::optional<Numbers> numbers_;
};

}  // namespace gdn
