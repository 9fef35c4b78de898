// The judge of single calls.
#include "invariants/harness/model_check.h"

#include <algorithm>
#include <bit>
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

ModelCheck::ModelCheck(const Lab& lab, const Case& c, Replays* replays)
    : lab_(lab),
      case_(c),
      replays_(replays),
      setting_(setting_of(c)),
      model_(c, setting_.snapshots_max),
      session_(lab.open(c, static_cast<int>(setting_.snapshots_max),
                        setting_.is_poisoned ? RunOptions{.fill = not_a_number} : RunOptions{},
                        &closed_)) {}

std::string ModelCheck::where() const {
  return "call " + std::to_string(calls_made_) + ", " + std::string(name_of(kind_)) +
         (refused_nth_ ? ", its allocation " + std::to_string(*refused_nth_) + " refused" : "") +
         (made_again_ ? ", made again" : "");
}

// By what the call itself is, so that it stays with the call when others are left out.
std::optional<uint64_t> ModelCheck::nth_refused(const Call& call) const {
  if (!setting_.refuses_allocations || !lab_.has_gate()) return std::nullopt;
  // What its out is to replace would be gone before the call is made again.
  const int64_t h_id = call.at(Argument::h_id);
  if (h_id >= 0 && h_id == call.at(Argument::out_id)) return std::nullopt;
  const int64_t nth = Rng(case_.seed ^ hash_of(call)).range(-2, 6);
  return nth > 0 ? std::optional(static_cast<uint64_t>(nth)) : std::nullopt;
}

Verdict ModelCheck::call(const Call& given) {
  if (!session_) return closed_;
  Call call = given;
  call.reads.clear();  // every state is read after every call
  ++calls_made_;
  kind_ = call.kind;
  refused_nth_.reset();
  made_again_ = false;
  std::optional<uint64_t> nth = nth_refused(call);
  std::optional<LifeModel> before;
  const bool may_fail =
      nth || call.kind == CallKind::pool_init || call.kind == CallKind::buffer_create;
  if (may_fail) before = model_;
  const CallLife life = model_.next(call);
  if (life.is_huge) nth.reset();
  // A call that is made again is to be given the same tokens.
  const bool streams = takes(call.kind, Argument::first_token) && call.at(Argument::h_id) < 0;
  if (streams) call.given[Argument::first_token] = life.first_token;
  const CallObserved& seen = session_->call(call, nth.value_or(0));
  const bool has_failed = seen.status == GDN_OUT_OF_MEMORY && !life.refused;
  const bool is_refused = nth && seen.allocations >= *nth;
  if (is_refused) refused_nth_ = nth;
  // An engine may do without what it was refused, or find the call wrong after it has asked.
  const bool goes_on = seen.ok() || (life.refused && seen.status != GDN_OUT_OF_MEMORY);
  if (is_refused && !goes_on && seen.status != GDN_OUT_OF_MEMORY) {
    return fails(where() + ": got " + said(seen) + ", expected GDN_OUT_OF_MEMORY");
  }
  const bool is_undone = (is_refused && !goes_on) || (has_failed && life.is_huge);
  if (!is_undone) return judge(call, life, seen);
  const LifeModel after = std::exchange(model_, *before);
  Verdict all = seen.text.empty() ? fails(where() + ": it gives no reason") : claim(true, "");
  all = both(std::move(all), judge_states(": "));
  if (!all.holds() || !is_refused) return all;
  model_ = after;
  made_again_ = true;
  return both(std::move(all), judge(call, life, session_->call(call)));
}

