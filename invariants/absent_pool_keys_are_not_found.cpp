// Claim:   a key that is not in the pool is not found: never put, or gone with the pool it was in.
// Why:     a lookup compares all 64 bits, and a pool that is cleared or built anew is empty.
// Bound:   none: NOT_FOUND; the bytes of the pool and the next steps in equal bits.
// Origin:  keys cut to 32 bits; a directory that outlived its pool.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

WrongCall absent(int64_t key, const std::string& what) {
  return {call_of(K::pool_get, {{A::key, key}}), GDN_NOT_FOUND, what + std::to_string(key)};
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  const int64_t keys = 3 * c.shape.num_layers;  // from 1 on: see pool_put in reference/case.h
  Rng rng = Rng{c.seed}.stream("absent keys");
  std::vector<WrongCall> wrong = {absent(0, "key "), absent(keys + 1, "key ")};
  // A key that differs from one that is there in one of its upper bits.
  for (const int64_t bit : {rng.range(20, 31), int64_t{32}, rng.range(33, 61)}) {
    wrong.push_back(absent(rng.range(1, keys) + (int64_t{1} << bit), "key "));
  }
  std::vector<Call> present = setup_calls(c);
  made::append(present, steps_of_all_layers(c, 0));
  std::vector<Call> after = pool_reads(c);
  made::append(after, steps_of_all_layers(c, c.tokens - 1));
  Verdict all = refused_without_trace(c, lab, present, wrong, after);

  const bool clears = rng.range(0, 1) == 1;
  present.push_back(call_of(clears ? K::pool_clear : K::pool_init));
  std::vector<WrongCall> gone;
  for (int64_t key = 1; key <= 3; ++key) {
    gone.push_back(absent(key, clears ? "a cleared pool and key " : "a new pool and key "));
  }
  std::vector<Call> put_again;
  for (const Call& call : setup_calls(c)) {
    if (call.kind == K::pool_put || call.kind == K::bind_q4) put_again.push_back(call);
  }
  made::append(put_again, after);
  return both(std::move(all), refused_without_trace(c, lab, present, gone, put_again));
}

const Registered self{{.claim = "a key that is not in the pool is not found",
                       .applies = applies,
                       .check = check,
                       .kills = {"absent_pool_key_is_empty", "pool_keys_of_32_bits"}}};

}  // namespace
}  // namespace gdn
