// What the calls of a case do to its layers, as a model: which are refused, and which tokens each
// layer's state has seen. The state itself is the reference's business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/case.h"

namespace gdn {

// Whose weights a layer computes with: the small tensors, and the three large matrices.
struct WeightsUsed {
  int64_t small = 0;
  std::array<int64_t, 3> large = {0, 0, 0};
  friend bool operator==(const WeightsUsed&, const WeightsUsed&) = default;
};

// A sequence that a layer has seen from a zero state on.
struct Sequence {
  WeightsUsed weights;
  std::vector<int64_t> tokens;  // rows of the case's stream
  std::vector<int64_t> calls;   // how many came in each call; sums to the tokens
};

// A place in a sequence: after its first `tokens` tokens.
struct Place {
  size_t sequence = 0;
  size_t tokens = 0;
};

struct CallLife {
  bool refused = false;
  std::optional<Place> before, after;  // of the layer that a call feeds, where both are known
  std::optional<Place> read;           // of the layer that is read after the call
};

struct Life {
  std::vector<Sequence> sequences;
  std::vector<CallLife> calls;
};

// Of a valid case of subject layer.
Life live(const Case& c);

}  // namespace gdn
