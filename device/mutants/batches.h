// What mutants of the recurrence's batches are made of: the twin's call with an index array or a
// choice that is another, and states moved in the pool after it.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {

using Args = gdn_recurrent_args;
using Indices = std::vector<int32_t>;

inline bool are_args(const Args* args) {
  return args != nullptr && args->struct_size == sizeof *args;
}

// Entries of an index array; none where it is absent, or not there as the arguments say.
inline Indices indices_of(gdn_engine* engine, const gdn_view& view, int64_t count) {
  constexpr int64_t count_max = 1 << 16;
  if (view.buffer == 0 || count < 0 || count > count_max) return {};
  Indices indices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(view.offset + i * view.stride[0]) * sizeof(int32_t);
    if (right_twin().buffer_read(engine, view.buffer, at, &indices[static_cast<size_t>(i)],
                                 sizeof(int32_t)) != GDN_OK) {
      return {};
    }
  }
  return indices;
}

inline Indices slots_of(gdn_engine* engine, const Args& args) {
  const bool by_token = args.state_writes == GDN_WRITE_EVERY_TOKEN;
  return indices_of(engine, args.slots, by_token ? args.num_tokens : args.num_sequences);
}

// First token and count of each sequence; none where they are coded wrongly.
inline std::vector<std::pair<int64_t, int64_t>> sequences_of(gdn_engine* engine, const Args& args) {
  if (args.sequences.buffer == 0) return {{0, args.num_tokens}};
  const bool has_first = args.sequence_coding != GDN_LENGTHS;
  const Indices coded =
      indices_of(engine, args.sequences, args.num_sequences + (has_first ? 1 : 0));
  std::vector<std::pair<int64_t, int64_t>> sequences;
  int64_t token = has_first && !coded.empty() ? coded[0] : 0;
  for (size_t i = has_first ? 1 : 0; i < coded.size(); ++i) {
    const int64_t count = args.sequence_coding == GDN_CUMULATIVE ? coded[i] - token : coded[i];
    if (token < 0 || count < 0 || count > args.num_tokens - token) return {};
    sequences.emplace_back(token, count);
    token += count;
  }
  return sequences;
}

// The call with other entries in one of its index arrays. Where that cannot be, the right call.
inline gdn_status call_with(gdn_engine* engine, const Args& args, gdn_view Args::*array,
                            const Indices& indices) {
  Args other = args;
  gdn_view& view = other.*array;
  const uint64_t bytes = indices.size() * sizeof(int32_t);
  view = {.buffer = 0, .format = GDN_I32, .offset = 0, .stride = {1, 0, 0, 0}};
  const bool is_made =
      !indices.empty() && right_twin().buffer_create(engine, bytes, &view.buffer) == GDN_OK;
  if (!is_made) return right_twin().recurrent(engine, &args);
  right_twin().buffer_write(engine, view.buffer, 0, indices.data(), bytes);
  const gdn_status status = right_twin().recurrent(engine, &other);
  right_twin().buffer_release(engine, view.buffer);
  // The release took the words of a refusal with it.
  return status == GDN_OK ? status : right_twin().recurrent(engine, &args);
}

// A state of the pool or of the snapshots as its bytes, in the order of the view.
class StatesOf {
 public:
  StatesOf(gdn_engine* engine, const Args& args, const gdn_view& view)
      : engine_(engine),
        view_(view),
        bytes_(view.format == GDN_F32 ? 4 : 2),
        heads_(args.num_v_heads),
        rows_(args.state_is_vk != 0 ? args.head_v_dim : args.head_k_dim),
        cols_(args.state_is_vk != 0 ? args.head_k_dim : args.head_v_dim) {}

  std::vector<uint8_t> get(int64_t slot) const {
    std::vector<uint8_t> state(static_cast<size_t>(heads_ * rows_ * cols_) * bytes_);
    each(slot, [&](uint64_t at, size_t i) {
      right_twin().buffer_read(engine_, view_.buffer, at, &state[i], bytes_);
    });
    return state;
  }
  void put(int64_t slot, const std::vector<uint8_t>& state) const {
    each(slot, [&](uint64_t at, size_t i) {
      right_twin().buffer_write(engine_, view_.buffer, at, &state[i], bytes_);
    });
  }

 private:
  template <class Visit>
  void each(int64_t slot, const Visit& visit) const {
    size_t i = 0;
    for (int64_t h = 0; h < heads_; ++h) {
      for (int64_t r = 0; r < rows_; ++r) {
        for (int64_t c = 0; c < cols_; ++c, i += bytes_) {
          const int64_t element = view_.offset + slot * view_.stride[0] + h * view_.stride[1] +
                                  r * view_.stride[2] + c * view_.stride[3];
          visit(static_cast<uint64_t>(element) * bytes_, i);
        }
      }
    }
  }

  gdn_engine* engine_;
  gdn_view view_;
  size_t bytes_;
  int64_t heads_, rows_, cols_;
};

// The twin with another recurrent.
template <auto wrong>
gdn_api twin_recurring_by(const char* name) {
  gdn_api table = right_twin();
  table.name = name;
  table.recurrent = [](gdn_engine* engine, const Args* args) {
    if (!are_args(args)) return right_twin().recurrent(engine, args);
    return wrong(engine, *args);
  };
  return table;
}

}  // namespace gdn::mutants
