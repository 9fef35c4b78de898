// Nothing here is done by a core; a tiling function on the host would.
#include "device/ascend_sim/plan.h"

#include <algorithm>

#include "device/twin/formats.h"

namespace gdn::ascend {
namespace {

constexpr int64_t float_bytes = sizeof(float);

// The first unit of each core, in the order of sequences and in them of heads.
std::vector<int64_t> first_units(const Sequences& sequences, int64_t v_heads, int64_t cores) {
  int64_t load = 0;
  for (const int32_t length : sequences.lengths) load += std::max(length, 0) * v_heads;
  const int64_t share = (load + cores - 1) / cores;
  std::vector<int64_t> first = {0};
  int64_t taken = 0;
  for (size_t n = 0; n < sequences.lengths.size(); ++n) {
    for (int64_t head = 0; head < v_heads; ++head) {
      taken += std::max(sequences.lengths[n], 0);
      if (taken < share) continue;
      first.push_back(static_cast<int64_t>(n) * v_heads + head + 1);
      taken = 0;
    }
  }
  const auto units = static_cast<int64_t>(sequences.lengths.size()) * v_heads;
  first.resize(static_cast<size_t>(cores) + 1, units);
  first.back() = units;
  return first;
}

const char* why_not_length(const Sequences& sequences, int64_t begin, int64_t length,
                           int64_t tokens_max) {
  if (length > tokens_max) return "a sequence is longer than is allowed";
  if (begin < 0 || begin + length > sequences.tokens) return "a sequence leaves the tokens";
  return nullptr;
}

}  // namespace

int64_t local_bytes(const Dimensions& d, const Plan& plan) {
  const int64_t L = plan.sequence_tokens_max;
  const int64_t K = padded(d.kd);
  const int64_t V = padded(d.vd);
  const int64_t in = twin::element_bytes(d.input);
  const int64_t out = twin::element_bytes(d.output);
  const int64_t state = twin::element_bytes(d.state);
  const int64_t beta = twin::element_bytes(d.beta);
  const int64_t heads = padded(d.v_heads);
  // As they come, and as float32; gates come as that.
  const int64_t inputs = L * (2 * K + V) * (in + float_bytes) + L * K * float_bytes +
                         L * heads * (beta + 2 * float_bytes);
  const int64_t values = plan.v_step * 2 * float_bytes;
  const int64_t tiles = plan.v_step * K * (float_bytes + 2 * state + plan.depth * state);
  return inputs + values + tiles + plan.depth * plan.v_step * out;
}

bool choose(const Dimensions& d, Plan* plan) {
  const int64_t given_step = plan->v_step;
  const int64_t given_depth = plan->depth;
  for (int64_t tiles = 1; tiles <= padded(d.vd) / lane_block; ++tiles) {
    const int64_t step = given_step > 0 ? given_step : padded((d.vd + tiles - 1) / tiles);
    for (const int64_t depth : {int64_t{2}, int64_t{1}}) {
      if (given_depth > 0 && depth != given_depth) continue;
      plan->v_step = step;
      plan->depth = depth;
      if (local_bytes(d, *plan) <= local_bytes_max) return true;
    }
    if (given_step > 0) break;
  }
  return false;
}

Cut cut(const Sequences& sequences, int64_t v_heads, const Plan& plan) {
  Cut made;
  const auto units = static_cast<int64_t>(sequences.lengths.size()) * v_heads;
  const int64_t cores = std::max<int64_t>(1, std::min(plan.cores, units));
  const std::vector<int64_t> first = first_units(sequences, v_heads, cores);
  made.of_core.resize(static_cast<size_t>(cores));
  for (int64_t core = 0; core < cores; ++core) {
    const auto c = static_cast<size_t>(core);
    int64_t begin = sequences.start;
    const char* why = nullptr;
    for (size_t n = 0; n < sequences.lengths.size() && why == nullptr; ++n) {
      const int64_t length = sequences.lengths[n];
      const auto sequence = static_cast<int64_t>(n);
      if (length <= 0) continue;
      why = why_not_length(sequences, begin, length, plan.sequence_tokens_max);
      for (int64_t head = 0; head < v_heads && why == nullptr; ++head) {
        const int64_t unit = sequence * v_heads + head;
        if (unit < first[c] || unit >= first[c + 1]) continue;
        const int64_t accepted = sequences.accepted.empty() ? 1 : sequences.accepted[n];
        if (accepted <= 0 || accepted > length) why = "an accepted count is not in its sequence";
        if (why == nullptr) made.of_core[c].push_back({sequence, head, begin, length});
      }
      if (why != nullptr) made.abandoned.push_back({core, sequence, why});
      begin += length;
    }
  }
  return made;
}

}  // namespace gdn::ascend
