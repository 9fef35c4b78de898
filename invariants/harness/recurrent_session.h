// The recurrence of an engine on its own, on a pool of states that lie between sentinels. Internal
// to Lab.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "invariants/harness/observation.h"
#include "reference/case.h"
#include "reference/recurrent_call.h"

namespace gdn {

struct Altered;

// Elements before and behind o in its buffer.
inline constexpr int64_t recurrent_margin = 64;

class RecurrentSession {
 public:
  RecurrentSession(Engine& engine, RecurrentInputs inputs, const PoolLayout& pool);
  ~RecurrentSession();
  RecurrentSession(const RecurrentSession&) = delete;
  RecurrentSession& operator=(const RecurrentSession&) = delete;

  // Creates buffers and writes the initial state.
  gdn_status start();
  // A call of kind recurrent on tokens from `first` on; o as [tokens][vh][vd], and `snapshots`
  // where the call keeps some. What the call has no number for, or a meaningless one, is 0.
  gdn_status call(const Call& call, int64_t first, std::map<std::string, std::vector<float>>& out,
                  const Altered* altered = nullptr);
  // The engine's words where it refused the last call that was altered; else empty.
  const std::string& refusal() const { return refusal_; }
  // [states][vh][kd][vd], with 0 in a null slot that was used.
  gdn_status state(std::vector<float>& canonical);
  // What was written that should not have been; empty if nothing.
  const std::string& misconduct() const { return misconduct_; }

 private:
  gdn_status create(uint64_t bytes, gdn_buffer& buffer);
  gdn_status put(const std::vector<float>& numbers, Format format, gdn_buffer& buffer);
  gdn_status put_bytes(const std::vector<uint8_t>& content, gdn_buffer& buffer);
  // Among numbers that no array may hold: an index beside the right one is seen.
  gdn_status put_indices(const char* name, const std::vector<int64_t>& indices, int32_t around,
                         gdn_view& view);
  gdn_status put_lists(const Call& call, gdn_recurrent_args& args);
  gdn_status put_outputs(const Call& call, gdn_recurrent_args& args);
  gdn_status read_bytes(gdn_buffer buffer, size_t count, std::vector<uint8_t>& bytes);
  gdn_status read_floats(gdn_buffer buffer, Format format, int64_t count,
                         std::vector<float>& numbers);
  gdn_view view(gdn_buffer buffer, Format format, std::vector<int64_t> extents) const;
  gdn_status fill_arguments(int64_t first, int64_t tokens, gdn_recurrent_args& args);
  gdn_status look_at_inputs();
  gdn_status take_outputs(std::map<std::string, std::vector<float>>& out);
  // Where element `i` of [vh][kd][vd] stands in a state as it is stored.
  int64_t place_in_state(int64_t i) const;
  // Element of the state buffer that is element `i` of [states][vh][kd][vd].
  int64_t place_of(int64_t i) const;
  gdn_view pool_view(gdn_buffer buffer, int64_t states) const;
  gdn_status look_at_outputs_of_refused();
  void release_all_but(size_t kept);

  Engine& engine_;
  const RecurrentInputs in_;
  const PoolLayout pool_;
  gdn_buffer state_ = 0;
  gdn_buffer out_ = 0;              // of the last call
  std::vector<uint8_t> untouched_;  // what was written there before it
  gdn_buffer kept_ = 0;             // its snapshots
  std::vector<uint8_t> kept_before_;
  std::vector<uint8_t> pool_before_;  // the whole state buffer before the last call
  RecurrentBatch batch_;              // what the last call does
  bool null_slot_was_used_ = false;
  std::vector<gdn_buffer> buffers_;  // the state's, then those of the last call
  struct Input {
    const char* name;
    gdn_buffer buffer;
    std::vector<uint8_t> bytes;
  };
  std::vector<Input> inputs_;  // of the last call, as they were written
  std::string misconduct_;
  std::string refusal_;
};

// Shape, dialect and arrays of a case of subject recurrent.
RecurrentInputs recurrent_inputs(const Case& c, const Numbers& numbers);

}  // namespace gdn
