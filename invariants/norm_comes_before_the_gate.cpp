// Claim:   y = n w silu(z) with n = o / sqrt(mean o^2 + eps): n does not know z, and eps stands
//          under the root.
// Why:     the gate multiplies what has been normed.
// Bound:   the reference's, around a / sqrt(a^2 + eps) w silu(z) for heads of equal size a.
// Origin:  the product of o and the gate normed; eps added to the root.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// With eps = 1e-6: 0.9999995, 0.70710678 and 0.0995037 of w silu(z).
constexpr float sizes[] = {1.0F, 1e-3F, 1e-4F, 0.0F};
constexpr int64_t size_count = sizeof(sizes) / sizeof(sizes[0]);

bool applies(const Case& c) { return c.subject == Subject::gated_norm && c.calls.empty(); }

Verdict check(const Case& c, const Lab& lab) {
  const Rng rng{c.seed};
  const int64_t dim = std::min<int64_t>(c.shape.head_v_dim, 128);
  Shape shape = with_heads(c.shape, 1, c.shape.head_k_dim, size_count, dim);
  shape.rms_norm_eps = 1e-6F;
  Arrays in = {{"o", {}},
               {"z", draw(rng.stream("z"), Pattern::dyadic, size_count * dim, 3)},
               {"weight", draw(rng.stream("weight"), Pattern::dyadic, dim, 0)}};
  // A head of one element is its own norm; at least it is not 0 after the gate.
  in["weight"].front() = 1;
  std::vector<double> y;
  for (int64_t i = 0; i < size_count * dim; ++i) {
    float& z = in["z"][static_cast<size_t>(i)];
    if (z == 0) z = 2;
    const float a = sizes[i / dim] * (i % 3 == 1 ? -1.0F : 1.0F);
    in["o"].push_back(a);
    const double n = a / std::sqrt(double{a} * a + double{shape.rms_norm_eps});
    y.push_back(n * in["weight"][static_cast<size_t>(i % dim)] * z / (1 + std::exp(-double{z})));
  }
  const Worked token = work(lab, worked_case(c, Subject::gated_norm, shape, in));
  return token.served.holds() ? token.is("y", y) : token.served;
}

const Registered self{
    {.claim = "the gate multiplies what has been normed already",
     .applies = applies,
     .check = check,
     .kills = {"gate_before_norm", "rms_eps_outside_root", "norm_over_all_heads"}}};

}  // namespace
}  // namespace gdn
