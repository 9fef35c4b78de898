// One number that stands for all results of a function over many arguments, the same in whatever
// order they come: how a GPU and a CPU compare 2^32 results without moving them.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"

namespace gdn {

// The finaliser of splitmix64, a bijection. A checksum is the sum of these modulo 2^64.
GDN_HOST_DEVICE inline uint64_t checksum_term(uint32_t argument_bits, uint32_t result_bits) {
  uint64_t z = (static_cast<uint64_t>(argument_bits) << 32 | result_bits) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace gdn
