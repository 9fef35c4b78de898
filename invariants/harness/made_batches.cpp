// Batches made by hand, and calls judged from what the engine itself held before them.
#include "invariants/harness/made_batches.h"

#include <algorithm>
#include <numeric>

#include "reference/recurrent_call.h"

namespace gdn {
namespace {

std::vector<float> part(const CallObserved& seen, const char* name, int64_t begin, int64_t count) {
  const auto found = seen.arrays.find(name);
  if (found == seen.arrays.end() || std::ssize(found->second) < begin + count) return {};
  const auto from = found->second.begin() + begin;
  return {from, from + count};
}

Verdict is_refused(const std::string& where, const CallObserved& seen) {
  if (seen.status == GDN_UNSUPPORTED) return refusal(seen.status, where + ": " + seen.text);
  return both(claim(seen.status == GDN_INVALID_ARGUMENT,
                    where + " is wrong and gave " + std::string(name_of(seen.status))),
              claim(!seen.text.empty(), where + " was refused without a word"));
}

}  // namespace

Case batch_case(const Case& c, int64_t slots, int64_t tokens) {
  Case made = c.with_calls({});
  made.subject = Subject::recurrent;
  made.numbers.clear();
  made.tokens = tokens;
  made.shape.num_k_heads = std::min<int64_t>(c.shape.num_k_heads, 2);
  const int64_t v_heads_per_k_head = std::min<int64_t>(c.shape.v_heads_per_k_head(), 2);
  made.shape.num_v_heads = made.shape.num_k_heads * v_heads_per_k_head;
  made.shape.head_k_dim = std::min<int64_t>(c.shape.head_k_dim, 9);
  made.shape.head_v_dim = std::min<int64_t>(c.shape.head_v_dim, 9);
  made.pool = {.slots = slots,
               .offset = c.pool.offset % 8,
               .gap = std::max<int64_t>(1, c.pool.gap % 8),
               .states = slots};
  made.dialect.state_writes = Dialect::StateWrites::final_only;
  made.dialect.start_slot = Dialect::StartSlot::first;
  made.dialect.padding = Dialect::Padding::not_allowed;
  return made;
}

Case drafting_case(const Case& c, int64_t slots, int64_t tokens) {
  Case made = batch_case(c, slots, tokens);
  made.dialect.state_writes = Dialect::StateWrites::every_token;
  made.dialect.start_slot = Dialect::StartSlot::accepted_minus_one;
  return made;
}

Call batch_call(std::vector<int64_t> lengths, std::vector<int64_t> slots, int64_t first_token) {
  const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  Call call = call_of(CallKind::recurrent,
                      {{Argument::first_token, first_token}, {Argument::tokens, tokens}});
  call.lengths = std::move(lengths);
  call.slots = std::move(slots);
  return call;
}

std::vector<int64_t> counted(int64_t from, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

std::vector<float> state_of_slot(const Case& c, const CallObserved& seen, int64_t slot) {
  return part(seen, "S", slot * c.shape.state_count(), c.shape.state_count());
}

std::vector<float> output_of_tokens(const Case& c, const CallObserved& seen, int64_t first,
                                    int64_t count) {
  return part(seen, "o", first * c.shape.v_dim(), count * c.shape.v_dim());
}

RecurrentJudged judge_recurrent(const Case& c, const Lab& lab) {
  RecurrentJudged judged{lab.run(c), {}};
  judged.verdict = judged.seen.conduct;
  std::vector<float> pool = lab.first_pool(c);
  for (size_t i = 0; i < judged.seen.calls.size(); ++i) {
    if (!judged.verdict.holds()) return judged;
    const CallObserved& seen = judged.seen.calls[i];
    const std::string where = "call " + std::to_string(i + 1);
    const CallExpectation want = lab.expect_recurrent(c, i, pool);
    if (want.refused) {
      judged.verdict = both(std::move(judged.verdict), is_refused(where, seen));
      continue;
    }
    if (!seen.ok()) {
      judged.verdict =
          refusal(seen.status, where + ": " + std::string(name_of(seen.status)) + ": " + seen.text);
      return judged;
    }
    for (const auto& [name, numbers] : want.arrays) {
      if (numbers.size() == 0) continue;
      const auto got = seen.arrays.find(name);
      const std::vector<float> given =
          got == seen.arrays.end() ? std::vector<float>() : got->second;
      judged.verdict = both(std::move(judged.verdict), within(where + ", " + name, given, numbers));
    }
    pool = seen.arrays.at("S");
  }
  return judged;
}

Verdict answered(const Case& c, const Observation& seen) {
  if (c.subject != Subject::recurrent || c.calls.size() != seen.calls.size()) return seen.served();
  Verdict all = seen.conduct;
  for (size_t i = 0; i < c.calls.size() && all.holds(); ++i) {
    const CallObserved& call = seen.calls[i];
    const std::string where = "call " + std::to_string(i + 1);
    const bool is_wrong =
        c.calls[i].kind == CallKind::recurrent && !batch_of(c, c.calls[i]).why_refused.empty();
    if (is_wrong) {
      all = both(std::move(all), is_refused(where, call));
    } else if (!call.ok()) {
      all =
          refusal(call.status, where + ": " + std::string(name_of(call.status)) + ": " + call.text);
    }
  }
  return all;
}

bool is_token_loop(const Lab& lab) { return lab.contract().recurrence == Recurrence::token_loop; }

}  // namespace gdn