Verdict ModelCheck::judge(const Call& call, const CallLife& life, const CallObserved& seen) {
  if (seen.status == GDN_LOST || seen.status == GDN_INTERNAL || seen.status == GDN_NOT_AVAILABLE) {
    return refusal(seen.status, where() + ": " + said(seen));
  }
  const bool is_optional = call.kind == CallKind::apply || call.kind == CallKind::dequant ||
                           call.kind == CallKind::recurrent;
  const bool is_served = seen.ok() || (is_optional && seen.status == GDN_UNSUPPORTED);
  if (life.refused && seen.ok()) return fails(where() + ": got GDN_OK, expected a refusal");
  if (!life.refused && !is_served) {
    return fails(where() + ": got " + said(seen) + ", expected GDN_OK");
  }
  if (!seen.ok() && seen.text.empty()) return fails(where() + ": refused without a reason");
  Verdict all = claim(true, "");
  if (seen.ok()) all = judge_given(call, life, seen);
  all = both(std::move(all), judge_states(seen.ok() ? ": " : ", refused: "));
  return session_->conduct().holds() ? all : both(std::move(all), session_->conduct());
}

template <class Words>
Verdict ModelCheck::judge_same_again(uint64_t key, uint64_t hash, const Words& whose) {
  const std::optional<size_t> other = remembered_.other_since(key, hash, calls_made_);
  if (!other) return claim(true, "");
  return fails(whose() + ": got other bits than after call " + std::to_string(*other) +
               ", expected the same: it follows from the same tokens and weights");
}

template <class Words>
Verdict ModelCheck::judge_tensor(size_t place, Tensor tensor, std::span<const float> got,
                                 const Words& whose) {
  if (!replays_ && place > 0) {
    const uint64_t key = mix64(model_.fed()[place].history + static_cast<uint64_t>(tensor));
    return judge_same_again(key, hash_of(got), whose);
  }
  if (!replays_) {
    const auto is_zero = [](float x) { return std::bit_cast<uint32_t>(x) == 0; };
    if (std::all_of(got.begin(), got.end(), is_zero)) return claim(true, "");
    return same_bits(whose(), got, std::vector<float>(got.size(), 0.0F));
  }
  Verdict why;
  const LayerBits* want = replays_->after(model_.fed(), place, &why);
  if (want == nullptr) return why;
  if (!equal_bits(got, want->at(tensor))) return same_bits(whose(), got, want->at(tensor));
  Verdict holds = claim(true, "");
  holds.tensors = 1;
  holds.elements = got.size();
  return holds;
}

