// The operator's slots are numbered anew in the order in which tokens are stored: the pool itself
// may be sparse and of any size.
#include "device/ascend_sim/staging.h"

#include <algorithm>
#include <cstring>

#include "device/host/status.h"
#include "device/twin/formats.h"
#include "device/twin/operators.h"

namespace gdn::ascend {
namespace {

bool is_16_bit(gdn_format format, bool has_bf16) {
  return format == GDN_F16 || (format == GDN_BF16 && has_bf16);
}

const char* why_not(const gdn_recurrent_args& a, const HostPlan& host, bool has_bf16, Plan* plan) {
  const auto is_format = [&](const gdn_view& view) { return is_16_bit(view.format, has_bf16); };
  const auto is_state_or_beta = [&](const gdn_view& view) {
    return view.format == GDN_F32 || is_format(view);
  };
  if (a.state_writes == GDN_WRITE_LAST) return "it keeps no snapshots";
  if (a.qk_norm != GDN_QK_NORM_NONE) return "it has no norm of q and k";
  if (a.scale_on_output != 0) return "its scale is on q";
  if (a.state_is_vk == 0) return "its states are [vd][kd]";
  const bool maps_differ = a.num_k_heads > 1 && a.num_k_heads < a.num_v_heads;
  if (a.head_map_tiled != 0 && maps_differ) return "its heads are grouped";
  if (a.g_is_linear != 0 && host.g.is_there()) return "its g is a logarithm";
  if (a.q.format != a.k.format || a.q.format != a.v.format) return "q, k and v have one format";
  if (!is_format(a.q) || !is_format(a.o)) {
    return has_bf16 ? "q, k, v and o are bf16 or f16" : "q, k, v and o are f16";
  }
  if (!is_state_or_beta(a.beta) || !is_state_or_beta(a.state)) return "this chip has no bf16";
  if (a.num_v_heads > heads_max) return "it has 256 v-heads at most";
  if (a.head_k_dim > head_dim_max || a.head_v_dim > head_dim_max) return "a head has 512 at most";
  for (const HostSequence& sequence : host.sequences) {
    if (sequence.tokens > plan->sequence_tokens_max) return "a sequence has too many tokens";
  }
  const Dimensions d = {a.num_k_heads, a.num_v_heads, a.head_k_dim, a.head_v_dim,
                        a.q.format,    a.beta.format, a.o.format,   a.state.format};
  return choose(d, plan) ? nullptr : "a tile does not fit into local memory";
}

}  // namespace

void check_served(const gdn_recurrent_args& args, const HostPlan& host, bool has_bf16, Plan* plan) {
  const char* const why = why_not(args, host, has_bf16, plan);
  if (why != nullptr) host::refuse(GDN_UNSUPPORTED, "the operator does not serve it: %s", why);
}

Staging::Staging(const gdn_recurrent_args& args, const HostPlan& host, uint32_t poison,
                 const Program& program)
    : a_(args), host_(host) {
  const gdn_recurrent_args& a = args;
  problem_.dimensions = {a.num_k_heads, a.num_v_heads, a.head_k_dim, a.head_v_dim,
                         a.q.format,    a.beta.format, a.o.format,   a.state.format};
  problem_.scale = a.scale_is_given != 0 ? a.scale : twin::default_q_scale(a.head_k_dim);
  number_slots();
  lay_out(program, poison);
  gather(problem_.q, host.q, a.num_k_heads, a.head_k_dim);
  gather(problem_.k, host.k, a.num_k_heads, a.head_k_dim);
  gather(problem_.v, host.v, a.num_v_heads, a.head_v_dim);
  gather(problem_.beta, host.beta, a.num_v_heads, 1);
  if (host.g.is_there()) gather(problem_.g, host.g, a.num_v_heads, 1);
  if (host.gk.is_there()) gather(problem_.gk, host.gk, a.num_v_heads, a.head_k_dim);
  gather_states();
}

// With a state for every token each has a slot; else all of a sequence are stored to one, so that
// the last stays.
void Staging::number_slots() {
  const bool by_token = a_.state_writes == GDN_WRITE_EVERY_TOKEN;
  for (const HostSequence& sequence : host_.sequences) {
    if (sequence.start_slot < 0) continue;
    problem_.sequences.lengths.push_back(static_cast<int32_t>(sequence.tokens));
    problem_.sequences.accepted.push_back(static_cast<int32_t>(sequence.accepted));
    for (int64_t i = 0; i < sequence.tokens; ++i) {
      tokens_.push_back(sequence.first_token + i);
      if (by_token || i == 0) ++slots_;
      problem_.indices.push_back(static_cast<int32_t>(slots_ - 1));
    }
  }
  problem_.sequences.tokens = static_cast<int64_t>(tokens_.size());
}

void Staging::lay_out(const Program& program, uint32_t poison) {
  const int64_t row = a_.head_v_dim * twin::element_bytes(a_.o.format);
  const int64_t state = a_.head_v_dim * a_.head_k_dim * twin::element_bytes(a_.state.format);
  problem_.o_pitch = program.output_pitch(row);
  problem_.state_pitch = program.state_pitch(state);
  const int64_t rows = problem_.sequences.tokens * a_.num_v_heads;
  const int64_t states = slots_ * a_.num_v_heads;
  const auto with_guard = [poison](const char* name, int64_t bytes) {
    Global made = {name, std::vector<unsigned char>(static_cast<size_t>(bytes + unit_bytes)), {}};
    for (size_t i = 0; i < made.bytes.size(); ++i) {
      made.bytes[i] = static_cast<unsigned char>(poison >> (i % 4 * 8));
    }
    return made;
  };
  problem_.o = with_guard("the output", rows * problem_.o_pitch);
  problem_.state = with_guard("the pool", states * problem_.state_pitch);
}

void Staging::gather(Global& to, const Seen& from, int64_t heads, int64_t dim) {
  const int64_t element = twin::element_bytes(from.view.format);
  const auto tokens = static_cast<int64_t>(tokens_.size());
  to.bytes.resize(static_cast<size_t>(tokens * heads * dim * element));
  to.name = &to == &problem_.beta ? "beta" : "an input";
  unsigned char* at = to.bytes.data();
  for (const int64_t token : tokens_) {
    for (int64_t i = 0; i < heads; ++i) {
      for (int64_t j = 0; j < dim; ++j) {
        std::memcpy(at, from.data + from.index(token, i, j) * element,
                    static_cast<size_t>(element));
        at += element;
      }
    }
  }
}

void Staging::move_state(int64_t staged, int64_t slot, bool to_pool) const {
  const int64_t element = twin::element_bytes(a_.state.format);
  for (int64_t head = 0; head < a_.num_v_heads; ++head) {
    unsigned char* at =
        problem_.state.bytes.data() + (staged * a_.num_v_heads + head) * problem_.state_pitch;
    for (int64_t i = 0; i < a_.head_v_dim; ++i) {
      for (int64_t j = 0; j < a_.head_k_dim; ++j, at += element) {
        if (slot < 0) {
          std::memset(at, 0, static_cast<size_t>(element));
          continue;
        }
        unsigned char* const of_pool =
            host_.state.data + host_.state.index(slot, head, i, j) * element;
        std::memcpy(to_pool ? of_pool : at, to_pool ? at : of_pool, static_cast<size_t>(element));
      }
    }
  }
}

void Staging::gather_states() {
  size_t first = 0;
  for (const HostSequence& sequence : host_.sequences) {
    if (sequence.start_slot < 0) continue;
    const auto start = first + static_cast<size_t>(sequence.accepted - 1);
    move_state(problem_.indices[start], sequence.from_zero ? -1 : sequence.start_slot, false);
    first += static_cast<size_t>(sequence.tokens);
  }
}

void Staging::copy_outputs_back() const {
  const int64_t element = twin::element_bytes(a_.o.format);
  for (size_t t = 0; t < tokens_.size(); ++t) {
    for (int64_t head = 0; head < a_.num_v_heads; ++head) {
      const int64_t row = static_cast<int64_t>(t) * a_.num_v_heads + head;
      for (int64_t j = 0; j < a_.head_v_dim; ++j) {
        std::memcpy(host_.o.data + host_.o.index(tokens_[t], head, j) * element,
                    problem_.o.bytes.data() + row * problem_.o_pitch + j * element,
                    static_cast<size_t>(element));
      }
    }
  }
}

void Staging::copy_back() const {
  copy_outputs_back();
  for (size_t t = 0; t < tokens_.size(); ++t) {
    const int64_t slot = host_.store[static_cast<size_t>(tokens_[t])];
    // What is in the null slot means nothing, and several may go there.
    const bool is_null = slot == 0 && a_.padding == GDN_SLOT_ZERO_IS_NULL && a_.slots.buffer != 0;
    if (slot >= 0 && !is_null) move_state(problem_.indices[t], slot, true);
  }
  const bool zeroes = a_.padding == GDN_NEGATIVE_ZEROES || a_.padding == GDN_NOT_POSITIVE_ZEROES;
  const int64_t element = twin::element_bytes(a_.o.format);
  for (const HostSequence& sequence : host_.sequences) {
    if (sequence.start_slot >= 0 || !zeroes) continue;
    for (int64_t i = 0; i < sequence.tokens * a_.num_v_heads * a_.head_v_dim; ++i) {
      const int64_t row = i / a_.head_v_dim;
      const int64_t index = host_.o.index(sequence.first_token + row / a_.num_v_heads,
                                          row % a_.num_v_heads, i % a_.head_v_dim);
      std::memset(host_.o.data + index * element, 0, static_cast<size_t>(element));
    }
  }
}

}  // namespace gdn::ascend
