// Drawing cases: dimensions that are no multiples of a warp or of a step, all ratios of heads, all
// lengths of the convolution, special numbers now and then.
#include "tests/gpu/drawn_cases.h"

#include <numeric>

#include "reference/rng.h"

namespace gdn::gpu {
namespace {

Call read_of(Tensor tensor, int64_t layer) {
  return call_of(CallKind::read,
                 {{Argument::layer, layer}, {Argument::tensor, static_cast<int64_t>(tensor)}});
}

constexpr int64_t stream_tokens = 12;

// Set-up, then every way of feeding a token and of moving a state; the last layer is read after
// forward.
std::vector<Call> every_call(const Case& c) {
  const int64_t last = c.shape.num_layers - 1;
  std::vector<Call> calls = setup_calls(c);
  const auto add = [&calls](Call call) { calls.push_back(std::move(call)); };
  add(observed(call_of(CallKind::step, {{Argument::layer, 0}})));
  add(observed(call_of(CallKind::step, {{Argument::layer, 0}})));
  add(observed(call_of(CallKind::run, {{Argument::layer, last}, {Argument::tokens, 3}})));
  add(call_of(CallKind::snapshot, {{Argument::layer, -1}, {Argument::id, 0}}));
  add(observed(
      call_of(CallKind::forward,
              {{Argument::first_token, 5}, {Argument::tokens, 2}, {Argument::read_layer, 0}})));
  add(observed(
      call_of(CallKind::forward, {{Argument::first_token, 7}, {Argument::read_layer, last}})));
  add(call_of(CallKind::state_export, {{Argument::layer, last}, {Argument::id, 0}}));
  add(call_of(CallKind::rollback, {{Argument::id, 0}}));
  add(read_of(Tensor::S, last));
  add(observed(call_of(CallKind::step, {{Argument::layer, 0}, {Argument::first_token, 8}})));
  add(call_of(CallKind::state_import, {{Argument::layer, last}, {Argument::id, 0}}));
  add(observed(call_of(CallKind::step, {{Argument::layer, last}, {Argument::first_token, 9}})));
  add(call_of(CallKind::reset, {{Argument::layer, -1}}));
  add(read_of(Tensor::HIST, 0));
  add(observed(
      call_of(CallKind::forward,
              {{Argument::first_token, 10}, {Argument::tokens, 2}, {Argument::read_layer, last}})));
  add(call_of(CallKind::state_export, {{Argument::layer, 0}, {Argument::id, 1}}));
  return calls;
}

// 4-bit rows need vh vd and hidden in blocks of 32, and conv_dim in fours; hidden is then an odd
// multiple of 32.
void make_blocks_whole(Shape& s) {
  s.hidden_size = 32 * (s.hidden_size / 64) * 2 + 32;
  const int64_t step = 32 / std::gcd<int64_t>(32, s.num_v_heads);
  s.head_v_dim = (s.head_v_dim + step - 1) / step * step;
  if (s.num_k_heads % 2 == 1 && s.head_k_dim % 2 == 1) ++s.head_k_dim;
}

Shape drawn_shape(Rng& rng, bool in_blocks) {
  constexpr int64_t ratios[] = {1, 2, 3, 5};
  Shape s;
  s.num_k_heads = rng.range(0, 2) == 0 ? 1 : rng.range(1, 4);
  s.num_v_heads = s.num_k_heads * ratios[rng.range(0, 3)];
  // Now and then more rows than a thread of the delta rule holds.
  s.head_k_dim = rng.range(0, 7) == 0 ? rng.range(129, 200) : rng.range(1, 70);
  s.head_v_dim = rng.range(1, 70);
  s.conv_kernel = rng.range(1, 6);
  s.hidden_size = rng.range(0, 5) == 0 ? rng.range(513, 1100) : rng.range(1, 300);
  s.num_layers = rng.range(1, 3);
  if (in_blocks) make_blocks_whole(s);
  if (s.head_k_dim == s.head_v_dim) s.head_k_dim += 2;
  return s;
}

Recipe drawn_recipe(Rng& rng) {
  Recipe recipe;
  switch (rng.range(0, 9)) {
    case 0:
      recipe.pattern = static_cast<int64_t>(Pattern::any_finite);
      break;
    case 1:
      recipe.pattern = static_cast<int64_t>(Pattern::any_bits);
      break;
    case 2:
      recipe.pattern = static_cast<int64_t>(Pattern::subnormal);
      break;
    case 3:
      recipe.input_exponent = rng.range(-140, 120);
      break;
    case 4:
      recipe.exponent_spread = rng.range(0, 60);
      break;
    default:
      break;
  }
  recipe.horizon_tokens = int64_t{1} << rng.range(0, 16);
  recipe.beta_logit = rng.range(-12, 12);
  recipe.coherence_16ths = rng.range(0, 16);
  recipe.zero_16ths = rng.range(0, 4);
  return recipe;
}

Case drawn_operator(Rng& rng, uint64_t seed) {
  Case c;
  c.seed = seed;
  c.subject = static_cast<Subject>(rng.range(1, 9));
  const bool is_matrix = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  const bool q4 = is_matrix && rng.range(0, 1) == 1;
  if (q4) c.weights = Weights::q4;
  if (is_matrix && rng.range(0, 2) == 0) c.dialect.activation = Dialect::Activation::q8_0;
  const bool q8 = c.dialect.activation == Dialect::Activation::q8_0;
  c.shape = drawn_shape(rng, false);
  c.shape.num_layers = 1;
  c.recipe = drawn_recipe(rng);
  const bool in_tiles = q4 || c.subject == Subject::dequant;
  if (is_matrix || in_tiles) {
    c.rows = in_tiles ? 4 * rng.range(1, 40) : rng.range(1, 160);
    c.cols = in_tiles || q8 ? 32 * rng.range(1, 40) : rng.range(1, 1300);
  }
  if (c.subject == Subject::recurrent) {
    c.tokens = rng.range(1, 6);
    c.dialect.state_layout = static_cast<Dialect::StateLayout>(rng.range(0, 1));
    c.dialect.head_map = static_cast<Dialect::HeadMap>(rng.range(0, 1));
    c.dialect.state_storage = static_cast<Format>(rng.range(0, 2));
    c.dialect.input_storage = static_cast<Format>(rng.range(0, 2));
    c.dialect.gate_input = static_cast<Dialect::GateInput>(rng.range(0, 1));
  }
  return c;
}

}  // namespace

Call observed(Call call) {
  call.reads = every_tensor();
  return call;
}

Case layer_case(const Shape& shape, Weights weights, uint64_t seed) {
  Case c;
  c.shape = shape;
  c.weights = weights;
  c.seed = seed;
  c.tokens = stream_tokens;
  c.calls = every_call(c);
  return c;
}

Case drawn_case(uint64_t seed, int64_t index) {
  Rng rng = Rng(seed).stream("case " + std::to_string(index));
  const uint64_t own = rng.next() >> 16;
  if (index % 8 == 7) {
    const Case c = drawn_operator(rng, own);
    if (why_invalid(c).empty()) return c;
  }
  const bool q4 = index % 2 == 1;
  const bool q8 = rng.range(0, 3) == 0;
  Case c = layer_case(drawn_shape(rng, q4 || q8), q4 ? Weights::q4 : Weights::f32, own);
  if (q8) c.dialect.activation = Dialect::Activation::q8_0;
  c.recipe = drawn_recipe(rng);
  return c;
}

std::string kind_of(const Case& c) {
  std::string kind(name_of(c.subject));
  const bool is_matrix = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  if (c.subject == Subject::layer || is_matrix) {
    kind += ", " + std::string(name_of(c.weights));
    if (c.dialect.activation == Dialect::Activation::q8_0) kind += ", q8_0 activations";
  }
  return kind;
}

}  // namespace gdn::gpu
