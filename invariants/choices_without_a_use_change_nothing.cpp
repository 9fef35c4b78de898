// Claim:   what recurrent is told of slots, codings, snapshots, scales and strides that the call
//          does not use changes no bit, and is served.
// Why:     one table of arguments serves all callers, who fill what they do not need with what
//          they have at hand.
// Bound:   none: equal bits.
// Origin:  a range of choices that ended before its last.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Args = gdn_recurrent_args;
using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

// One sequence in slot 0: none is coded, no slot is negative, the final state alone is kept.
const std::function<void(Args&)> unused[] = {
    [](Args& args) { args.sequence_coding = GDN_LENGTHS; },
    [](Args& args) { args.sequence_coding = GDN_START_AND_LENGTHS; },
    [](Args& args) { args.padding = GDN_NEGATIVE_ZEROES; },
    [](Args& args) { args.padding = GDN_NO_PADDING; }, [](Args& args) { args.num_snapshots = 3; },
    [](Args& args) {
      if (args.scale_is_given == 0) args.scale = 77;
      if (args.qk_norm == GDN_QK_NORM_NONE) args.qk_norm_eps = 0.5F;
    },
    [](Args& args) {
      for (gdn_view* view : {&args.q, &args.k, &args.v, &args.o}) view->stride[3] = 77;
      for (gdn_view* view : {&args.beta, &args.g}) view->stride[2] = -77;
    },
    // A buffer of none is an array that is left out.
    [](Args& args) { args.slots.offset = args.accepted.offset = args.from_zero.offset = -1; }};

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  const int64_t tokens = std::min<int64_t>(c.tokens, 4);
  const Case plain =
      c.with_calls({call_of(CallKind::recurrent, {{A::first_token, 0}, {A::tokens, tokens}})});
  const Observation want = lab.run(plain);
  Verdict verdict = want.served();
  for (const auto& change : unused) {
    if (!verdict.holds()) return verdict;
    RunOptions options;
    options.altered[0].recurrent = change;
    const Observation got = lab.run(plain, options);
    verdict = both(std::move(verdict), got.conduct, same_bits(got, want));
  }
  return verdict;
}

const Registered self{{.claim = "choices that a call of recurrent does not use change nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"last_way_of_padding_refused"},
                       .searched_others_one_in = 32}};

}  // namespace
}  // namespace gdn
