// Claim:   a pool takes what fits it to the byte, and refuses the matrix that does not.
// Why:     capacity counts tile bytes alone: no more are promised, and none are taken from others.
// Bound:   none: the bytes of the pool and the next steps in equal bits.
// Origin:  a capacity rounded up to whole tiles, or compared before the new matrix was added.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  const Shape& s = c.shape;
  const int64_t bytes[] = {q4_bytes(s.conv_dim(), s.hidden_size),
                           q4_bytes(s.v_dim(), s.hidden_size), q4_bytes(s.hidden_size, s.v_dim())};
  Rng rng = Rng{c.seed}.stream("capacity");
  const int64_t last = rng.range(0, 2);
  // The matrix that is put last lacks one byte, one tile, or any number of bytes.
  const int64_t lacks[] = {1, q4_tile_bytes, rng.range(1, bytes[last])};
  const int64_t lacking = lacks[rng.range(0, 2)];
  std::vector<Call> before;
  const auto fill = [&](int64_t capacity) {
    before.push_back(call_of(K::pool_init, {{A::bytes, capacity}}));
    for (int64_t matrix = 0; matrix < 3; ++matrix) {
      if (matrix != last) before.push_back(call_of(K::pool_put, {{A::matrix, matrix}}));
    }
  };
  fill(bytes[0] + bytes[1] + bytes[2] - lacking);
  const Call put_last = call_of(K::pool_put, {{A::matrix, last}});
  std::vector<Call> after;
  for (int64_t matrix = 0; matrix < 3; ++matrix) {
    if (matrix != last) after.push_back(call_of(K::pool_get, {{A::matrix, matrix}}));
  }
  const WrongCall too_large{put_last, GDN_OUT_OF_MEMORY,
                            std::to_string(lacking) + " bytes more than the pool has"};
  const Verdict refuses = refused_without_trace(c, lab, before, {too_large}, after);

  before.clear();
  fill(bytes[0] + bytes[1] + bytes[2]);
  before.push_back(put_last);
  const Observation full = lab.run(c.with_calls(before));
  if (full.calls.empty() || !full.calls.front().ok()) return both(refuses, full.served());
  Verdict fits = full.conduct;
  for (size_t i = 1; i < before.size(); ++i) {
    fits = both(std::move(fits), claim(full.calls[i].ok(), "a matrix that fits the pool to the " +
                                                               ("byte: " + full.calls[i].text)));
  }
  const Call tile = call_of(K::pool_put, {{A::key, 99}, {A::rows, 4}, {A::cols, q4_block_weights}});
  const WrongCall one_more{tile, GDN_OUT_OF_MEMORY, "a tile more than a full pool has room for"};
  if (!fits.holds()) return both(refuses, std::move(fits));
  return both(refuses, std::move(fits), refused_without_trace(c, lab, before, {one_more}, after));
}

const Registered self{{.claim = "a pool takes what fits it to the byte and no more",
                       .applies = applies,
                       .check = check,
                       .kills = {"pool_capacity_off_by_one_tile"}}};

}  // namespace
}  // namespace gdn
