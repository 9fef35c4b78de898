// Running a case in other ways than from beginning to end: call by call, beside another one, with
// an allocation refused, with a state or an output that comes from elsewhere.
#include <gtest/gtest.h>

#include "invariants/harness/lab.h"
#include "invariants/harness/life.h"

namespace gdn {
namespace {

Lab lab_named(std::string_view name) {
  std::string why;
  std::optional<EngineSource> engine = find_engine(name, &why);
  EXPECT_TRUE(engine.has_value()) << why;
  return Lab(*std::move(engine));
}

// Two layers of odd sizes and eight tokens of input.
Case two_layers() {
  Case c;
  c.seed = 5;
  c.shape = {.hidden_size = 6,
             .num_k_heads = 1,
             .head_k_dim = 3,
             .num_v_heads = 2,
             .head_v_dim = 4,
             .conv_kernel = 3,
             .num_layers = 2};
  c.tokens = 8;
  return c;
}

Case with_more(const Case& c, std::vector<Call> more) {
  std::vector<Call> calls = setup_calls(c);
  calls.insert(calls.end(), more.begin(), more.end());
  return c.with_calls(std::move(calls));
}

TEST(Session, GivesCallByCallWhatARunGives) {
  const Lab lab = lab_named("twin");
  const Case c = two_layers().with_calls(stepped_calls(two_layers()));
  Verdict closed;
  std::optional<Session> session = lab.open(c, 0, {}, &closed);
  ASSERT_TRUE(session.has_value()) << closed.detail;
  for (const Call& call : c.calls) EXPECT_EQ(session->call(call).status, GDN_OK);
  const Verdict same = same_bits(std::move(*session).finish(), lab.run(c));
  EXPECT_TRUE(same.holds()) << same.detail;
  EXPECT_GT(same.elements, 0U);
}

TEST(Session, OfACaseThatTheEngineDoesNotServeSaysWhy) {
  const Lab lab = lab_named("twin");
  Case other = two_layers();
  other.dialect = *dialect_named("ggml");
  Verdict closed;
  EXPECT_FALSE(lab.open(other, 0, {}, &closed).has_value());
  EXPECT_EQ(closed.outcome, Outcome::not_applicable);
  EXPECT_NE(closed.detail, "");
}

TEST(Session, TwoAtOnceGiveWhatEachGivesAlone) {
  const Lab lab = lab_named("twin");
  const Case one = two_layers().with_calls(stepped_calls(two_layers()));
  Case two = one;
  two.seed = 6;
  two.calls.pop_back();
  const auto [first, second] = lab.run_interleaved(one, two);
  EXPECT_TRUE(same_bits(first, lab.run(one)).holds());
  EXPECT_TRUE(same_bits(second, lab.run(two)).holds());
  EXPECT_FALSE(same_bits(first, second).holds());
}

TEST(RefusedAllocation, IsTheOneThatWasNamedAndNoOther) {
  const Lab lab = lab_named("twin");
  const Case c = with_more(two_layers(), {call_of(CallKind::step, {})});
  const Observation free_run = lab.run(c);
  ASSERT_TRUE(free_run.served().holds());
  const uint64_t asked = free_run.calls.front().allocations;
  ASSERT_GE(asked, 2U) << "loading a layer copies its weights";
  EXPECT_EQ(free_run.held_after_close, 0U);

  RunOptions options;
  options.refuse = RefusedAllocation{0, asked};
  const Observation refused = lab.run(c, options);
  EXPECT_EQ(refused.calls[0].status, GDN_OUT_OF_MEMORY);
  EXPECT_EQ(refused.calls[0].allocations, asked);
  EXPECT_EQ(refused.calls[1].status, GDN_OK);
  EXPECT_EQ(refused.calls[2].status, GDN_NOT_LOADED);
  EXPECT_EQ(refused.held_after_close, 0U);
  EXPECT_FALSE(refused.released_too_much);

  options.refuse = RefusedAllocation{0, asked + 1};
  EXPECT_EQ(lab.run(c, options).calls[0].status, GDN_OK);
}

TEST(Exports, OfOneRunAreFoundByAnother) {
  const Lab lab = lab_named("twin");
  const Call step = call_of(CallKind::step, {});
  const Observation left = lab.run(
      with_more(two_layers(), {step, call_of(CallKind::state_export, {{Argument::id, 7}})}));
  ASSERT_EQ(left.exports.count(7), 1U);

  Call next = call_of(CallKind::step, {{Argument::first_token, 1}});
  next.reads = {Tensor::S, Tensor::HIST};
  RunOptions options;
  options.exports = left.exports;
  const Observation moved =
      lab.run(with_more(two_layers(), {call_of(CallKind::state_import, {{Argument::id, 7}}), next}),
              options);
  const Observation stayed = lab.run(with_more(two_layers(), {step, next}));
  ASSERT_TRUE(moved.served().holds()) << moved.served().detail;
  EXPECT_EQ(moved.calls.back().out, stayed.calls.back().out);
  EXPECT_EQ(moved.calls.back().reads, stayed.calls.back().reads);
  EXPECT_NE(lab.run(with_more(two_layers(), {next})).calls.back().out, stayed.calls.back().out);
}

TEST(OutputAsInput, OfTwoLayersIsWhatForwardDoes) {
  const Lab lab = lab_named("twin");
  const Case c = two_layers();
  const Observation whole =
      lab.run(with_more(c, {call_of(CallKind::forward, {{Argument::tokens, 3}})}));
  const Observation chained = lab.run(
      with_more(c, {call_of(CallKind::run, {{Argument::tokens, 3}, {Argument::out_id, 1}}),
                    call_of(CallKind::run,
                            {{Argument::layer, 1}, {Argument::tokens, 3}, {Argument::h_id, 1}})}));
  ASSERT_TRUE(whole.served().holds()) << whole.served().detail;
  EXPECT_EQ(chained.calls.back().out, whole.calls.back().out);
}

TEST(OutputAsInput, OfACallThatWasRefusedIsNoInput) {
  const Case c = two_layers().with_calls(
      {call_of(CallKind::step, {{Argument::out_id, 1}}),
       call_of(CallKind::load_layer_f32, {{Argument::layer, 1}}),
       call_of(CallKind::step, {{Argument::layer, 1}, {Argument::h_id, 1}})});
  const Observation seen = lab_named("twin").run(c);
  EXPECT_EQ(seen.calls[0].status, GDN_NOT_LOADED);
  EXPECT_EQ(seen.calls[2].status, GDN_INVALID_ARGUMENT);
  EXPECT_TRUE(live(c).calls[2].refused);
}

TEST(OutputAsInput, NeedsAnEarlierCallOfAsManyTokens) {
  const Call two = call_of(CallKind::run, {{Argument::tokens, 2}, {Argument::out_id, 1}});
  const Call one = call_of(CallKind::step, {{Argument::layer, 1}, {Argument::h_id, 1}});
  EXPECT_NE(why_invalid(two_layers().with_calls({one})), "");
  EXPECT_NE(why_invalid(two_layers().with_calls({two, one})), "");
  Call both = one;
  both.kind = CallKind::run;
  both.given[Argument::tokens] = 2;
  EXPECT_EQ(why_invalid(two_layers().with_calls({two, both})), "");
  std::string why;
  const Case c = two_layers().with_calls({two, both});
  const std::optional<Case> read = parse_case(print(c), &why);
  ASSERT_TRUE(read.has_value()) << why;
  EXPECT_EQ(print(*read), print(c));
}

TEST(BesideTheLayers, AnOperatorActsOnItsOwnArraysAndIsExpected) {
  const Lab lab = lab_named("twin");
  for (int64_t op = 0; op <= static_cast<int64_t>(Operator::out_proj); ++op) {
    const Call apply = call_of(CallKind::apply, {{Argument::op, op}});
    const Case c = with_more(two_layers(), {apply, call_of(CallKind::dequant, {})});
    const Observation seen = lab.run(c);
    ASSERT_TRUE(seen.served().holds()) << seen.served().detail;
    const Expectation& want = lab.expect(c);
    for (size_t i = c.calls.size() - 2; i < c.calls.size(); ++i) {
      ASSERT_FALSE(want.calls[i].arrays.empty());
      for (const auto& [name, bounded] : want.calls[i].arrays) {
        const Verdict verdict = within(name, seen.calls[i].arrays.at(name), bounded);
        EXPECT_TRUE(verdict.holds()) << op << ": " << verdict.detail;
      }
    }
  }
}

TEST(BesideTheLayers, WrongArraysAreRefusedAndTheModelSaysSo) {
  Call without = call_of(CallKind::apply, {{Argument::op, 1}});
  without.omit = {"A_log"};
  Call tiles = call_of(CallKind::dequant, {});
  tiles.omit = {"tiles"};
  const std::vector<Call> wrong = {
      call_of(CallKind::apply, {{Argument::op, 99}}),
      call_of(CallKind::apply, {{Argument::op, 2}, {Argument::count_off, -1}}),
      without,
      tiles,
      call_of(CallKind::dequant, {{Argument::rows, 3}}),
      call_of(CallKind::dequant, {{Argument::cols, 33}})};
  const Case c = two_layers().with_calls(wrong);
  const Observation seen = lab_named("twin").run(c);
  for (size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_NE(seen.calls[i].status, GDN_OK) << i;
    EXPECT_NE(seen.calls[i].text, "") << i;
    EXPECT_TRUE(live(c).calls[i].refused) << i;
  }
}

TEST(Beside, AnotherEngineIsAtHandOrSaysWhyNot) {
  const Lab lab = lab_named("twin");
  std::string why;
  const Lab* const simt = lab.beside("simt", &why);
  ASSERT_NE(simt, nullptr) << why;
  EXPECT_EQ(simt->engine(), "simt");
  EXPECT_EQ(lab.beside("simt", &why), simt);
  EXPECT_EQ(lab.beside("no_such_engine", &why), nullptr);
  EXPECT_NE(why, "");
}

TEST(Opening, AShapeThatCannotBeIsRefusedInTheEnginesWords) {
  const Lab lab = lab_named("twin");
  EXPECT_EQ(lab.opened(two_layers().shape).status, GDN_OK);
  Shape odd = two_layers().shape;
  odd.num_k_heads = 3;
  EXPECT_EQ(lab.opened(odd).status, GDN_INVALID_ARGUMENT);
  EXPECT_NE(lab.opened(odd).text, "");
}

}  // namespace
}  // namespace gdn
