// The delta rule by the book, one v-head at a time, in numbers that carry their error: for faults
// that are another order of its steps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"

namespace gdn {

struct DeltaHead {
  size_t kd = 0, vd = 0;
  std::vector<Ball> S;        // before the token, [kd][vd]
  std::vector<Ball> S_given;  // after it, as the engine gave it; in a sequence, as it must be
  std::vector<Ball> decay;    // [kd]
  std::vector<Ball> k, q, v;  // [kd], [kd], [vd]
  Ball beta;
  int64_t head = 0;

  std::vector<Ball> decayed(const std::vector<Ball>& state) const;
  std::vector<Ball> read(const std::vector<Ball>& state, const std::vector<Ball>& key) const;
  std::vector<Ball> error(const std::vector<Ball>& u) const;  // beta (v - u)
  std::vector<Ball> written(std::vector<Ball> state, const std::vector<Ball>& key,
                            const std::vector<Ball>& d) const;
  std::vector<Ball> state_after() const;  // by the right rule
};

// What a fault makes of a head; what stays empty is right.
struct FaultyHead {
  std::vector<Ball> S, o;
};
using HeadRule = std::function<FaultyHead(const DeltaHead&, const OperatorRun&)>;

// A form of the delta rule that works head by head. An output that stays empty is that of the S
// that was given, in a sequence that of the faulty one.
FaultForm by_head(std::string name, std::string sentence, HeadRule rule,
                  std::vector<std::string> explains = {}, double choices = 1);

}  // namespace gdn
