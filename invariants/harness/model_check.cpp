// The judge of single calls.
#include "invariants/harness/model_check.h"

#include <algorithm>
#include <utility>

#include "reference/rng.h"

namespace gdn {
namespace {

// Larger buffers are read by no case that is meant to be.
constexpr size_t known_buffer_bytes_max = 1 << 16;
constexpr uint32_t not_a_number = 0xFFFFFFFF;

Verdict fails(std::string detail) { return claim(false, std::move(detail)); }

std::string said(const CallObserved& seen) {
  return std::string(name_of(seen.status)) + (seen.text.empty() ? "" : ": " + seen.text);
}

// A matrix put into a pool of its own size, and taken out.
std::vector<Call> put_alone(const MatrixUsed& matrix) {
  Call init;
  init.kind = CallKind::pool_init;
  init.given[Argument::bytes] = matrix.bytes();
  Call put;
  put.kind = CallKind::pool_put;
  put.given = {{Argument::weights, matrix.weights},
               {Argument::matrix, matrix.matrix},
               {Argument::rows, matrix.rows},
               {Argument::cols, matrix.cols},
               {Argument::key, 0}};
  Call get;
  get.kind = CallKind::pool_get;
  get.given[Argument::key] = 0;
  return {init, put, get};
}

}  // namespace

ModelCheckSetting setting_of(const Case& c) {
  Rng rng = Rng(c.seed).stream("model check");
  ModelCheckSetting setting;
  setting.snapshots_max = std::max<int64_t>(0, rng.range(-1, 4));
  setting.refuses_allocations = rng.range(0, 1) == 1;
  setting.is_poisoned = rng.range(0, 1) == 1;
  return setting;
}

ModelCheck::ModelCheck(const Lab& lab, const Case& c, Replays& replays)
    : lab_(lab),
      case_(c),
      replays_(replays),
      setting_(setting_of(c)),
      model_(c, setting_.snapshots_max),
      session_(lab.open(c, static_cast<int>(setting_.snapshots_max),
                        setting_.is_poisoned ? RunOptions{.fill = not_a_number} : RunOptions{},
                        &closed_)) {}

// By the call's own text, so that it stays with the call when others are left out.
std::optional<uint64_t> ModelCheck::nth_refused(const Call& call) const {
  if (!setting_.refuses_allocations || !lab_.has_gate()) return std::nullopt;
  // What its out is to replace would be gone before the call is made again.
  const int64_t h_id = call.at(Argument::h_id);
  if (h_id >= 0 && h_id == call.at(Argument::out_id)) return std::nullopt;
  Case alone = case_.with_calls({call});
  alone.numbers.clear();
  const int64_t nth = Rng(case_.seed).stream(print(alone)).range(-2, 6);
  return nth > 0 ? std::optional(static_cast<uint64_t>(nth)) : std::nullopt;
}

Verdict ModelCheck::call(const Call& given) {
  if (!session_) return closed_;
  Call call = given;
  call.reads.clear();  // every state is read after every call
  ++calls_made_;
  where_ = "call " + std::to_string(calls_made_) + ", " + std::string(name_of(call.kind));
  const LifeModel before = model_;
  const CallLife life = model_.next(call);
  // A call that is made again is to be given the same tokens.
  const bool streams = takes(call.kind, Argument::first_token) && call.at(Argument::h_id) < 0;
  if (streams) call.given[Argument::first_token] = life.first_token;
  const std::optional<uint64_t> nth = life.is_huge ? std::nullopt : nth_refused(call);
  CallObserved seen = session_->call(call, nth.value_or(0));
  const bool has_failed = seen.status == GDN_OUT_OF_MEMORY && !life.refused;
  const bool is_refused = nth && seen.allocations >= *nth;
  if (is_refused) where_ += ", its allocation " + std::to_string(*nth) + " refused";
  // An engine may do without what it was refused, or find the call wrong after it has asked.
  const bool goes_on = seen.ok() || (life.refused && seen.status != GDN_OUT_OF_MEMORY);
  if (is_refused && !goes_on && seen.status != GDN_OUT_OF_MEMORY) {
    return fails(where_ + ": got " + said(seen) + ", expected GDN_OUT_OF_MEMORY");
  }
  if ((is_refused && !goes_on) || (has_failed && life.is_huge)) {
    const LifeModel after = std::exchange(model_, before);
    Verdict all = both(claim(!seen.text.empty(), where_ + ": it gives no reason"),
                       judge_states(where_ + ": "));
    if (!all.holds() || !is_refused) return all;
    model_ = after;
    where_ += ", made again";
    seen = session_->call(call);
    return both(std::move(all), judge(call, life, seen));
  }
  return judge(call, life, seen);
}

Verdict ModelCheck::judge(const Call& call, const CallLife& life, const CallObserved& seen) {
  if (seen.status == GDN_LOST || seen.status == GDN_INTERNAL || seen.status == GDN_NOT_AVAILABLE) {
    return refusal(seen.status, where_ + ": " + said(seen));
  }
  const bool is_optional = call.kind == CallKind::apply || call.kind == CallKind::dequant ||
                           call.kind == CallKind::recurrent;
  const bool is_served = seen.ok() || (is_optional && seen.status == GDN_UNSUPPORTED);
  if (life.refused && seen.ok()) return fails(where_ + ": got GDN_OK, expected a refusal");
  if (!life.refused && !is_served) {
    return fails(where_ + ": got " + said(seen) + ", expected GDN_OK");
  }
  if (!seen.ok() && seen.text.empty()) return fails(where_ + ": refused without a reason");
  Verdict all = claim(true, "");
  if (seen.ok()) all = judge_given(call, life, seen);
  all = both(std::move(all), judge_states(where_ + (seen.ok() ? ": " : ", refused: ")));
  return both(std::move(all), session_->conduct());
}

Verdict ModelCheck::judge_given(const Call& call, const CallLife& life, const CallObserved& seen) {
  switch (call.kind) {
    case CallKind::step:
    case CallKind::run:
    case CallKind::forward:
      return judge_fed(call, life, seen);
    case CallKind::read: {
      if (seen.reads.empty()) return claim(true, "");
      Verdict why;
      const size_t place = model_.layers()[static_cast<size_t>(call.at(Argument::layer))].place;
      const TokenTensors* want = replays_.after(model_.fed(), place, &why);
      if (want == nullptr) return why;
      const auto& [tensor, values] = *seen.reads.begin();
      if (values.empty() && want->at(tensor).empty()) return claim(true, "");
      return same_bits(where_ + ": " + std::string(name_of(tensor)), values, want->at(tensor));
    }
    case CallKind::state_export:
      return judge_export(call, seen);
    case CallKind::pool_get:
    case CallKind::apply:
    case CallKind::dequant:
    case CallKind::recurrent:
      return judge_beside(call, seen);
    case CallKind::buffer_create:
    case CallKind::buffer_write:
    case CallKind::buffer_read:
      return judge_buffer(call, seen);
    default:
      return claim(true, "");
  }
}

Verdict ModelCheck::judge_fed(const Call& call, const CallLife& life, const CallObserved& seen) {
  if (life.tokens.empty()) return claim(seen.out.empty(), where_ + ": out of no token");
  Verdict all = claim(true, "");
  for (size_t l = 0; l < model_.layers().size(); ++l) {
    const bool is_fed =
        call.kind == CallKind::forward || static_cast<int64_t>(l) == call.at(Argument::layer);
    if (is_fed) all = both(std::move(all), judge_tensors(l));
  }
  std::vector<float> want;
  Verdict why;
  for (const size_t place : life.tokens) {
    const std::vector<float>* out = replays_.out(model_.fed(), place, &why);
    if (out == nullptr) return why;
    want.insert(want.end(), out->begin(), out->end());
  }
  return both(std::move(all), same_bits(where_ + ": out", seen.out, want));
}

Verdict ModelCheck::judge_beside(const Call& call, const CallObserved& seen) {
  std::vector<Call> calls = {call};
  if (call.kind == CallKind::recurrent) {
    recurrences_.push_back(call);
    calls = recurrences_;
  }
  if (call.kind == CallKind::pool_get) {
    if (call.at(Argument::capacity) == -2) return claim(true, "");
    calls = put_alone(model_.pool().at(model_.key_of(call)));
  }
  Verdict why;
  const CallObserved* want = replays_.beside(calls, &why);
  if (want == nullptr) return why;
  Verdict all = claim(seen.arrays.size() == want->arrays.size(), where_ + ": other outputs");
  if (call.kind == CallKind::pool_get) {
    all = both(std::move(all), same_bytes(where_ + ": tiles", seen.bytes, want->bytes));
  }
  for (const auto& [name, values] : seen.arrays) {
    const auto found = want->arrays.find(name);
    if (found == want->arrays.end() || (values.empty() && found->second.empty())) continue;
    all = both(std::move(all), same_bits(where_ + ": " + name, values, found->second));
  }
  return all;
}

Verdict ModelCheck::judge_export(const Call& call, const CallObserved& seen) {
  if (call.at(Argument::capacity) == -2) return claim(true, "");
  Verdict why;
  const size_t place = model_.layers()[static_cast<size_t>(call.at(Argument::layer))].place;
  const TokenTensors* want = replays_.after(model_.fed(), place, &why);
  if (want == nullptr) return why;
  std::vector<float> state = want->at(Tensor::S);
  const std::vector<float>& history = want->at(Tensor::HIST);
  state.insert(state.end(), history.begin(), history.end());
  const auto got = seen.arrays.find("state");
  if (got == seen.arrays.end()) return fails(where_ + ": it gave no state");
  return same_bits(where_ + ": state", got->second, state);
}

Verdict ModelCheck::judge_buffer(const Call& call, const CallObserved& seen) {
  const int64_t which = call.at(Argument::buffer);
  const auto bytes = static_cast<size_t>(std::max<int64_t>(0, call.at(Argument::bytes)));
  const auto offset = static_cast<size_t>(call.at(Argument::offset));
  std::vector<int>& known = buffers_[which];
  if (call.kind == CallKind::buffer_create) {
    known.assign(std::min(bytes, known_buffer_bytes_max), -1);
    return claim(true, "");
  }
  if (call.kind == CallKind::buffer_write) {
    const std::vector<uint8_t> content = buffer_content(case_, which, bytes);
    for (size_t i = 0; i < bytes && offset + i < known.size(); ++i) known[offset + i] = content[i];
    return claim(true, "");
  }
  for (size_t i = 0; i < seen.bytes.size() && offset + i < known.size(); ++i) {
    const int want = known[offset + i];
    if (want < 0 || want == seen.bytes[i]) continue;
    return fails(where_ + ": byte " + std::to_string(i) + ": got " + std::to_string(seen.bytes[i]) +
                 ", expected " + std::to_string(want));
  }
  return claim(true, "");
}

Verdict ModelCheck::judge_tensors(size_t layer) {
  const TokenTensors got = session_->read(static_cast<int64_t>(layer), every_tensor());
  Verdict why;
  const TokenTensors* want = replays_.after(model_.fed(), model_.layers()[layer].place, &why);
  if (want == nullptr) return why;
  Verdict all = claim(true, "");
  for (const auto& [tensor, values] : got) {
    if (values.empty()) continue;
    all = both(std::move(all), same_bits(where_ + ": " + std::string(name_of(tensor)) +
                                             " of layer " + std::to_string(layer),
                                         values, want->at(tensor)));
  }
  return all;
}

Verdict ModelCheck::judge_states(const std::string& when) {
  Verdict all = claim(true, "");
  for (size_t l = 0; l < model_.layers().size(); ++l) {
    Verdict why;
    const TokenTensors* want = replays_.after(model_.fed(), model_.layers()[l].place, &why);
    if (want == nullptr) return why;
    const TokenTensors got = session_->read(static_cast<int64_t>(l), {Tensor::S, Tensor::HIST});
    for (const auto& [tensor, values] : got) {
      if (values.empty()) continue;
      all = both(std::move(all),
                 same_bits(when + std::string(name_of(tensor)) + " of layer " + std::to_string(l),
                           values, want->at(tensor)));
    }
  }
  return all;
}

Verdict ModelCheck::finish() {
  if (!session_) return closed_;
  const Observation seen = std::move(*session_).finish();
  session_.reset();
  closed_ = both(
      seen.conduct,
      claim(seen.held_after_close == 0, "after close " + std::to_string(seen.held_after_close) +
                                            " allocations are held, expected 0"),
      claim(!seen.released_too_much, "it released more memory than it was granted"));
  return closed_;
}

Verdict behaves_as_modelled(const Case& c, const Lab& lab, Replays& replays) {
  if (lab.contract().recurrence != Recurrence::token_loop) {
    return refusal(GDN_UNSUPPORTED, "how tokens are cut into calls changes its rounding");
  }
  ModelCheck check(lab, c, replays);
  Verdict all = claim(true, "");
  for (const Call& call : c.calls) {
    all = both(std::move(all), check.call(call));
    if (all.outcome != Outcome::holds) return all;
  }
  return both(std::move(all), check.finish());
}

}  // namespace gdn
