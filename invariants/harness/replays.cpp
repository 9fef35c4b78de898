// Replays of histories, each on a fresh engine.
#include "invariants/harness/replays.h"

#include <algorithm>
#include <utility>

#include "reference/rng.h"

namespace gdn {
namespace {

// Null, and *why, where it was not.
const CallObserved* served(Session& session, const Call& call, Verdict* why) {
  const CallObserved& seen = session.call(call);
  if (seen.ok()) return &seen;
  *why = refusal(seen.status, "replaying a history: " + std::string(name_of(call.kind)) + ": " +
                                  std::string(name_of(seen.status)) + ": " + seen.text);
  return nullptr;
}

// The set-up of layer 0 for its next tokens. Another binding goes over the old one; other small
// tensors come by way of unload, with the state carried over it.
std::vector<Call> change_of_weights(const WeightsUsed* before, const WeightsUsed& now) {
  std::vector<Call> calls;
  const bool reload = before == nullptr || before->small != now.small ||
                      before->from_pool != now.from_pool || !now.from_pool;
  if (reload && before != nullptr) {
    calls.push_back(call_of(CallKind::state_export, {}));
    calls.push_back(call_of(CallKind::unload_layer, {}));
  }
  if (reload) {
    Call load = call_of(CallKind::load_layer_f32, {{Argument::weights, now.small}});
    if (now.from_pool) load.omit = {"qkv", "z", "out"};
    calls.push_back(std::move(load));
  }
  if (now.from_pool) {
    int64_t bytes = 0;
    for (const MatrixUsed& m : now.large) bytes += m.bytes();
    calls.push_back(call_of(CallKind::pool_init, {{Argument::bytes, bytes}}));
    for (int64_t key = 0; key < 3; ++key) {
      const MatrixUsed& m = now.large[static_cast<size_t>(key)];
      calls.push_back(call_of(CallKind::pool_put, {{Argument::weights, m.weights},
                                                   {Argument::matrix, m.matrix},
                                                   {Argument::rows, m.rows},
                                                   {Argument::cols, m.cols},
                                                   {Argument::key, key}}));
    }
    calls.push_back(call_of(
        CallKind::bind_q4, {{Argument::key_qkv, 0}, {Argument::key_z, 1}, {Argument::key_out, 2}}));
  }
  if (reload && before != nullptr) calls.push_back(call_of(CallKind::state_import, {}));
  return calls;
}

}  // namespace

uint64_t hash_of(const Call& call) {
  uint64_t hash = static_cast<uint64_t>(call.kind) + 1;
  const auto add = [&hash](uint64_t number) { hash = mix64(hash * 0x100000001B3U ^ number); };
  for (const auto& [argument, value] : call.given) {
    if (value == rule_of(argument).unless_given) continue;
    add(static_cast<uint64_t>(argument) + 1);
    add(static_cast<uint64_t>(value));
  }
  for (const std::string& name : call.omit) add(fnv1a64(name));
  for (const auto list : {&Call::lengths, &Call::slots, &Call::accepted, &Call::from_zero}) {
    add((call.*list).size());
    for (const int64_t number : call.*list) add(static_cast<uint64_t>(number));
  }
  return hash;
}

Replays::Replays(const Lab& lab, const Case& c, Feeding feeding)
    : lab_(lab),
      bare_(c.with_calls({})),
      feeding_(feeding),
      goes_on_(feeding == Feeding::steps || Rng(c.seed).stream("replays").range(0, 3) > 0) {}

const LayerBits* Replays::zero() {
  const auto known = known_.find(0);
  if (known != known_.end()) return &known->second;
  LayerBits& zero = known_[0];
  for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
    const auto count = static_cast<size_t>(element_count(tensor, bare_.shape));
    zero.set(tensor, std::vector<float>(count, 0.0F));
  }
  return &zero;
}

const LayerBits* Replays::after(const std::vector<Fed>& fed, size_t place, Verdict* why) {
  if (place == 0) return zero();
  const auto known = known_.find(fed[place].history);
  if (known != known_.end()) return &known->second;
  return replay(fed, place, why) ? &known_.at(fed[place].history) : nullptr;
}

// How many tokens from `begin` on one call can feed: of one kind of input and with one set of
// weights; rows of the stream must follow each other.
size_t Replays::together(const std::vector<Fed>& fed, std::span<const size_t> tokens) {
  const Fed& first = fed[tokens.front()];
  size_t count = 1;
  for (; count < tokens.size(); ++count) {
    const Fed& next = fed[tokens[count]];
    const bool alike = next.weights == first.weights && (next.out_of > 0) == (first.out_of > 0);
    const bool follows = first.out_of > 0 || next.row == fed[tokens[count - 1]].row + 1;
    if (!alike || !follows) break;
  }
  return count;
}