Verdict ModelCheck::judge_given(const Call& call, const CallLife& life, const CallObserved& seen) {
  switch (call.kind) {
    case CallKind::step:
    case CallKind::run:
    case CallKind::forward:
      return judge_fed(call, life, seen);
    case CallKind::read: {
      if (seen.reads.empty()) return claim(true, "");
      const size_t place = model_.layers()[static_cast<size_t>(call.at(Argument::layer))].place;
      const auto& [tensor, values] = *seen.reads.begin();
      return judge_tensor(place, tensor, values, [this, named = tensor] {
        return where() + ": " + std::string(name_of(named));
      });
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
  if (life.tokens.empty()) return claim(seen.out.empty(), where() + ": out of no token");
  Verdict all = claim(true, "");
  for (size_t l = 0; replays_ && l < model_.layers().size(); ++l) {
    const bool is_fed =
        call.kind == CallKind::forward || static_cast<int64_t>(l) == call.at(Argument::layer);
    if (is_fed) all = both(std::move(all), judge_tensors(l));
  }
  const auto whose = [this] { return where() + ": out"; };
  const auto width = static_cast<size_t>(case_.shape.hidden_size);
  if (!replays_) {
    if (seen.out.size() != width * life.tokens.size()) return fails(whose() + ": wrong count");
    for (size_t t = 0; t < life.tokens.size(); ++t) {
      const uint64_t key = mix64(model_.fed()[life.tokens[t]].history + tensor_count);
      const std::span row = std::span(seen.out).subspan(t * width, width);
      all = both(std::move(all), judge_same_again(key, hash_of(row), whose));
    }
    return all;
  }
  std::vector<float> want;
  Verdict why;
  for (const size_t place : life.tokens) {
    const std::vector<float>* out = replays_->out(model_.fed(), place, &why);
    if (out == nullptr) return why;
    want.insert(want.end(), out->begin(), out->end());
  }
  return both(std::move(all), same_bits(whose(), seen.out, want));
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
  if (!replays_) {
    uint64_t key = calls.size();
    for (const Call& made : calls) key = mix64(key ^ hash_of(made));
    uint64_t hash = call.kind == CallKind::pool_get ? hash_of(std::span(seen.bytes)) : 0;
    for (const auto& [name, values] : seen.arrays) {
      hash = mix64(hash ^ fnv1a64(name)) ^ hash_of(std::span(values));
    }
    return judge_same_again(key, hash, [this] { return where(); });
  }
  Verdict why;
  const CallObserved* want = replays_->beside(calls, &why);
  if (want == nullptr) return why;
  Verdict all = claim(seen.arrays.size() == want->arrays.size(), where() + ": other outputs");
  if (call.kind == CallKind::pool_get) {
    all = both(std::move(all), same_bytes(where() + ": tiles", seen.bytes, want->bytes));
  }
  for (const auto& [name, values] : seen.arrays) {
    const auto found = want->arrays.find(name);
    if (found == want->arrays.end() || (values.empty() && found->second.empty())) continue;
    all = both(std::move(all), same_bits(where() + ": " + name, values, found->second));
  }
  return all;
}

Verdict ModelCheck::judge_export(const Call& call, const CallObserved& seen) {
  if (call.at(Argument::capacity) == -2) return claim(true, "");
  const size_t place = model_.layers()[static_cast<size_t>(call.at(Argument::layer))].place;
  const auto got = seen.arrays.find("state");
  if (got == seen.arrays.end()) return fails(where() + ": it gave no state");
  const auto states = static_cast<size_t>(case_.shape.state_count());
  const auto rows = static_cast<size_t>(case_.shape.history_count());
  const std::span<const float> all = got->second;
  if (all.size() != states + rows) {
    return fails(where() + ": state: got " + std::to_string(all.size()) + " numbers, expected " +
                 std::to_string(states + rows));
  }
  return both(
      judge_tensor(place, Tensor::S, all.first(states), [this] { return where() + ": state, S"; }),
      judge_tensor(place, Tensor::HIST, all.subspan(states),
                   [this] { return where() + ": state, HIST"; }));
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
    return fails(where() + ": byte " + std::to_string(i) + ": got " +
                 std::to_string(seen.bytes[i]) + ", expected " + std::to_string(want));
  }
  return claim(true, "");
}

Verdict ModelCheck::judge_tensors(size_t layer) {
  Verdict all = claim(true, "");
  for (int t = 0; t < tensor_count; ++t) {
    const auto tensor = static_cast<Tensor>(t);
    const auto got = session_->read(static_cast<int64_t>(layer), tensor);
    if (!got) continue;
    all = both(std::move(all), judge_tensor(model_.layers()[layer].place, tensor, *got, [&] {
                 return where() + ": " + std::string(name_of(tensor)) + " of layer " +
                        std::to_string(layer);
               }));
  }
  return all;
}

Verdict ModelCheck::judge_states(const char* when) {
  Verdict all = claim(true, "");
  for (size_t l = 0; l < model_.layers().size(); ++l) {
    for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
      const auto got = session_->read(static_cast<int64_t>(l), tensor);
      if (!got) continue;
      all = both(std::move(all), judge_tensor(model_.layers()[l].place, tensor, *got, [&] {
                   return where() + when + std::string(name_of(tensor)) + " of layer " +
                          std::to_string(l);
                 }));
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

namespace {

Verdict all_calls(ModelCheck check, const Case& c, const Lab& lab) {
  if (lab.contract().recurrence != Recurrence::token_loop) {
    return refusal(GDN_UNSUPPORTED, "how tokens are cut into calls changes its rounding");
  }
  Verdict all = claim(true, "");
  for (const Call& call : c.calls) {
    all = both(std::move(all), check.call(call));
    if (all.outcome != Outcome::holds) return all;
  }
  return both(std::move(all), check.finish());
}

}  // namespace

Verdict behaves_as_modelled(const Case& c, const Lab& lab, Replays& replays) {
  return all_calls(ModelCheck(lab, c, replays), c, lab);
}

Verdict agrees_with_itself(const Case& c, const Lab& lab) {
  return all_calls(ModelCheck(lab, c), c, lab);
}

}  // namespace gdn
