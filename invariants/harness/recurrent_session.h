// The recurrence of an engine on its own, one sequence in slot 0 of a pool of states that lie
// between sentinels. Internal to Lab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "invariants/harness/observation.h"
#include "reference/case.h"

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
  struct Besides {
    std::optional<int32_t> from_zero = {};  // its flag; none: the array is left out
    const Altered* altered = nullptr;
  };
  // Tokens [first, first + tokens) of the inputs; o as [tokens][vh][vd].
  gdn_status call(int64_t first, int64_t tokens, std::vector<float>& o, const Besides& besides);
  gdn_status call(int64_t first, int64_t tokens, std::vector<float>& o) {
    return call(first, tokens, o, Besides{});
  }
  // The engine's words where it refused the last call that was altered; else empty.
  const std::string& refusal() const { return refusal_; }
  // [vh][kd][vd].
  gdn_status state(std::vector<float>& canonical);
  // What was written that should not have been; empty if nothing.
  const std::string& misconduct() const { return misconduct_; }

 private:
  gdn_status create(uint64_t bytes, gdn_buffer& buffer);
  gdn_status put(const std::vector<float>& numbers, Format format, gdn_buffer& buffer);
  gdn_status put_bytes(const std::vector<uint8_t>& content, gdn_buffer& buffer);
  gdn_status put_flag(int32_t flag, gdn_view& from_zero);
  gdn_status read_bytes(gdn_buffer buffer, size_t count, std::vector<uint8_t>& bytes);
  gdn_status read_floats(gdn_buffer buffer, Format format, int64_t count,
                         std::vector<float>& numbers);
  gdn_view view(gdn_buffer buffer, Format format, std::vector<int64_t> extents) const;
  gdn_status fill_arguments(int64_t first, int64_t tokens, gdn_recurrent_args& args);
  gdn_status look_at_inputs();
  // The altered call; what it refuses must not have touched a byte.
  gdn_status call_altered(gdn_recurrent_args& args, const Altered& altered);
  void release_all_but(size_t kept);

  Engine& engine_;
  const RecurrentInputs in_;
  const PoolLayout pool_;
  gdn_buffer state_ = 0;
  gdn_buffer out_ = 0;               // of the last call
  std::vector<uint8_t> untouched_;   // what was written there before it
  std::vector<float> surroundings_;  // the whole state buffer as it was written at first
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
