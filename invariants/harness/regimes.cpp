// The default mix: which subjects, which sizes, which conventions, how often.
#include "invariants/harness/regimes.h"

#include <algorithm>

#include "invariants/harness/regimes_parts.h"

namespace gdn {
namespace {

// A quarter more than what is promised, so that the promise holds for any seed: of 20,000 cases
// a share of 10 % strays by 0.2 % (one standard deviation).
constexpr int64_t generous(int64_t percent) { return percent + (percent + 3) / 4; }

// A simulated GPU takes about a hundred times as long as a plain loop, so most cases are tiny, and
// none is large in two ways.
enum class Size : uint8_t { tiny, large_state, long_stream };

Size draw_size(Rng& rng) {
  const int64_t of_100 = rng.range(1, 100);
  const int64_t large = generous(large_states_percent);
  if (of_100 <= large) return Size::large_state;
  return of_100 <= large + generous(long_streams_percent) ? Size::long_stream : Size::tiny;
}

Subject draw_subject(Rng& rng, Size size) {
  const int64_t of_100 = rng.range(1, 100);
  if (size == Size::long_stream) return of_100 <= 12 ? Subject::layer : Subject::recurrent;
  if (size == Size::large_state) {
    if (of_100 <= 12) return Subject::layer;
    return of_100 <= 55 ? Subject::delta_rule : Subject::recurrent;
  }
  if (of_100 <= 40) return Subject::layer;
  if (of_100 <= 53) return Subject::recurrent;
  if (of_100 <= 55) return Subject::dequant;
  return static_cast<Subject>(
      rng.range(static_cast<int64_t>(Subject::in_proj), static_cast<int64_t>(Subject::out_proj)));
}

// Small and odd: most of them up to 4, some around powers of two.
int64_t draw_extent(Rng& rng, Size size) {
  constexpr int64_t around_powers[] = {7, 8, 9, 15, 16, 17};
  if (size != Size::tiny) return rng.range(1, 4);
  const int64_t of_100 = rng.range(1, 100);
  if (of_100 <= 65) return rng.range(1, 4);
  return of_100 <= 88 ? rng.range(4, 8) : one_of(rng, around_powers);
}

struct Heads {
  int64_t k, v;
};

Heads draw_heads(Rng& rng, Size size) {
  constexpr Heads usual[] = {{1, 1}, {1, 1}, {1, 2}, {1, 2}, {1, 3}, {1, 4}, {2, 2}, {2, 4}};
  constexpr Heads many[] = {{2, 6}, {2, 8}, {3, 3}, {3, 6}, {4, 4}};
  if (size != Size::tiny) return {1, rng.range(1, 2)};
  return in_100(rng, 90) ? one_of(rng, usual) : one_of(rng, many);
}

Shape draw_shape(Rng& rng, Size size) {
  constexpr int64_t large[] = {64, 64, 64, 65, 80, 128};
  constexpr float epsilons[] = {1e-6F, 1e-6F, 1e-6F, 1e-5F, 1e-12F};
  const Heads heads = draw_heads(rng, size);
  Shape s;
  s.hidden_size = draw_extent(rng, size);
  s.num_k_heads = heads.k;
  s.num_v_heads = heads.v;
  s.head_k_dim = draw_extent(rng, size);
  s.head_v_dim = in_100(rng, 30) ? s.head_k_dim : draw_extent(rng, size);
  if (size == Size::large_state) {
    s.head_k_dim = one_of(rng, large);
    s.head_v_dim = std::max<int64_t>(in_100(rng, 50) ? 64 : 65, large_state / s.head_k_dim);
    s.num_v_heads = in_100(rng, 75) ? 1 : 2;
  }
  s.conv_kernel = in_100(rng, 50) ? 4 : rng.range(1, 5);
  s.rms_norm_eps = one_of(rng, epsilons);
  s.l2norm_eps = one_of(rng, epsilons);
  // Without eps the bound of a norm near zero is infinite.
  if (in_100(rng, 1)) s.rms_norm_eps = 0;
  if (in_100(rng, 1)) s.l2norm_eps = 0;
  return s;
}

// Where chunks of 4, 16, 64 and 128 tokens begin and end.
int64_t draw_tokens(Rng& rng, Size size) {
  constexpr int64_t around_chunks[] = {64, 64, 65, 65, 66, 69, 95, 97, 127, 128, 129};
  constexpr int64_t short_of_chunks[] = {1, 5, 15, 16, 17, 31, 33, 63};
  if (size == Size::long_stream) return one_of(rng, around_chunks);
  if (size == Size::large_state) return rng.range(1, 2);
  if (in_100(rng, 6)) return one_of(rng, short_of_chunks);
  return in_100(rng, 75) ? rng.range(1, 3) : rng.range(4, 6);
}

// 4-bit weights and activations come in blocks of 32, the weights in groups of four rows.
void draw_blocks(Case& c, Rng& rng) {
  if (in_100(rng, 70)) c.weights = Weights::q4;
  if (c.weights == Weights::f32 || in_100(rng, 25)) {
    c.dialect.activation = Dialect::Activation::q8_0;
  }
  struct Fitting {
    int64_t kh, kd, vh, vd;
  };
  constexpr Fitting fitting[] = {{1, 2, 1, 32}, {1, 4, 2, 16}, {2, 3, 4, 8}, {1, 8, 1, 32},
                                 {2, 8, 2, 16}, {1, 6, 4, 8},  {1, 2, 1, 64}};
  const Fitting& heads = one_of(rng, fitting);
  c.shape.hidden_size = in_100(rng, 85) ? 32 : 64;
  c.shape.num_k_heads = heads.kh;
  c.shape.head_k_dim = heads.kd;
  c.shape.num_v_heads = heads.vh;
  c.shape.head_v_dim = heads.vd;
}

void draw_matrix_shape(Case& c, Rng& rng) {
  const bool blocked = c.subject == Subject::dequant || c.weights == Weights::q4 ||
                       c.dialect.activation == Dialect::Activation::q8_0;
  constexpr int64_t blocks[] = {1, 1, 2, 3, 5, 7, 8, 9, 16, 17};
  constexpr int64_t lengths[] = {1, 2, 3, 5, 8, 31, 33, 64, 100, 255, 257, 512};
  c.rows = blocked ? 4 * rng.range(1, 4) : rng.range(1, 9);
  c.cols = blocked ? 32 * one_of(rng, blocks) : one_of(rng, lengths);
}

// What engines serve: the recurrence takes its conventions as arguments, apply takes decays by
// head, by channel or both, all else follows the engine's own dialect.
void draw_dialect(Case& c, Rng& rng) {
  using D = Dialect;
  if (c.subject == Subject::recurrent || c.subject == Subject::delta_rule) {
    c.dialect.gate_input = D::GateInput::log_g;
    constexpr D::Decay decays[] = {D::Decay::per_head, D::Decay::per_head, D::Decay::per_channel,
                                   D::Decay::g_then_gk};
    c.dialect.decay = one_of(rng, decays);
  }
  if (c.subject != Subject::recurrent || in_100(rng, 30)) return;
  if (in_100(rng, 40)) c.dialect.state_layout = D::StateLayout::vk;
  if (in_100(rng, 30)) c.dialect.head_map = D::HeadMap::tiled;
  constexpr D::QkNorm norms[] = {D::QkNorm::sum_eps, D::QkNorm::sum_eps, D::QkNorm::mean_eps,
                                 D::QkNorm::max_norm, D::QkNorm::none};
  c.dialect.qk_norm = one_of(rng, norms);
  constexpr D::ScaleOn scales[] = {D::ScaleOn::q, D::ScaleOn::q, D::ScaleOn::output,
                                   D::ScaleOn::none};
  c.dialect.scale_on = one_of(rng, scales);
  if (c.dialect.scale_on != D::ScaleOn::none && in_100(rng, 20)) c.dialect.scale = 0.25F;
  if (in_100(rng, 25)) c.dialect.gate_input = D::GateInput::linear_alpha;
  constexpr Format formats[] = {Format::f32, Format::f32, Format::f32, Format::bf16, Format::f16};
  c.dialect.state_storage = one_of(rng, formats);
  c.dialect.input_storage = one_of(rng, formats);
  c.dialect.output_storage = one_of(rng, formats);
}

// Gaps, sentinels and further slots around the state of the recurrence.
void draw_pool(Case& c, Rng& rng) {
  if (c.subject != Subject::recurrent || in_100(rng, 50)) return;
  c.pool.slots = rng.range(1, 3);
  c.pool.offset = rng.range(0, 9);
  c.pool.gap = rng.range(0, 9);
}

// What a tiled operator serves: 16-bit rows, states [vd][kd], values of more than one tile.
void make_tiled(Case& c, Rng& rng) {
  using D = Dialect;
  constexpr Format narrow[] = {Format::bf16, Format::bf16, Format::f16};
  constexpr Format states[] = {Format::bf16, Format::f16, Format::f32};
  constexpr int64_t values[] = {3, 16, 17, 18, 33};
  c.dialect.state_layout = D::StateLayout::vk;
  c.dialect.head_map = D::HeadMap::grouped;
  c.dialect.qk_norm = D::QkNorm::none;
  if (c.dialect.scale_on == D::ScaleOn::output) c.dialect.scale_on = D::ScaleOn::q;
  c.dialect.gate_input = D::GateInput::log_g;
  c.dialect.state_storage = one_of(rng, states);
  c.dialect.input_storage = one_of(rng, narrow);
  c.dialect.output_storage = c.dialect.input_storage;
  c.shape.head_v_dim = one_of(rng, values);
}

// The recurrence's stream in calls of its own.
void cut_recurrence(Case& c, Rng& rng) {
  if (c.tokens < 2 || !in_100(rng, 25)) return;
  for (int64_t left = c.tokens; left > 0;) {
    Call call;
    call.kind = CallKind::recurrent;
    const int64_t tokens = c.calls.size() == 3 ? left : rng.range(0, left);
    call.given[Argument::tokens] = tokens;
    c.calls.push_back(std::move(call));
    left -= tokens;
  }
}

}  // namespace

Case draw(Rng& rng) {
  const Size size = draw_size(rng);
  Case c;
  c.seed = rng.next() >> 44;  // short to read, and far more than a night draws
  c.subject = draw_subject(rng, size);
  c.shape = draw_shape(rng, size);
  const bool layer = c.subject == Subject::layer;
  constexpr int64_t stacks[] = {2, 2, 2, 3, 4};
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  if (layer || c.subject == Subject::recurrent) c.tokens = draw_tokens(rng, size);
  if (layer && size == Size::tiny && in_100(rng, 45)) c.shape.num_layers = one_of(rng, stacks);
  if (layer && size == Size::tiny && in_100(rng, 14)) draw_blocks(c, rng);
  if (projects && in_100(rng, 50)) draw_blocks(c, rng);
  if (projects || c.subject == Subject::dequant) draw_matrix_shape(c, rng);
  draw_dialect(c, rng);
  draw_pool(c, rng);
  const bool alone = c.subject == Subject::recurrent && size == Size::tiny;
  if (alone && in_100(rng, 50)) draw_batches(c, rng);
  if (alone && in_100(rng, 15)) make_tiled(c, rng);
  draw_numbers(c, rng);
  if (layer && in_100(rng, size == Size::tiny ? 40 : 30)) give_calls(c, rng);
  if (c.subject == Subject::recurrent && c.calls.empty()) cut_recurrence(c, rng);
  return c;
}

Case draw_case(uint64_t seed, uint64_t index) {
  Rng rng(mix64(mix64(seed) + index));
  return draw(rng);
}

}  // namespace gdn
