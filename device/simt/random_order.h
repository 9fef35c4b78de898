// A seeded order of turns, the same on every machine. splitmix64, Steele, Lea and Flood 2014.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gdn::simt {

class RandomOrder {
 public:
  explicit RandomOrder(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  template <class T>
  void shuffle(std::vector<T>& turn) {
    for (size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[next() % i]);
  }

 private:
  uint64_t state_;
};

}  // namespace gdn::simt
