// The judge of a recorded trace: call by call, the status first, then words, memory and numbers.
#include "ci/triage/departure.h"

#include <algorithm>
#include <utility>

namespace gdn {
namespace {

using What = Departure::What;

std::string where(const Trace& trace, size_t call) {
  const CallSeen& now = trace.calls[call];
  return "call " + std::to_string(call + 1) + ", " + std::string(name_of(now.asked.call.kind)) +
         (now.asked.what.empty() ? "" : " with " + now.asked.what) +
         (now.refused_nth > 0 ? ", allocation " + std::to_string(now.refused_nth) + " refused"
                              : "");
}

std::string said(const CallObserved& seen) {
  return std::string(name_of(seen.status)) + (seen.text.empty() ? "" : ": " + seen.text);
}

Departure departure(What what, size_t call, std::string detail) {
  Departure at;
  at.what = what;
  at.call = call;
  at.verdict = claim(false, std::move(detail));
  return at;
}

class Judged {
 public:
  Judged(const Trace& trace, const Lab& lab, CallTruth& truth)
      : trace_(trace), lab_(lab), truth_(truth) {}

  std::optional<Departure> first();

 private:
  std::optional<Departure> status(size_t call) const;
  std::optional<Departure> refusal_itself(size_t call) const;
  std::optional<Departure> numbers(size_t call);
  void states(size_t call, Departure& at);
  void fed(size_t call, Departure& at);
  void layer_fed(size_t call, size_t layer, size_t place, Departure& at);
  void outs(size_t call, Departure& at);
  void exported(size_t call, Departure& at);
  void from_the_pool(size_t call, Departure& at) const;
  void buffer(size_t call, Departure& at);
  void read(size_t call, Departure& at);
  void note(Departure& at, Verdict verdict, int64_t layer, Tensor tensor) const;
  void note(Departure& at, Verdict verdict, const std::string& array) const;
  // What the state of a place was when it was first seen.
  const StateSeen* seen_at(size_t place) const;

