// Claim:   open refuses a shape that no layer can have, and says why.
// Why:     sizes are formed from the shape before anything else is known; one that wraps around
//          gives a small allocation for large indices.
// Bound:   none: a refusal with its reason; the shape itself opens.
// Origin:  kh that does not divide vh; dimensions whose product overflows 63 bits.
#include <limits>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer; }

struct Field {
  const char* name;
  int64_t Shape::*member;
};
constexpr Field fields[] = {
    {"hidden_size", &Shape::hidden_size}, {"num_k_heads", &Shape::num_k_heads},
    {"head_k_dim", &Shape::head_k_dim},   {"num_v_heads", &Shape::num_v_heads},
    {"head_v_dim", &Shape::head_v_dim},   {"conv_kernel", &Shape::conv_kernel},
    {"num_layers", &Shape::num_layers}};

Verdict check(const Case& c, const Lab& lab) {
  const CallObserved right = lab.opened(c.shape);
  if (!right.ok()) return refusal(right.status, right.text);
  Verdict all = claim(true, "");
  const auto refuse = [&](const Shape& shape, const std::string& what) {
    const CallObserved seen = lab.opened(shape);
    all = both(std::move(all), claim(!seen.ok(), "open: " + what + ": expected a refusal, got OK"),
               claim(seen.ok() || !seen.text.empty(), "open: " + what + ": refused without words"));
  };
  Rng rng = Rng{c.seed}.stream("shapes");
  const Field& field = fields[rng.range(0, std::ssize(fields) - 1)];
  for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN, -(c.shape.*field.member)}) {
    Shape shape = c.shape;
    shape.*field.member = value;
    refuse(shape, std::string(field.name) + " = " + std::to_string(value));
  }
  // Two dimensions whose product, the elements of S, of a projection or of HIST, no count can hold.
  const std::pair<int64_t Shape::*, int64_t Shape::*> products[] = {
      {&Shape::head_k_dim, &Shape::head_v_dim},
      {&Shape::hidden_size, &Shape::head_v_dim},
      {&Shape::conv_kernel, &Shape::head_k_dim}};
  const auto& [one, two] = products[rng.range(0, std::ssize(products) - 1)];
  Shape large = c.shape;
  large.*one = int64_t{1} << rng.range(32, 40);
  large.*two = int64_t{1} << rng.range(32, 40);
  refuse(large, "dimensions whose product overflows");

  Shape heads = c.shape;
  heads.num_k_heads = rng.range(2, 5);
  heads.num_v_heads = heads.num_k_heads * rng.range(1, 3) + rng.range(1, heads.num_k_heads - 1);
  refuse(heads, "kh " + std::to_string(heads.num_k_heads) + " and vh " +
                    std::to_string(heads.num_v_heads));
  std::swap(heads.num_k_heads, heads.num_v_heads);
  refuse(heads, "more k-heads than v-heads");
  for (float Shape::*const eps : {&Shape::rms_norm_eps, &Shape::l2norm_eps}) {
    for (const float value : {-1e-6F, std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity()}) {
      Shape shape = c.shape;
      shape.*eps = value;
      refuse(shape, "eps of " + std::to_string(value));
    }
  }
  return all;
}

const Registered self{{.claim = "open refuses a shape that no layer can have",
                       .applies = applies,
                       .check = check,
                       .kills = {"kh_not_dividing_vh_accepted"}}};

}  // namespace
}  // namespace gdn
