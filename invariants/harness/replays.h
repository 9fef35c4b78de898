// What a state must be: the layer's own history, fed to a fresh engine that does nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/life.h"

namespace gdn {

// Replays of one engine with the numbers of one case, remembered. A replay is not poisoned, stands
// in layer 0, and takes its tokens by another kind of call than the one that is judged, perhaps:
// none of that may change a bit.
class Replays {
 public:
  // The lab outlives it; of the case its calls do not matter.
  Replays(const Lab& lab, const Case& c);

  // Every tensor after a token, S and HIST after none. Null where the engine could not replay it:
  // *why says why.
  const TokenTensors* after(const std::vector<Fed>& fed, size_t place, Verdict* why);
  // The out of a token.
  const std::vector<float>* out(const std::vector<Fed>& fed, size_t place, Verdict* why);
  // What the last of these calls gives on a fresh engine: of calls that no layer has a part in.
  const CallObserved* beside(const std::vector<Call>& calls, Verdict* why);

 private:
  static size_t together(const std::vector<Fed>& fed, std::span<const size_t> tokens);
  const TokenTensors* zero();
  bool feed(Session& session, const std::vector<Fed>& fed, std::span<const size_t> tokens,
            bool by_step, Verdict* why);
  bool replay(const std::vector<Fed>& fed, size_t place, Verdict* why);

  const Lab& lab_;
  const Case bare_;
  std::map<uint64_t, TokenTensors> known_;       // by history
  std::map<uint64_t, std::vector<float>> outs_;  // of tokens on the way there
  std::map<std::string, CallObserved> beside_;   // by the calls' text
};

}  // namespace gdn
