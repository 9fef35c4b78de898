// Claim:   a v-head reads the k-head that the head map gives it, and no other.
// Why:     heads are independent; with vh > kh consecutive v-heads share a k-head.
// Bound:   the reference's, around v 2^-j for k-head j; bits of the v-heads of other k-heads.
// Origin:  heads mapped round-robin in place of in groups; q = k hides it, and so does vh = kh.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::delta_rule && c.calls.empty(); }

int64_t k_head_of(const Case& c, const Shape& shape, int64_t v_head) {
  return c.dialect.head_map == Dialect::HeadMap::tiled ? v_head % shape.num_k_heads
                                                       : v_head / shape.v_heads_per_k_head();
}

// S = 0 and beta = 1, so that o = v (k q): k is e_0 in every head, q is 2^-j there, and v-head i
// holds i + 1 throughout.
Arrays halving_heads(const Shape& shape) {
  const auto heads = static_cast<size_t>(shape.num_v_heads);
  Arrays in = {{"q", std::vector<float>(static_cast<size_t>(shape.k_dim()), 0.0F)},
               {"k", std::vector<float>(static_cast<size_t>(shape.k_dim()), 0.0F)},
               {"v", {}},
               {"g", std::vector<float>(heads, 0.0F)},
               {"beta", std::vector<float>(heads, 1.0F)},
               {"S", std::vector<float>(static_cast<size_t>(shape.state_count()), 0.0F)}};
  for (int64_t j = 0; j < shape.num_k_heads; ++j) {
    in["k"][static_cast<size_t>(j * shape.head_k_dim)] = 1;
    in["q"][static_cast<size_t>(j * shape.head_k_dim)] = std::ldexp(1.0F, static_cast<int>(-j));
  }
  for (int64_t i = 0; i < shape.v_dim(); ++i) {
    in["v"].push_back(static_cast<float>(i / shape.head_v_dim + 1));
  }
  return in;
}

// The heads that do not read k-head `j` keep every bit of S and o when its key is turned over.
Verdict others_unmoved(const Case& c, const Lab& lab, const Shape& shape, const Worked& before) {
  const int64_t j = Rng{c.seed}.stream("turned").range(0, shape.num_k_heads - 1);
  Arrays in = halving_heads(shape);
  in["k"][static_cast<size_t>(j * shape.head_k_dim)] = -3;
  const Worked after = work(lab, worked_case(c, Subject::delta_rule, shape, in));
  if (!after.served.holds()) return after.served;
  Verdict all = claim(true, "");
  for (const auto& [name, want] : before.got) {
    const std::vector<float>& got = after.got.at(name);
    const auto of_head = static_cast<ptrdiff_t>(want.size()) / shape.num_v_heads;
    for (int64_t i = 0; i < shape.num_v_heads; ++i) {
      const std::vector<float> was(want.begin() + i * of_head, want.begin() + (i + 1) * of_head);
      const std::vector<float> is(got.begin() + i * of_head, got.begin() + (i + 1) * of_head);
      const std::string where = name + " of v-head " + std::to_string(i) + " with k-head " +
                                std::to_string(j) + " turned over";
      const bool reads_it = k_head_of(c, shape, i) == j;
      all = both(std::move(all),
                 reads_it ? claim(is != was, where + " does not move") : same_bits(where, is, was));
    }
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("heads");
  const bool shares = c.shape.num_k_heads > 1 && c.shape.v_heads_per_k_head() > 1;
  const int64_t kh = shares ? std::min<int64_t>(c.shape.num_k_heads, 16) : 2;
  const int64_t ratio =
      shares ? std::min<int64_t>(c.shape.v_heads_per_k_head(), 4) : rng.range(2, 3);
  const Shape shape = with_heads(c.shape, kh, std::min<int64_t>(c.shape.head_k_dim, 4), kh * ratio,
                                 std::min<int64_t>(c.shape.head_v_dim, 4));
  const Worked token = work(lab, worked_case(c, Subject::delta_rule, shape, halving_heads(shape)));
  if (!token.served.holds()) return token.served;
  std::vector<double> o;
  for (int64_t i = 0; i < shape.v_dim(); ++i) {
    const int64_t head = i / shape.head_v_dim;
    o.push_back(
        std::ldexp(static_cast<double>(head + 1), static_cast<int>(-k_head_of(c, shape, head))));
  }
  return both(token.is("o", o), others_unmoved(c, lab, shape, token));
}

const Registered self{{.claim = "a v-head reads its own k-head and no other",
                       .applies = applies,
                       .check = check,
                       .kills = {"head_map_tiled"}}};

}  // namespace
}  // namespace gdn
