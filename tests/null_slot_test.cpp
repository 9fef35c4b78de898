// The null slot is scratch: an engine that computes its sequences like others is right, whatever it
// leaves in their output and snapshots, as long as it writes no other slot.
#include <gtest/gtest.h>

#include "device/mutants/batches.h"
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using mutants::right_twin;

// A right call, then a 1 in the first element of the snapshot at `place`.
template <int64_t place>
gdn_status scratching(gdn_engine* engine, const gdn_recurrent_args* args) {
  const gdn_status status = right_twin().recurrent(engine, args);
  if (status != GDN_OK || args->snapshots.buffer == 0) return status;
  const int64_t at = args->snapshots.offset + place * args->snapshots.stride[0];
  const float one = 1;
  return right_twin().buffer_write(engine, args->snapshots.buffer,
                                   static_cast<uint64_t>(at) * sizeof one, &one, sizeof one);
}

Verdict judged(gdn_status (*recurrent)(gdn_engine*, const gdn_recurrent_args*)) {
  gdn_api api = right_twin();
  api.recurrent = recurrent;
  std::string why;
  const Lab lab(use_engine("scratching", &api, &why).value());
  Case c;
  c.subject = Subject::recurrent;
  c.seed = 3;
  c.shape = {.hidden_size = 1,
             .num_k_heads = 1,
             .head_k_dim = 2,
             .num_v_heads = 1,
             .head_v_dim = 2,
             .conv_kernel = 1};
  c.tokens = 2;
  c.pool = {.slots = 2, .states = 2};
  c.dialect.padding = Dialect::Padding::slot_zero_is_null;
  c.dialect.state_writes = Dialect::StateWrites::last_k_newest_first;
  c.dialect.sequence_coding = Dialect::SequenceCoding::lengths;
  c.calls = {batch_call({1, 1}, {0, 1})};
  c.calls[0].given[Argument::snapshots] = 2;
  return check(*invariant_named("recurrent_calls_within_bound"), c, lab);
}

TEST(NullSlot, KeepsWhateverSnapshotOfItsOwn) {
  EXPECT_EQ(judged(scratching<0>).outcome, Outcome::holds) << judged(scratching<0>).detail;
}

TEST(NullSlot, HasNoSnapshotOfATokenThatItHasNot) {
  EXPECT_EQ(judged(scratching<2>).outcome, Outcome::fails);
}

TEST(NullSlot, LeavesTheSnapshotsOfOthersAlone) {
  EXPECT_EQ(judged(scratching<1>).outcome, Outcome::fails);
}

}  // namespace
}  // namespace gdn
