// The model of what calls do to layers: which are refused, and what each state has seen.
#include "invariants/harness/life.h"

#include <gtest/gtest.h>

#include "tests/case_files.h"

namespace gdn {
namespace {

Case seed(const std::string& name) {
  std::string why;
  const std::optional<Case> c =
      parse_case(file_text(std::string(SOURCE_DIR) + "/corpus/seeds/" + name + ".case"), &why);
  EXPECT_TRUE(c.has_value()) << name << ": " << why;
  return c.value_or(Case{});
}

Case with_layers(int64_t layers) {
  Case c = seed("layer/smallest");
  c.shape.num_layers = layers;
  c.tokens = 16;
  return c.with_calls({});
}

// Calls as their lines in a case say them.
std::vector<Call> calls_of(const Case& c, const std::vector<std::string>& lines) {
  std::string text = print(c);
  for (const std::string& line : lines) text += "call " + line + "\n";
  std::string why;
  const std::optional<Case> parsed = parse_case(text, &why);
  EXPECT_TRUE(parsed.has_value()) << why;
  return parsed ? parsed->calls : std::vector<Call>{};
}

// Which of the calls are refused, in order: "." or "x".
std::string refusals(const Case& c, const std::vector<std::string>& lines,
                     int64_t snapshots_max = LifeModel::no_limit) {
  LifeModel model(c, snapshots_max);
  std::string marks;
  for (const Call& call : calls_of(c, lines)) marks += model.next(call).refused ? 'x' : '.';
  return marks;
}

// The rows of the stream behind a place.
std::vector<int64_t> rows_at(const std::vector<Fed>& fed, size_t place) {
  std::vector<int64_t> rows;
  for (; place > 0; place = fed[place].before) rows.insert(rows.begin(), fed[place].row);
  return rows;
}

TEST(Life, ARollbackGoesBackAndOtherTokensFollow) {
  const Life life = live(seed("layer/rollback"));
  // load, run 0..2, snapshot, run 3..6, rollback, step 7, step 8.
  const auto rows = [&life](size_t i) { return rows_at(life.fed, life.calls[i].tokens.back()); };
  EXPECT_EQ(rows(3), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(rows_at(life.fed, *life.calls[4].read), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_FALSE(life.calls[4].read_has_token);
  EXPECT_EQ(rows(5), (std::vector<int64_t>{0, 1, 2, 7}));
  EXPECT_EQ(rows(6), (std::vector<int64_t>{0, 1, 2, 7, 8}));
  EXPECT_TRUE(life.calls[6].read_has_token);
}

TEST(Life, APoolThatWasRebuiltUnbindsEveryLayer) {
  const Case c = seed("layer/pool_rebuilt");
  const Life life = live(c);
  std::vector<size_t> refused;
  for (size_t i = 0; i < life.calls.size(); ++i) {
    if (life.calls[i].refused) refused.push_back(i);
  }
  EXPECT_EQ(refused, std::vector<size_t>{11});  // the step before the layer is bound again
  const WeightsUsed& weights = life.fed[life.calls.back().tokens.back()].weights;
  EXPECT_EQ(weights.small, 0);
  EXPECT_TRUE(weights.from_pool);
  for (const MatrixUsed& matrix : weights.large) EXPECT_EQ(matrix.weights, 1);
}

TEST(Life, ANeverLoadedLayerRefusesAndAnExportMovesTheState) {
  EXPECT_TRUE(live(seed("layer/not_loaded")).calls[0].refused);
  EXPECT_TRUE(live(seed("layer/rollback_of_nothing")).calls[2].refused);
  EXPECT_TRUE(live(seed("layer/both_states")).calls[6].refused);
  const Life moved = live(seed("layer/export_and_import"));
  EXPECT_EQ(rows_at(moved.fed, moved.calls[6].tokens.back()),
            (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(Life, AnIdNamesItsLatestSnapshotEvenWhereAnOlderOneIsStillHeld) {
  const Case c = with_layers(2);
  EXPECT_EQ(refusals(c, {"snapshot layer=0 id=1", "snapshot layer=1 id=1", "reset layer=1",
                         "rollback id=1"}),
            "...x");
}

TEST(Life, BeyondTheLimitTheOldestSnapshotGoes) {
  const Case c = with_layers(1);
  const std::vector<std::string> calls = {"snapshot id=1", "snapshot id=2", "snapshot id=3",
                                          "rollback id=1", "rollback id=3", "rollback id=2",
                                          "rollback id=3"};
  EXPECT_EQ(refusals(c, calls, 2), "...x..x");
  EXPECT_EQ(refusals(c, {"snapshot", "rollback"}, 0), "xx");
}

TEST(Life, AResetDropsASnapshotOfAllLayersAndImportOne) {
  const Case c = with_layers(2);
  EXPECT_EQ(refusals(c, {"snapshot layer=-1", "reset layer=1", "rollback"}), "..x");
  EXPECT_EQ(refusals(c, {"state_export", "snapshot layer=-1", "state_import layer=1", "rollback"}),
            "...x");
}

TEST(Life, ForwardFeedsEachLayerWhatTheOneBeforeItGave) {
  const Case c = with_layers(2);
  LifeModel model(c);
  CallLife life;
  for (const Call& call : calls_of(c, {"load_layer_f32", "forward", "load_layer_f32 layer=1",
                                       "forward first_token=3 tokens=2"})) {
    life = model.next(call);
  }
  ASSERT_EQ(life.tokens.size(), 2U);
  const Fed& last = model.fed()[life.tokens[1]];
  EXPECT_EQ(last.before, life.tokens[0]);
  EXPECT_EQ(model.fed()[last.out_of].row, 4);
  EXPECT_EQ(model.fed()[last.out_of].out_of, 0U);
}

TEST(Life, EqualHistoriesHaveEqualHashesInAnyLayer) {
  const Case c = with_layers(2);
  const auto history = [&c](const std::vector<std::string>& lines) {
    LifeModel model(c);
    for (const Call& call : calls_of(c, lines)) model.next(call);
    return model.fed().back().history;
  };
  const uint64_t stepped = history({"load_layer_f32", "step", "step"});
  EXPECT_EQ(history({"load_layer_f32 layer=1 weights=0", "run layer=1 tokens=2"}), stepped);
  EXPECT_NE(history({"load_layer_f32 weights=1", "run tokens=2"}), stepped);
  EXPECT_NE(history({"load_layer_f32", "run first_token=1 tokens=2"}), stepped);
  EXPECT_NE(history({"load_layer_f32", "step out_id=1", "step h_id=1"}), stepped);
}

TEST(Life, WrongArgumentsAreRefusedOneByOne) {
  const Case c = with_layers(1);
  EXPECT_EQ(
      refusals(c, {"load_layer_f32 omit=norm", "load_layer_f32 omit=qkv", "load_layer_f32",
                   "load_layer_f32", "step layer=1", "step layer=-1", "step omit=h",
                   "run tokens=-1", "run tokens=0 omit=h,out", "read tensor=15", "read tensor=0",
                   "step", "read tensor=0", "read capacity=0", "unload_layer layer=-1"}),
      "xx.xxxxx.xx..xx");
  EXPECT_EQ(refusals(c, {"apply op=2", "apply op=2 omit=norm", "apply op=2 omit=weight",
                         "apply op=7", "apply count_off=1", "dequant rows=6", "dequant rows=8",
                         "dequant omit=out", "buffer_create bytes=8", "buffer_read bytes=9",
                         "buffer_read offset=4 bytes=4", "buffer_release", "buffer_release"}),
            "..xxxx.x.x..x");
}

}  // namespace
}  // namespace gdn
