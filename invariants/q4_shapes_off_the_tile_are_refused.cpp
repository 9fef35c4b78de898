// Claim:   4-bit matrices have rows in fours and columns in blocks of 32; others are refused.
// Why:     a tile is 4 rows by 32 columns: what is left over has no place in the bytes.
// Bound:   none: INVALID_ARGUMENT, nothing written; pool and decoder give their bytes as before.
// Origin:  a last row group of one row, decoded from the bytes behind the matrix.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) { return c.subject == Subject::layer; }

std::vector<WrongCall> off_the_tile(K kind, Rng& rng) {
  const int64_t rows = q4_tile_rows * rng.range(1, 2);
  const int64_t cols = q4_block_weights * rng.range(1, 2);
  const std::pair<int64_t, int64_t> wrong[] = {{rows + rng.range(1, q4_tile_rows - 1), cols},
                                               {rows, cols + rng.range(1, q4_block_weights - 1)},
                                               {-rows, cols},
                                               {rows, -cols},
                                               {-rows, -cols}};
  std::vector<WrongCall> calls;
  for (const auto& [r, n] : wrong) {
    Call call = call_of(kind, {{A::rows, r}, {A::cols, n}});
    if (kind == K::pool_put) call.given[A::key] = 7;
    calls.push_back({std::move(call), GDN_INVALID_ARGUMENT,
                     std::to_string(r) + " rows and " + std::to_string(n) + " columns"});
  }
  return calls;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  Rng rng = Rng{c.seed}.stream("tiles");
  Verdict all;
  if (is_served(c, lab, call_of(K::dequant))) {
    all = refused_without_trace(c, lab, {call_of(K::dequant)}, off_the_tile(K::dequant, rng),
                                {call_of(K::dequant)});
  }
  const Call init = call_of(K::pool_init, {{A::bytes, 1 << 16}});
  const Call put = call_of(K::pool_put, {{A::key, 7}, {A::rows, 4}, {A::cols, 64}});
  const Call get = call_of(K::pool_get, {{A::key, 7}});
  if (!is_served(c, lab, init) || !is_served(c, lab, put) || !is_served(c, lab, get)) return all;
  Verdict pool = refused_without_trace(c, lab, {init}, off_the_tile(K::pool_put, rng), {put, get});
  return all.elements == 0 ? pool : both(std::move(all), std::move(pool));
}

const Registered self{{.claim = "4-bit matrices off the tile are refused",
                       .applies = applies,
                       .check = check,
                       .kills = {"odd_tile_rows_accepted", "odd_tile_rows_decoded"}}};

}  // namespace
}  // namespace gdn
