// The state machine finds mutants whose bug shows calls later, within a fixed number of sequences
// from a fixed seed, and has a short case to show for it.
#include <gtest/gtest.h>

#include "properties/api_machine.h"

namespace gdn {
namespace {

constexpr uint64_t seed = 4;
constexpr int64_t sequences_max = 600;

class StateMachine : public ::testing::TestWithParam<const char*> {};

TEST_P(StateMachine, FindsTheMutant) {
  std::string why;
  const std::optional<EngineSource> engine = find_engine(std::string("mutant:") + GetParam(), &why);
  ASSERT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  const machine::MachineRun run = machine::run_machine(lab, seed, sequences_max);
  ASSERT_TRUE(run.failing.has_value()) << "seed " << seed << ": " << run.sequences << " hold";
  EXPECT_EQ(run.detail.substr(0, 5), "fails") << run.detail;
  EXPECT_LE(run.failing->calls.size(), 16U) << run.detail << '\n' << print(*run.failing);
  // The saved text brings it back.
  const std::optional<Case> read = parse_case(print(*run.failing), &why);
  ASSERT_TRUE(read.has_value()) << why;
  Replays replays(lab, *read);
  EXPECT_EQ(behaves_as_modelled(*read, lab, replays).outcome, Outcome::fails) << print(*read);
}

INSTANTIATE_TEST_SUITE_P(Each, StateMachine,
                         ::testing::Values("reset_keeps_history", "rollback_keeps_history",
                                           "stale_binding_after_pool_rebuild", "layer_offset",
                                           "failed_bind_drops_old_binding",
                                           "snapshot_of_one_layer_restores_all",
                                           "import_keeps_snapshots", "unload_keeps_state",
                                           "rollback_keeps_later_snapshots"),
                         [](const auto& mutant) { return std::string(mutant.param); });

}  // namespace
}  // namespace gdn
