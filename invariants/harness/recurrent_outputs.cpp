// What a call of the recurrence may write, and all that it must leave alone.
#include <bit>

#include "invariants/harness/recurrent_conventions.h"
#include "invariants/harness/recurrent_session.h"

namespace gdn {
namespace {

// What lies around states and outputs: a NaN that no calculation makes, exact in all formats.
const float sentinel = std::bit_cast<float>(0xFFE50000U);

bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

}  // namespace

gdn_status RecurrentSession::start() {
  const int64_t count = in_.shape.state_count();
  const auto total = static_cast<size_t>(pool_.offset + pool_.slots * (count + pool_.gap));
  std::vector<float> pool(total, sentinel);
  for (int64_t i = 0; i < pool_.states * count; ++i) {
    const auto at = static_cast<size_t>(i);
    pool[static_cast<size_t>(place_of(i))] =
        in_.initial_state.empty() ? 0.0F : in_.initial_state[at];
  }
  pool_before_ = stored(pool, in_.dialect.state_storage);
  return put_bytes(pool_before_, state_);
}

// Sentinels around o and in place of all that is written, in the engine's own memory.
gdn_status RecurrentSession::put_outputs(const Call& call, gdn_recurrent_args& args) {
  const Shape& s = in_.shape;
  const int64_t tokens = call.at(Argument::tokens);
  const auto filled = [](int64_t count, Format format) {
    return stored(std::vector<float>(static_cast<size_t>(count), sentinel), format);
  };
  const Format output = in_.dialect.output_storage;
  untouched_ = filled(std::max<int64_t>(0, tokens) * s.v_dim() + 2 * recurrent_margin, output);
  gdn_status status = put_bytes(untouched_, out_);
  args.o = view(out_, output, {tokens, s.num_v_heads, s.head_v_dim});
  args.o.offset = recurrent_margin;
  kept_before_.clear();
  if (status != GDN_OK || call.at(Argument::snapshots) < 0) return status;
  const int64_t kept = batch_.snapshots * batch_.sequence_count;
  kept_before_ = filled(kept * s.state_count() + 2 * recurrent_margin, in_.dialect.state_storage);
  status = put_bytes(kept_before_, kept_);
  args.snapshots = pool_view(kept_, kept);
  args.snapshots.offset = recurrent_margin;
  args.num_snapshots = batch_.snapshots;
  return status;
}

// o and the snapshots: what had to stay as it was did, and counts as 0.
gdn_status RecurrentSession::take_outputs(std::map<std::string, std::vector<float>>& out) {
  const Shape& s = in_.shape;
  std::vector<uint8_t> now;
  const auto take = [&](gdn_buffer buffer, const std::vector<uint8_t>& before, Format format,
                        int64_t part_count, const auto& kind_of, const char* what,
                        std::vector<float>& to) {
    const gdn_status status = read_bytes(buffer, before.size(), now);
    if (status != GDN_OK) return status;
    const std::vector<float> all = loaded(now, format);
    const std::vector<float> was = loaded(before, format);
    const auto margin = static_cast<size_t>(recurrent_margin);
    to.assign(all.begin() + recurrent_margin, all.end() - recurrent_margin);
    for (size_t i = 0; i < all.size(); ++i) {
      const bool inside = i >= margin && i < all.size() - margin;
      const auto part = static_cast<int64_t>(i - margin) / part_count;
      const OutputKind kind = inside ? kind_of(part) : OutputKind::untouched;
      if (kind == OutputKind::untouched && !same(all[i], was[i])) {
        misconduct_ = std::string("recurrent wrote ") +
                      (inside ? what + std::to_string(part) : std::string("outside an output"));
      }
      const bool has_number = kind == OutputKind::computed || kind == OutputKind::zero;
      if (inside && !has_number) to[i - margin] = 0;
    }
    return GDN_OK;
  };
  const bool right = batch_.why_refused.empty();
  gdn_status status = take(
      out_, untouched_, in_.dialect.output_storage, s.v_dim(),
      [&](int64_t token) {
        return right ? batch_.output[static_cast<size_t>(token)] : OutputKind::computed;
      },
      "o of a token that has none, ", out["o"]);
  if (status != GDN_OK || kept_before_.empty()) return status;
  const auto kind_of_kept = [&](int64_t place) {
    for (const BatchSequence& sequence : batch_.sequences) {
      const bool is_own = place % batch_.sequence_count == sequence.index;
      const bool has_one = place / batch_.sequence_count < sequence.tokens;
      const bool from_null = sequence.is_padding && sequence.start_slot >= 0;
      if (is_own && has_one && from_null) return OutputKind::meaningless;
      if (is_own && has_one && !sequence.is_padding) return OutputKind::computed;
    }
    return right ? OutputKind::untouched : OutputKind::computed;
  };
  std::vector<float> as_stored;
  status = take(kept_, kept_before_, in_.dialect.state_storage, s.state_count(), kind_of_kept,
                "a snapshot that there is no state for, ", as_stored);
  std::vector<float>& canonical = out["snapshots"];
  canonical.resize(as_stored.size());
  for (size_t i = 0; i < canonical.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    const int64_t first = place / s.state_count() * s.state_count();
    canonical[i] = as_stored[static_cast<size_t>(first + place_in_state(place - first))];
  }
  return status;
}

// What a refused call must not have touched.
gdn_status RecurrentSession::look_at_outputs_of_refused() {
  struct Kept {
    gdn_buffer buffer;
    const std::vector<uint8_t>& before;
    const char* what;
  };
  for (const Kept& kept : {Kept{state_, pool_before_, "a state"}, Kept{out_, untouched_, "o"},
                           Kept{kept_, kept_before_, "a snapshot"}}) {
    if (kept.before.empty()) continue;
    std::vector<uint8_t> now;
    const gdn_status status = read_bytes(kept.buffer, kept.before.size(), now);
    if (status != GDN_OK) return status;
    if (now != kept.before) {
      misconduct_ = std::string("recurrent refused and wrote into ") + kept.what;
    }
  }
  return look_at_inputs();
}

gdn_status RecurrentSession::state(std::vector<float>& canonical) {
  const int64_t count = in_.shape.state_count();
  std::vector<uint8_t> now;
  const gdn_status status = read_bytes(state_, pool_before_.size(), now);
  if (status != GDN_OK) return status;
  std::vector<bool> may_change(now.size(), !batch_.why_refused.empty());
  const size_t width = bytes_of(in_.dialect.state_storage);
  const auto allow = [&](int64_t slot) {
    for (int64_t i = slot * count; i < (slot + 1) * count; ++i) {
      const auto at = static_cast<size_t>(place_of(i)) * width;
      for (size_t byte = 0; byte < width; ++byte) may_change[at + byte] = true;
    }
  };
  for (const int64_t slot : batch_.store) {
    if (slot >= 0) allow(slot);
  }
  null_slot_was_used_ = null_slot_was_used_ || batch_.null_slot_is_used;
  if (null_slot_was_used_) allow(0);
  for (size_t i = 0; i < now.size(); ++i) {
    if (may_change[i] || now[i] == pool_before_[i]) continue;
    const int64_t at = static_cast<int64_t>(i / width) - pool_.offset;
    const int64_t slot = at < 0 ? -1 : at / (count + pool_.gap);
    const bool in_state = at >= 0 && at % (count + pool_.gap) < count;
    misconduct_ = "recurrent wrote outside its slot: " +
                  (in_state ? "into slot " + std::to_string(slot) : std::string("between slots"));
  }
  pool_before_ = now;
  const std::vector<float> all = loaded(now, in_.dialect.state_storage);
  canonical.resize(static_cast<size_t>(pool_.states * count));
  for (int64_t i = 0; i < pool_.states * count; ++i) {
    const bool has_number = !null_slot_was_used_ || i >= count;
    canonical[static_cast<size_t>(i)] = has_number ? all[static_cast<size_t>(place_of(i))] : 0.0F;
  }
  return GDN_OK;
}

}  // namespace gdn
