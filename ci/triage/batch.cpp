// A call is judged from the states that the engine itself held before it.
#include "ci/triage/batch.h"

#include <algorithm>

#include "invariants/harness/made_batches.h"

namespace gdn {
namespace {

const std::vector<float>& array_of(const CallObserved& seen, const std::string& name) {
  static const std::vector<float> none;
  const auto found = seen.arrays.find(name);
  return found == seen.arrays.end() ? none : found->second;
}

// Outputs come first: a state may be wrong because of what is wrong in them, not the reverse.
std::optional<WrongBatch> wrong_call(const CallObserved& seen, CallExpectation want) {
  for (const char* name : {"o", "S", "snapshots"}) {
    const auto expected = want.arrays.find(name);
    if (expected == want.arrays.end() || expected->second.size() == 0) continue;
    Verdict verdict = within(name, array_of(seen, name), expected->second);
    if (verdict.outcome != Outcome::fails) continue;
    WrongBatch wrong;
    wrong.array = name;
    wrong.verdict = std::move(verdict);
    wrong.gave = seen.arrays;
    wrong.want = std::move(want);
    return wrong;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WrongBatch> first_wrong_batch(const Case& c, const Lab& lab) {
  const auto is_recurrent = [](const Call& call) { return call.kind == CallKind::recurrent; };
  if (c.subject != Subject::recurrent || c.calls.empty()) return std::nullopt;
  if (!std::all_of(c.calls.begin(), c.calls.end(), is_recurrent)) return std::nullopt;
  const Observation seen = lab.run(c);
  if (seen.conduct.outcome == Outcome::engine_error) return std::nullopt;
  const bool wrote = seen.conduct.outcome == Outcome::fails;
  std::vector<float> pool = lab.first_pool(c);
  std::optional<WrongBatch> last;
  for (size_t i = 0; i < seen.calls.size(); ++i) {
    CallExpectation want = lab.expect_recurrent(c, i, pool);
    if (want.refused != !seen.calls[i].ok()) return std::nullopt;
    if (want.refused) continue;
    std::optional<WrongBatch> wrong = wrong_call(seen.calls[i], want);
    if (!wrong) {
      last.emplace();
      last->gave = seen.calls[i].arrays;
      last->want = std::move(want);
    }
    WrongBatch& now = wrong ? *wrong : *last;
    now.call = i;
    now.batch = batch_of(c, c.calls[i]);
    now.pool = pool;
    if (wrote) now.misconduct = seen.conduct.detail;
    if (wrong) return wrong;
    pool = array_of(seen.calls[i], "S");
  }
  // Which call it was is not known: of one call it is that, of more the last.
  if (!wrote || !last) return std::nullopt;
  last->verdict = seen.conduct;
  return last;
}

Case sequence_alone(const Case& c, const WrongBatch& wrong, const BatchSequence& sequence) {
  Case alone = c.with_calls({});
  alone.tokens = sequence.tokens;
  alone.pool = {};
  const Dialect plain;
  alone.dialect.sequence_coding = plain.sequence_coding;
  alone.dialect.state_writes = plain.state_writes;
  alone.dialect.start_slot = plain.start_slot;
  alone.dialect.padding = Dialect::Padding::not_allowed;
  alone.numbers.clear();
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return alone;
  const int64_t first = first_tokens(c)[wrong.call] + sequence.first_token;
  for (const auto& [name, all] : numbers->arrays) {
    if (name == "S" || all.empty()) continue;
    const int64_t width = std::ssize(all) / c.tokens;
    const auto begin = all.begin() + first * width;
    alone = alone.with_numbers(name, {begin, begin + sequence.tokens * width});
  }
  const int64_t count = c.shape.state_count();
  std::vector<float> state(static_cast<size_t>(count), 0.0F);
  if (!sequence.from_zero) {
    std::copy_n(wrong.pool.begin() + sequence.start_slot * count, count, state.begin());
  }
  return alone.with_numbers("S", state);
}

}  // namespace gdn
