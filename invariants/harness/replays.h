// What a state must be: the layer's own history, fed to a fresh engine that does nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/life.h"

namespace gdn {

// The tensors of a layer; those that it did not give are empty.
class LayerBits {
 public:
  std::span<const float> at(Tensor tensor) const {
    const auto [begin, count] = places_[static_cast<size_t>(tensor)];
    return std::span(values_).subspan(begin, count);
  }
  void set(Tensor tensor, std::span<const float> values) {
    places_[static_cast<size_t>(tensor)] = {values_.size(), values.size()};
    values_.insert(values_.end(), values.begin(), values.end());
  }

 private:
  std::vector<float> values_;
  std::array<std::pair<size_t, size_t>, tensor_count> places_ = {};
};

// Of what was called and how, the layers aside.
uint64_t hash_of(const Call& call);

// Replays of one engine with the numbers of one case, remembered. A replay is not poisoned, stands
// in layer 0, and takes its tokens by another kind of call than the one that is judged, perhaps:
// none of that may change a bit. The engine of the last replay stays open, and is fed on where a
// history goes on from there; for one case in four, by its seed, each replay begins from nothing.
class Replays {
 public:
  // By steps alone, whatever the case: for whoever asks which kind of call is the wrong one.
  enum class Feeding : uint8_t { mixed, steps };
  // The lab outlives it; of the case its calls do not matter.
  Replays(const Lab& lab, const Case& c, Feeding feeding = Feeding::mixed);

  // Every tensor after a token, S and HIST after none. Null where the engine could not replay it:
  // *why says why.
  const LayerBits* after(const std::vector<Fed>& fed, size_t place, Verdict* why);
  // The out of a token.
  const std::vector<float>* out(const std::vector<Fed>& fed, size_t place, Verdict* why);
  // What the last of these calls gives on a fresh engine: of calls that no layer has a part in.
  const CallObserved* beside(const std::vector<Call>& calls, Verdict* why);

 private:
  // An engine whose layer 0 has a history, and the weights that it has it with.
  struct Open {
    Session session;
    uint64_t history = 0;
    std::optional<WeightsUsed> weights;
  };

  static size_t together(const std::vector<Fed>& fed, std::span<const size_t> tokens);
  const LayerBits* zero();
  bool open(Verdict* why);
  bool feed(const std::vector<Fed>& fed, std::span<const size_t> tokens, bool by_step,
            Verdict* why);
  bool feed_all(const std::vector<Fed>& fed, std::span<const size_t> tokens, Verdict* why);
  bool replay(const std::vector<Fed>& fed, size_t place, Verdict* why);

  const Lab& lab_;
  const Case bare_;
  const Feeding feeding_;
  const bool goes_on_;
  std::optional<Open> open_;
  std::map<uint64_t, LayerBits> known_;          // by history
  std::map<uint64_t, std::vector<float>> outs_;  // of tokens on the way there
  std::map<uint64_t, CallObserved> beside_;      // by the calls' hash
};

}  // namespace gdn
