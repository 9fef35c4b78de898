// Claim:   with the key heads and their groups of value heads in another order every tensor of a
//          head follows it, and OUT stays.
// Why:     a head sees its own rows of the projections and its own gates, nothing of its
// neighbours. Bound:   equal bits up to ONORM where the engine declares the order of its sums, else
// both bounds;
//          both bounds for OUT, which adds heads in another order.
// Origin:  gates of the first head for all, heads paired by their index, one head's precision.
#include <algorithm>
#include <numeric>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 4;
const std::set<Tensor> compared = {Tensor::BETA, Tensor::G,     Tensor::Q,   Tensor::K, Tensor::V,
                                   Tensor::O,    Tensor::ONORM, Tensor::OUT, Tensor::S};

// Only where heads are grouped does a key head take a block of value heads along.
bool applies(const Case& c) {
  return c.subject == Subject::layer && c.tokens >= 1 && c.weights == Weights::f32 &&
         c.dialect.activation == Dialect::Activation::f32 && c.shape.num_k_heads >= 2 &&
         c.dialect.head_map == Dialect::HeadMap::grouped;
}

// Blocks of `size` rows from row `first` on, in the order of the key heads.
void append_blocks(std::vector<int64_t>& rows, const std::vector<int64_t>& heads, int64_t size,
                   int64_t first) {
  for (const int64_t head : heads) {
    for (int64_t i = 0; i < size; ++i) rows.push_back(first + head * size + i);
  }
}

std::vector<int64_t> blocks(const std::vector<int64_t>& heads, int64_t size) {
  std::vector<int64_t> rows;
  append_blocks(rows, heads, size, 0);
  return rows;
}

Case permuted(const Case& c, const LayerNumbers& n, const std::vector<int64_t>& heads) {
  const Shape& s = c.shape;
  const int64_t group = s.v_heads_per_k_head();
  std::vector<int64_t> channels;
  append_blocks(channels, heads, s.head_k_dim, 0);
  append_blocks(channels, heads, s.head_k_dim, s.k_dim());
  append_blocks(channels, heads, group * s.head_v_dim, 2 * s.k_dim());
  const std::vector<int64_t> values = blocks(heads, group * s.head_v_dim);
  const std::vector<int64_t> gates = blocks(heads, group);
  return c.with_numbers("qkv", rows_in_order(n.qkv, s.hidden_size, channels))
      .with_numbers("conv", rows_in_order(n.conv, s.conv_kernel, channels))
      .with_numbers("z", rows_in_order(n.z, s.hidden_size, values))
      .with_numbers("a", rows_in_order(n.a, s.hidden_size, gates))
      .with_numbers("b", rows_in_order(n.b, s.hidden_size, gates))
      .with_numbers("A_log", rows_in_order(n.A_log, 1, gates))
      .with_numbers("dt_bias", rows_in_order(n.dt_bias, 1, gates))
      .with_numbers("out", columns_in_order(n.out, values));
}

std::vector<int64_t> order_of(Tensor tensor, const Shape& s, const std::vector<int64_t>& heads) {
  const bool is_out = tensor == Tensor::OUT;
  const int64_t count = element_count(tensor, s);
  if (!is_out) return blocks(heads, count / s.num_k_heads);
  std::vector<int64_t> same(static_cast<size_t>(count));
  std::iota(same.begin(), same.end(), 0);
  return same;
}

Verdict check(const Case& given, const Lab& lab) {
  const int64_t tokens = std::min(given.tokens, tokens_max);
  const Case c = given.with_calls(fed_calls(given, tokens, compared));
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return not_applicable(why);
  const std::vector<int64_t> heads =
      shifted_order(c.shape.num_k_heads, Rng{c.seed}.stream("heads"));
  const Case other = permuted(c, numbers->layers.front(), heads);
  const Observation one = lab.run(c);
  const Observation two = lab.run(other);
  Verdict all = both(one.served(), two.served());
  if (!all.holds()) return all;
  const Contract& k = lab.contract();
  const bool bits =
      in_declared_order({&k.in_proj, &k.conv, &k.qk_norm, &k.delta_u, &k.delta_o, &k.gated_norm});
  const TokenExpectation of_one = lab.expect(c).calls.back().reads;
  const TokenExpectation of_two = lab.expect(other).calls.back().reads;
  for (const Tensor tensor : compared) {
    const std::vector<int64_t> places = order_of(tensor, c.shape, heads);
    const Judged of_c = {one.calls.back().reads.at(tensor), of_one.at(tensor)};
    const Judged of_other = {two.calls.back().reads.at(tensor), of_two.at(tensor)};
    const std::string what = std::string(name_of(tensor)) + " of permuted heads";
    all = both(std::move(all),
               agree_in_order(what, of_other, of_c, places, bits && tensor != Tensor::OUT));
  }
  return unless_empty(std::move(all));
}

const Registered self{
    {.claim = "heads in another order give the same layer",
     .applies = applies,
     .check = check,
     .kills = {"a_log_of_the_first_head", "head_map_tiled", "last_head_in_half_precision"},
     .one_in = 4}};

}  // namespace
}  // namespace gdn