  const Trace& trace_;
  const Lab& lab_;
  CallTruth& truth_;
  std::map<size_t, std::pair<size_t, size_t>> first_seen_;  // places: call and layer
  std::map<int64_t, std::vector<int>> buffers_;             // known bytes; -1: nobody wrote it
};

void Judged::note(Departure& at, Verdict verdict, int64_t layer, Tensor tensor) const {
  if (verdict.outcome != Outcome::fails) return;
  at.wrong[layer].insert(tensor);
  if (at.verdict.outcome != Outcome::fails) at.verdict = std::move(verdict);
}

void Judged::note(Departure& at, Verdict verdict, const std::string& array) const {
  if (verdict.outcome != Outcome::fails) return;
  at.wrong_arrays.insert(array);
  if (at.verdict.outcome != Outcome::fails) at.verdict = std::move(verdict);
}

std::optional<Departure> Judged::status(size_t call) const {
  const CallSeen& now = trace_.calls[call];
  const CallObserved& seen = now.seen;
  if (now.is_undone) {
    if (!seen.text.empty()) return std::nullopt;
    return departure(What::no_words, call, where(trace_, call) + ": it gives no reason");
  }
  if (now.life.refused && seen.ok()) {
    return departure(What::served, call, where(trace_, call) + ": got GDN_OK, expected a refusal");
  }
  if (!now.life.refused && !seen.ok()) {
    return departure(What::not_served, call,
                     where(trace_, call) + ": got " + said(seen) + ", expected GDN_OK");
  }
  return seen.ok() ? std::nullopt : refusal_itself(call);
}

std::optional<Departure> Judged::refusal_itself(size_t call) const {
  const CallSeen& now = trace_.calls[call];
  const CallObserved& seen = now.seen;
  const bool named = now.asked.status == GDN_OK || seen.status == now.asked.status;
  // A refused allocation is a reason of its own.
  if (!named && now.refused_nth == 0) {
    return departure(What::other_status, call,
                     where(trace_, call) + ": got " + std::string(name_of(seen.status)) +
                         ", expected " + std::string(name_of(now.asked.status)));
  }
  if (seen.text.empty()) {
    return departure(What::no_words, call, where(trace_, call) + ": refused without a reason");
  }
  for (size_t i = call; i-- > 0;) {
    const CallObserved& before = trace_.calls[i].seen;
    if (before.ok()) continue;
    if (before.status == seen.status || before.text != seen.text) break;
    return departure(What::same_words, call,
                     where(trace_, call) + ": got the words of call " + std::to_string(i + 1) +
                         ", \"" + seen.text + "\", expected its own");
  }
  if (now.asked.asks_for_nothing && seen.allocations > 0) {
    return departure(What::allocated, call,
                     where(trace_, call) + ": it asked for " + std::to_string(seen.allocations) +
                         " allocations, expected none");
  }
  return std::nullopt;
}

const StateSeen* Judged::seen_at(size_t place) const {
  const auto found = first_seen_.find(place);
  if (found == first_seen_.end()) return nullptr;
  return &trace_.calls[found->second.first].states[found->second.second];
}

void Judged::states(size_t call, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  for (size_t l = 0; l < now.places.size(); ++l) {
    const size_t place = now.places[l];
    const auto layer = static_cast<int64_t>(l);
    const size_t before = call == 0 ? 0 : trace_.calls[call - 1].places[l];
    for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
      const std::vector<float>& got = now.states[l].at(tensor);
      if (got.empty()) continue;
      const std::string what = where(trace_, call) + ": " + std::string(name_of(tensor)) +
                               " of layer " + std::to_string(layer);
      const StateSeen* const seen = seen_at(place);
      if (call > 0 && place == before) {
        note(at, same_bits(what, got, trace_.calls[call - 1].states[l].at(tensor)), layer, tensor);
      } else if (place == 0) {
        note(at, same_bits(what, got, std::vector<float>(got.size(), 0.0F)), layer, tensor);
      } else if (seen != nullptr) {
        note(at, same_bits(what, got, seen->at(tensor)), layer, tensor);
      }
    }
  }
}

void Judged::layer_fed(size_t call, size_t l, size_t place, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  const auto layer = static_cast<int64_t>(l);
  TokenTensors got;
  const auto tensors = now.tensors.find(layer);
  if (tensors != now.tensors.end()) got = tensors->second;
  got[Tensor::S] = *now.states[l].S;
  got[Tensor::HIST] = *now.states[l].HIST;
  const LayerBits* const bits = truth_.stepped(trace_.fed, place);
  const TokenExpectation* const bounds = truth_.bounds(trace_.fed, place);
  for (const auto& [tensor, values] : got) {
    if (values.empty()) continue;
    const std::string what = where(trace_, call) + ": " + std::string(name_of(tensor)) +
                             " of layer " + std::to_string(layer);
    const bool by_step = bits == nullptr || equal_bits(values, bits->at(tensor));
    if (!by_step && !bits->at(tensor).empty()) {
      note(at, same_bits(what, values, bits->at(tensor)), layer, tensor);
    }
    if (!by_step || bounds == nullptr || !bounds->contains(tensor)) continue;
    Verdict verdict = within(what, values, bounds->at(tensor));
    at.by_bounds = at.by_bounds || (bits != nullptr && verdict.outcome == Outcome::fails);
    note(at, std::move(verdict), layer, tensor);
  }
}

void Judged::outs(size_t call, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  const auto width = static_cast<size_t>(trace_.story.bare.shape.hidden_size);
  const std::string what = where(trace_, call) + ": out";
  if (now.seen.out.size() != width * now.life.tokens.size()) {
    return note(at, claim(false, what + ": wrong count"), "out");
  }
  for (size_t t = 0; t < now.life.tokens.size(); ++t) {
    const auto row = std::span(now.seen.out).subspan(t * width, width);
    const size_t place = now.life.tokens[t];
    const std::string which = what + " of its token " + std::to_string(t);
    const std::vector<float>* const bits = truth_.stepped_out(trace_.fed, place);
    if (bits != nullptr && !equal_bits(row, *bits)) {
      return note(at, same_bits(which, row, *bits), "out");
    }
    const TokenExpectation* const bounds = truth_.bounds(trace_.fed, place);
    if (bounds == nullptr) continue;
    Verdict verdict = within(which, row, bounds->at(Tensor::OUT));
    if (verdict.outcome != Outcome::fails) continue;
    at.by_bounds = at.by_bounds || bits != nullptr;
    return note(at, std::move(verdict), "out");
  }
}

void Judged::fed(size_t call, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  if (now.life.tokens.empty()) return;
  for (size_t l = 0; l < now.places.size(); ++l) {
    const bool is_fed = now.asked.call.kind == CallKind::forward ||
                        now.asked.call.at(Argument::layer) == static_cast<int64_t>(l);
    if (is_fed) layer_fed(call, l, now.places[l], at);
  }
  outs(call, at);
}

void Judged::exported(size_t call, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  const auto got = now.seen.arrays.find("state");
  if (got == now.seen.arrays.end()) return;
  const auto layer = static_cast<size_t>(now.asked.call.at(Argument::layer));
  std::vector<float> want = *now.states[layer].S;
  want.insert(want.end(), now.states[layer].HIST->begin(), now.states[layer].HIST->end());
  note(at, same_bits(where(trace_, call) + ": state", got->second, want), "state");
}

void Judged::from_the_pool(size_t call, Departure& at) const {
  const CallSeen& now = trace_.calls[call];
  if (now.asked.call.at(Argument::capacity) == -2) return;
  const LifeModel model = trace_.before(call);
  const MatrixUsed& matrix = model.pool().at(model.key_of(now.asked.call));
  std::string why;
  const std::optional<Numbers> numbers = materialise(trace_.story.bare, &why);
  if (!numbers) return;
  const LayerNumbers& n = numbers->layers[static_cast<size_t>(matrix.weights)];
  std::vector<uint8_t> want =
      matrix.matrix == 0 ? n.qkv_tiles : (matrix.matrix == 1 ? n.z_tiles : n.out_tiles);
  want.resize(static_cast<size_t>(matrix.bytes()));
  note(at, same_bytes(where(trace_, call) + ": tiles", now.seen.bytes, want), "bytes");
}

void Judged::buffer(size_t call, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  const Call& made = now.asked.call;
  const auto bytes = static_cast<size_t>(std::max<int64_t>(0, made.at(Argument::bytes)));
  const auto offset = static_cast<size_t>(made.at(Argument::offset));
  // Larger buffers are read by no case that is meant to be.
  constexpr size_t known_bytes_max = 1 << 16;
  std::vector<int>& known = buffers_[made.at(Argument::buffer)];
  if (made.kind == CallKind::buffer_create) known.assign(std::min(bytes, known_bytes_max), -1);
  if (made.kind == CallKind::buffer_write) {
    const auto content = buffer_content(trace_.story.bare, made.at(Argument::buffer), bytes);
    for (size_t i = 0; i < bytes && offset + i < known.size(); ++i) known[offset + i] = content[i];
  }
  std::vector<uint8_t> got, want;
  for (size_t i = 0; i < now.seen.bytes.size() && offset + i < known.size(); ++i) {
    if (known[offset + i] < 0) continue;
    got.push_back(now.seen.bytes[i]);
    want.push_back(static_cast<uint8_t>(known[offset + i]));
  }
  if (!got.empty()) note(at, same_bytes(where(trace_, call) + ": bytes", got, want), "bytes");
}

// A tensor of the last token is what was read back right after it.
void Judged::read(size_t call, Departure& at) {
  const CallSeen& now = trace_.calls[call];
  const int64_t layer = now.asked.call.at(Argument::layer);
  for (const auto& [tensor, values] : now.seen.reads) {
    const std::string what = where(trace_, call) + ": " + std::string(name_of(tensor));
    const bool is_state = tensor == Tensor::S || tensor == Tensor::HIST;
    if (values.empty()) continue;
    if (is_state) {
      const std::vector<float>& want = now.states[static_cast<size_t>(layer)].at(tensor);
      note(at, same_bits(what, values, want), "read");
      continue;
    }
    for (size_t i = call; i-- > 0;) {
      const auto last = trace_.calls[i].tensors.find(layer);
      if (last == trace_.calls[i].tensors.end() || !last->second.contains(tensor)) continue;
      note(at, same_bits(what, values, last->second.at(tensor)), "read");
      break;
    }
  }
}

std::optional<Departure> Judged::numbers(size_t call) {
  const CallSeen& now = trace_.calls[call];
  Departure at;
  at.call = call;
  at.verdict = claim(true, "");
  states(call, at);
  if (!now.life.refused && now.seen.ok()) {
    switch (now.asked.call.kind) {
      case CallKind::step:
      case CallKind::run:
      case CallKind::forward:
        fed(call, at);
        break;
      case CallKind::state_export:
        exported(call, at);
        break;
      case CallKind::pool_get:
        from_the_pool(call, at);
        break;
      case CallKind::read:
        read(call, at);
        break;
      case CallKind::buffer_create:
      case CallKind::buffer_write:
      case CallKind::buffer_read:
        buffer(call, at);
        break;
      default:
        break;
    }
  }
  if (at.verdict.outcome == Outcome::fails) return at;
  return std::nullopt;
}

std::optional<Departure> Judged::first() {
  std::optional<Departure> manner;
  for (size_t call = 0; call < trace_.calls.size(); ++call) {
    const CallSeen& now = trace_.calls[call];
    const gdn_status status_now = now.seen.status;
    // A call that it does not serve is no fault, but what follows is not of this story.
    if (status_now == GDN_UNSUPPORTED && now.asked.status != GDN_UNSUPPORTED && !now.life.refused) {
      return manner;
    }
    if (auto at = status(call)) {
      // What a call that should have been refused did to the states is part of what is known.
      if (at->what == What::served) {
        Departure also;
        also.verdict = claim(true, "");
        states(call, also);
        at->wrong = also.wrong;
      }
      if (!is_manner(at->what)) return at;
      if (!manner) manner = std::move(at);
    }
    if (!now.misconduct.empty()) return departure(What::misconduct, call, now.misconduct);
    if (auto at = numbers(call)) return at;
    if (now.unstable) {
      const auto& [layer, tensor] = *now.unstable;
      Departure at =
          departure(What::unstable, call,
                    where(trace_, call) + ": " + std::string(name_of(tensor)) + " of layer " +
                        std::to_string(layer) + ": read twice, got other bits the second time");
      at.wrong[layer].insert(tensor);
      return at;
    }
    for (size_t l = 0; l < now.places.size(); ++l) first_seen_.try_emplace(now.places[l], call, l);
  }
  return manner;
}

// The shortest beginning of the story after which memory is not as it was.
std::optional<Departure> memory_of(const Trace& trace, const Lab& lab) {
  const auto is_wrong = [](const Observation& closed) {
    return closed.held_after_close > 0 || closed.released_too_much;
  };
  if (trace.story.setting.refuses_allocations || !is_wrong(trace.end)) return std::nullopt;
  for (size_t count = 1; count <= trace.story.calls.size(); ++count) {
    const Observation closed = closed_after(trace.story, lab, count);
    if (!is_wrong(closed)) continue;
    const std::string what = closed.released_too_much ? "it released what it did not hold"
                                                      : std::to_string(closed.held_after_close) +
                                                            " allocations are held after close";
    return departure(What::memory, count - 1, where(trace, count - 1) + ": " + what);
  }
  return std::nullopt;
}

}  // namespace

bool is_manner(Departure::What what) {
  return what == What::no_words || what == What::same_words || what == What::other_status ||
         what == What::allocated;
}

std::optional<Departure> first_departure(const Trace& trace, const Lab& lab, CallTruth& truth) {
  if (!trace.was_run()) return std::nullopt;
  if (auto at = Judged(trace, lab, truth).first()) return at;
  return memory_of(trace, lab);
}

}  // namespace gdn
