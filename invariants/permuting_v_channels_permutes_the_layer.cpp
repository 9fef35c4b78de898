// Claim:   with the value channels of every head in another order S, O and the rest follow; OUT
// stays. Why:     columns of S are independent, and conv, gate and norm weights go with their
// channels. Bound:   equal bits up to O where the engine declares the order of its sums, else both
// bounds;
//          both bounds behind O, whose mean and projection add in another order.
// Origin:  a channel's index in its numbers, channels read from their neighbours' place.
#include <algorithm>
#include <numeric>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 4;
const std::set<Tensor> compared = {Tensor::V, Tensor::O, Tensor::ONORM, Tensor::OUT, Tensor::S};

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.tokens >= 1 && c.weights == Weights::f32 &&
         c.dialect.activation == Dialect::Activation::f32 && c.shape.head_v_dim >= 2;
}

// The same order within each of `groups`, the first `kept` rows in their place.
std::vector<int64_t> in_groups(const std::vector<int64_t>& order, int64_t groups, int64_t kept) {
  std::vector<int64_t> all(static_cast<size_t>(kept));
  std::iota(all.begin(), all.end(), 0);
  const auto size = static_cast<int64_t>(order.size());
  for (int64_t group = 0; group < groups; ++group) {
    for (const int64_t i : order) all.push_back(kept + group * size + i);
  }
  return all;
}

Case permuted(const Case& c, const LayerNumbers& n, const std::vector<int64_t>& order) {
  const Shape& s = c.shape;
  const std::vector<int64_t> channels = in_groups(order, s.num_v_heads, 2 * s.k_dim());
  const std::vector<int64_t> values = in_groups(order, s.num_v_heads, 0);
  return c.with_numbers("qkv", rows_in_order(n.qkv, s.hidden_size, channels))
      .with_numbers("conv", rows_in_order(n.conv, s.conv_kernel, channels))
      .with_numbers("z", rows_in_order(n.z, s.hidden_size, values))
      .with_numbers("norm", rows_in_order(n.norm, 1, order))
      .with_numbers("out", columns_in_order(n.out, values));
}

// Columns of a tensor in their new order; OUT has none.
std::vector<int64_t> order_of(Tensor tensor, const Shape& s, const std::vector<int64_t>& order) {
  if (tensor == Tensor::OUT) return in_groups({}, 0, s.hidden_size);
  return in_groups(order, s.num_v_heads * (tensor == Tensor::S ? s.head_k_dim : 1), 0);
}

Verdict check(const Case& given, const Lab& lab) {
  const int64_t tokens = std::min(given.tokens, tokens_max);
  const Case c = given.with_calls(fed_calls(given, tokens, compared));
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return not_applicable(why);
  const std::vector<int64_t> order =
      shifted_order(c.shape.head_v_dim, Rng{c.seed}.stream("channels"));
  const Case other = permuted(c, numbers->layers.front(), order);
  const Observation one = lab.run(c);
  const Observation two = lab.run(other);
  Verdict all = both(one.served(), two.served());
  if (!all.holds()) return all;
  const Contract& k = lab.contract();
  const bool bits = in_declared_order({&k.in_proj, &k.conv, &k.qk_norm, &k.delta_u, &k.delta_o});
  const TokenExpectation of_one = lab.expect(c).calls.back().reads;
  const TokenExpectation of_two = lab.expect(other).calls.back().reads;
  for (const Tensor tensor : compared) {
    const std::vector<int64_t> places = order_of(tensor, c.shape, order);
    const bool behind_O = tensor == Tensor::ONORM || tensor == Tensor::OUT;
    const Judged of_c = {one.calls.back().reads.at(tensor), of_one.at(tensor)};
    const Judged of_other = {two.calls.back().reads.at(tensor), of_two.at(tensor)};
    const std::string what = std::string(name_of(tensor)) + " of permuted channels";
    all = both(std::move(all), agree_in_order(what, of_other, of_c, places, bits && !behind_O));
  }
  return unless_empty(std::move(all));
}

const Registered self{{.claim = "value channels in another order give the same layer",
                       .applies = applies,
                       .check = check,
                       .kills = {"channel_index_in_the_decay"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
