// The arguments of recurrent, checked, and which tokens, slots and stores they come to.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device/gdn.h"

namespace gdn::ascend {

// The memory of a view's buffer; null and -1 where there is none of that name.
struct Found {
  unsigned char* data = nullptr;
  int64_t bytes = -1;
};
using FindBuffer = std::function<Found(gdn_buffer)>;

// A view together with its memory.
struct Seen {
  gdn_view view = {};
  unsigned char* data = nullptr;  // null: absent

  bool is_there() const { return data != nullptr; }
  int64_t index(int64_t i, int64_t j = 0, int64_t k = 0, int64_t l = 0) const {
    const int64_t* const s = view.stride;
    return view.offset + i * s[0] + j * s[1] + k * s[2] + l * s[3];
  }
};

struct HostSequence {
  int64_t first_token = 0, tokens = 0;
  int64_t accepted = 1;
  int64_t start_slot = 0;  // -1: the sequence is padding
  bool from_zero = false;
};

struct HostPlan {
  Seen q, k, v, g, gk, beta, o, state;
  std::vector<HostSequence> sequences;  // those that have tokens
  std::vector<int64_t> store;           // of each token; -1: its state goes nowhere
};

// Throws host::Failed.
HostPlan checked_plan(const gdn_recurrent_args* args, const FindBuffer& find);

}  // namespace gdn::ascend
