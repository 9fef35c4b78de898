// What a layer that was fed some tokens must be: by steps of the same engine alone, and by the
// reference.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "invariants/harness/replays.h"
#include "reference/case.h"

namespace gdn {

class CallTruth {
 public:
  // Of the case its calls do not matter; the lab outlives it.
  CallTruth(const Lab& lab, const Case& bare);

  // No engine of its own is open beside the next one that is; what it gave by steps is gone.
  void close() { replays_.emplace(lab_, bare_, Replays::Feeding::steps); }

  // After a token, or of the zero state; null where it cannot be said. Bits are comparable where
  // an engine works token by token.
  const LayerBits* stepped(const std::vector<Fed>& fed, size_t place);
  const std::vector<float>* stepped_out(const std::vector<Fed>& fed, size_t place);
  const TokenExpectation* bounds(const std::vector<Fed>& fed, size_t place);

  // Is a tensor what the reference allows after these tokens? False where it cannot say.
  bool allows(const std::vector<Fed>& fed, size_t place, Tensor tensor, std::span<const float> got);
  // The same by bits of the engine's own steps.
  bool steps_to(const std::vector<Fed>& fed, size_t place, Tensor tensor,
                std::span<const float> got);

 private:
  bool work_out(const std::vector<Fed>& fed, size_t place);
  uint64_t key_of(const std::vector<Fed>& fed, size_t place) const;

  const Lab& lab_;
  const Case bare_;
  std::optional<Replays> replays_;
  std::optional<Numbers> numbers_;
  std::map<uint64_t, TokenExpectation> known_;
};

// The same history with one more token: row `row` of the stream, by these weights. Its place.
size_t with_token(std::vector<Fed>& fed, size_t before, const WeightsUsed& weights, int64_t row);

}  // namespace gdn
