// Claim:   heads of equal weights give equal results, the first and the last and all between.
// Why:     a head's numbers are a function of its weights and h; its index is not among them.
// Bound:   equal bits where the engine declares the order of its sums, else both bounds.
// Origin:  a last head whose tail is rounded, skipped or read from the next tensor.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 6;
const std::set<Tensor> compared = {Tensor::BETA, Tensor::G, Tensor::V,
                                   Tensor::O,    Tensor::S, Tensor::ONORM};

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.tokens >= 1 && c.weights == Weights::f32 &&
         c.shape.num_v_heads >= 2;
}

// The first `size` of every part of `count` numbers, in all of the part's heads.
std::vector<float> first_repeated(const std::vector<float>& numbers, int64_t first, int64_t count,
                                  int64_t size) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(numbers[static_cast<size_t>(first + i % size)]);
  }
  return all;
}

// q, k and v rows, or taps, `width` numbers each.
std::vector<float> equal_channels(const std::vector<float>& numbers, const Shape& s,
                                  int64_t width) {
  std::vector<float> all;
  const int64_t k_count = s.k_dim() * width;
  for (const int64_t first : {int64_t{0}, k_count}) {
    const auto part = first_repeated(numbers, first, k_count, s.head_k_dim * width);
    all.insert(all.end(), part.begin(), part.end());
  }
  const auto values = first_repeated(numbers, 2 * k_count, s.v_dim() * width, s.head_v_dim * width);
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

Case with_equal_heads(const Case& c, const LayerNumbers& n) {
  const Shape& s = c.shape;
  const int64_t hidden = s.hidden_size;
  const int64_t heads = s.num_v_heads;
  return c.with_numbers("qkv", equal_channels(n.qkv, s, hidden))
      .with_numbers("conv", equal_channels(n.conv, s, s.conv_kernel))
      .with_numbers("z", first_repeated(n.z, 0, s.v_dim() * hidden, s.head_v_dim * hidden))
      .with_numbers("a", first_repeated(n.a, 0, heads * hidden, hidden))
      .with_numbers("b", first_repeated(n.b, 0, heads * hidden, hidden))
      .with_numbers("A_log", first_repeated(n.A_log, 0, heads, 1))
      .with_numbers("dt_bias", first_repeated(n.dt_bias, 0, heads, 1));
}

Verdict check(const Case& given, const Lab& lab) {
  const int64_t tokens = std::min(given.tokens, tokens_max);
  std::string why;
  const std::optional<Numbers> numbers = materialise(given.with_calls({}), &why);
  if (!numbers) return not_applicable(why);
  const Case c = with_equal_heads(given, numbers->layers.front())
                     .with_calls(fed_calls(given, tokens, compared));
  const Observation seen = lab.run(c);
  Verdict all = seen.served();
  if (!all.holds()) return all;
  const Contract& k = lab.contract();
  const bool bits =
      in_declared_order({&k.in_proj, &k.conv, &k.qk_norm, &k.delta_u, &k.delta_o, &k.gated_norm});
  const auto heads = static_cast<size_t>(c.shape.num_v_heads);
  for (const auto& [tensor, values] : seen.calls.back().reads) {
    const size_t size = values.size() / heads;
    const std::span<const float> first(values.data(), size);
    for (size_t head = 1; head < heads; ++head) {
      const std::span<const float> other(values.data() + head * size, size);
      const std::string what =
          std::string(name_of(tensor)) + " of head " + std::to_string(head) + " against head 0";
      if (bits) {
        all = both(std::move(all), same_bits(what, other, first));
        continue;
      }
      const Bounded& want = lab.expect(c).calls.back().reads.at(tensor);
      const Verdict v =
          agree(what, {other, slice(want, head * size, size)}, {{first, slice(want, 0, size)}});
      all = both(std::move(all), v);
    }
  }
  return unless_empty(std::move(all));
}

const Registered self{{.claim = "heads of equal weights give equal results",
                       .applies = applies,
                       .check = check,
                       .kills = {"last_head_in_half_precision"}}};

}  // namespace
}  // namespace gdn