bool Replays::feed(const std::vector<Fed>& fed, std::span<const size_t> tokens, bool by_step,
                   Verdict* why) {
  const Fed& first = fed[tokens.front()];
  Call call =
      by_step ? call_of(CallKind::step, {})
              : call_of(CallKind::run, {{Argument::tokens, static_cast<int64_t>(tokens.size())}});
  if (first.out_of > 0) {
    std::vector<float> rows;
    for (const size_t at : tokens) {
      const std::vector<float>& out = outs_.at(fed[fed[at].out_of].history);
      rows.insert(rows.end(), out.begin(), out.end());
    }
    open_->session.give(0, std::move(rows));
    call.given[Argument::h_id] = 0;
  } else {
    call.given[Argument::first_token] = first.row;
  }
  const CallObserved* seen = served(open_->session, call, why);
  if (seen == nullptr) return false;
  const auto width = static_cast<std::ptrdiff_t>(bare_.shape.hidden_size);
  auto from = seen->out.begin();
  for (const size_t at : tokens) {
    outs_.emplace(fed[at].history, std::vector<float>(from, from + width));
    from += width;
  }
  return true;
}

const std::vector<float>* Replays::out(const std::vector<Fed>& fed, size_t place, Verdict* why) {
  const bool is_there = outs_.contains(fed[place].history) || replay(fed, place, why);
  return is_there ? &outs_.at(fed[place].history) : nullptr;
}

bool Replays::open(Verdict* why) {
  open_.reset();
  std::optional<Session> session = lab_.open(bare_, 0, {}, why);
  if (session) open_.emplace(Open{*std::move(session), 0, std::nullopt});
  return open_.has_value();
}

bool Replays::feed_all(const std::vector<Fed>& fed, std::span<const size_t> tokens, Verdict* why) {
  // By steps, or by as few runs as there can be: no matter which.
  const bool by_step = feeding_ == Feeding::steps || tokens.size() % 2 == 1;
  for (std::span<const size_t> left = tokens; !left.empty();) {
    const WeightsUsed& now = fed[left.front()].weights;
    const WeightsUsed* before = open_->weights ? &*open_->weights : nullptr;
    if (before == nullptr || !(*before == now)) {
      for (const Call& call : change_of_weights(before, now)) {
        if (served(open_->session, call, why) == nullptr) return false;
      }
    }
    open_->weights = now;
    const size_t count = by_step ? 1 : together(fed, left);
    if (!feed(fed, left.first(count), by_step, why)) return false;
    open_->history = fed[left[count - 1]].history;
    left = left.subspan(count);
  }
  return true;
}

bool Replays::replay(const std::vector<Fed>& fed, size_t place, Verdict* why) {
  // Where an h was another token's out, that one is replayed first; from the last one back, so
  // that the longest history gives the others on its way.
  for (size_t token = place; token > 0; token = fed[token].before) {
    const size_t source = fed[token].out_of;
    if (source > 0 && !outs_.contains(fed[source].history) && !replay(fed, source, why)) {
      return false;
    }
  }
  // Those that the open engine has not been fed; where it stands elsewhere, all, and a new engine.
  std::vector<size_t> tokens;
  size_t at = place;
  const auto stands_here = [&] { return goes_on_ && open_ && fed[at].history == open_->history; };
  for (; at > 0 && !stands_here(); at = fed[at].before) tokens.push_back(at);
  std::reverse(tokens.begin(), tokens.end());
  if (at == 0 && !open(why)) return false;
  if (!feed_all(fed, tokens, why)) {
    open_.reset();
    return false;
  }
  LayerBits seen;
  for (int t = 0; t < tensor_count; ++t) {
    const auto values = open_->session.read(0, static_cast<Tensor>(t));
    if (values) seen.set(static_cast<Tensor>(t), *values);
  }
  const bool holds = open_->session.conduct().holds();
  if (holds) known_[fed[place].history] = std::move(seen);
  if (!holds) *why = open_->session.conduct();
  if (!holds) open_.reset();
  return holds;
}

const CallObserved* Replays::beside(const std::vector<Call>& calls, Verdict* why) {
  uint64_t key = calls.size();
  for (const Call& call : calls) key = mix64(key ^ hash_of(call));
  const auto known = beside_.find(key);
  if (known != beside_.end()) return &known->second;
  Observation seen = lab_.run(bare_.with_calls(calls));
  if (!seen.served().holds()) {
    *why = seen.served();
    return nullptr;
  }
  return &beside_.emplace(key, std::move(seen.calls.back())).first->second;
}

}  // namespace gdn
