// Problems for the simulated operator: arrays drawn from a seed, global memory with sentinels
// wherever nothing is to be written.
#pragma once

#include <cstring>
#include <vector>

#include "device/ascend_sim/operator.h"
#include "device/twin/formats.h"

namespace gdn::ascend::testing {

inline constexpr unsigned char sentinel = 0xA5;

struct Wanted {
  int64_t k_heads = 1, kd = 5, v_heads = 2, vd = 33;
  std::vector<int32_t> lengths = {3, 2};
  std::vector<int32_t> accepted = {};
  gdn_format format = GDN_BF16;  // of inputs and outputs
  gdn_format state = GDN_BF16;
  bool has_g = true, has_gk = true;
  bool one_slot_a_sequence = false;  // all states of a sequence to one slot
  Program program = right_program;   // for the pitches
};

inline Global drawn(const char* name, gdn_format format, int64_t count, uint64_t seed, float low,
                    float high) {
  const int64_t element = twin::element_bytes(format);
  Global made = {name, std::vector<unsigned char>(static_cast<size_t>(count * element)), {}};
  uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const float unit = static_cast<float>(state >> 40) * 0x1p-24F;
    twin::store_element(format, made.bytes.data(), i, low + (high - low) * unit);
  }
  return made;
}

inline Global guarded(const char* name, int64_t bytes) {
  return {
      name, std::vector<unsigned char>(static_cast<size_t>(bytes + 2 * unit_bytes), sentinel), {}};
}

// States drawn too, in their places between sentinels.
inline Problem problem_of(const Wanted& w, uint64_t seed = 1) {
  Problem p;
  p.dimensions = {w.k_heads, w.v_heads, w.kd, w.vd, w.format, w.format, w.format, w.state};
  p.sequences.lengths = w.lengths;
  p.sequences.accepted = w.accepted;
  int64_t slots = 0;
  for (const int32_t length : w.lengths) {
    for (int32_t t = 0; t < length; ++t) {
      if (t == 0 || !w.one_slot_a_sequence) ++slots;
      p.indices.push_back(static_cast<int32_t>(slots - 1));
    }
  }
  const auto T = static_cast<int64_t>(p.indices.size());
  p.sequences.tokens = T;
  p.scale = 0.25F;
  p.q = drawn("q", w.format, T * w.k_heads * w.kd, seed + 1, -0.5F, 0.5F);
  p.k = drawn("k", w.format, T * w.k_heads * w.kd, seed + 2, -0.5F, 0.5F);
  p.v = drawn("v", w.format, T * w.v_heads * w.vd, seed + 3, -1, 1);
  p.beta = drawn("beta", w.format, T * w.v_heads, seed + 4, 0, 1);
  if (w.has_g) p.g = drawn("g", GDN_F32, T * w.v_heads, seed + 5, -1, 0);
  if (w.has_gk) p.gk = drawn("gk", GDN_F32, T * w.v_heads * w.kd, seed + 6, -1, 0);
  p.o_pitch = w.program.output_pitch(w.vd * twin::element_bytes(w.format));
  p.o = guarded("the output", T * w.v_heads * p.o_pitch);
  const int64_t state_bytes = w.vd * w.kd * twin::element_bytes(w.state);
  p.state_pitch = w.program.state_pitch(state_bytes);
  p.state = guarded("the pool", slots * w.v_heads * p.state_pitch);
  for (int64_t i = 0; i < slots * w.v_heads; ++i) {
    const Global one =
        drawn("", w.state, w.vd * w.kd, seed + 100 + static_cast<uint64_t>(i), -1, 1);
    if (w.vd > 0)
      std::memcpy(&p.state.bytes[static_cast<size_t>(i * p.state_pitch)], one.bytes.data(),
                  one.bytes.size());
  }
  return p;
}

// The rows of o and the states, without what lies between them.
inline std::vector<unsigned char> results(const Problem& p) {
  std::vector<unsigned char> all;
  const Dimensions& d = p.dimensions;
  const auto add = [&all](const Global& from, int64_t pitch, int64_t bytes) {
    for (int64_t at = 0; at + bytes <= std::ssize(from.bytes) - 2 * unit_bytes; at += pitch) {
      all.insert(all.end(), from.bytes.begin() + at, from.bytes.begin() + at + bytes);
    }
  };
  add(p.o, p.o_pitch, d.vd * twin::element_bytes(d.output));
  add(p.state, p.state_pitch, d.vd * d.kd * twin::element_bytes(d.state));
  return all;
}

inline Plan plan_of(int64_t v_step, int64_t depth, int64_t cores = 1) {
  Plan plan;
  plan.v_step = v_step;
  plan.depth = depth;
  plan.cores = cores;
  return plan;
}

}  // namespace gdn::ascend::testing
