// Making the calls of a story and looking at every state after each.
#include "ci/triage/call_story.h"

#include <algorithm>

namespace gdn {
namespace {

// Calls ask for fewer, or they never get through.
constexpr uint64_t allocations_max = 32;

bool feeds(CallKind kind) {
  return kind == CallKind::step || kind == CallKind::run || kind == CallKind::forward;
}

// All that a layer has shown of its last token; without observe there is nothing to read.
TokenTensors tensors_of(Session& session, int64_t layer) {
  std::set<Tensor> tensors = every_tensor();
  tensors.erase(Tensor::S);
  tensors.erase(Tensor::HIST);
  return session.read(layer, tensors);
}

std::shared_ptr<const std::vector<float>> kept(
    const std::shared_ptr<const std::vector<float>>& before, std::span<const float> now) {
  if (before && equal_bits(*before, now)) return before;
  return std::make_shared<const std::vector<float>>(now.begin(), now.end());
}

}  // namespace

void Story::add(const std::vector<Call>& more) {
  for (const Call& call : more) calls.push_back({call, GDN_OK, ""});
}

Case Story::whole() const {
  std::vector<Call> made;
  for (const WrongCall& asked : calls) made.push_back(asked.call);
  return bare.with_calls(std::move(made));
}

Trace::Trace(const Story& told, const Lab& lab)
    : story(told), model_(told.bare, told.setting.snapshots_max, told.setting.options.observe) {
  const CallSetting& setting = story.setting;
  std::optional<Session> session =
      lab.open(story.bare, setting.snapshots_max, setting.options, &end.conduct);
  if (!session) return;
  std::optional<Session> other;
  if (setting.beside) {
    auto opened = lab.open(*setting.beside, setting.snapshots_max, {}, &end.conduct);
    if (!opened) return;
    other.emplace(*std::move(opened));
  }
  was_run_ = true;
  for (size_t i = 0; i < story.calls.size(); ++i) {
    const WrongCall& asked = story.calls[i];
    const bool insists = setting.refuses_allocations && lab.has_gate();
    uint64_t nth = insists ? 1 : 0;
    make(asked, nth, *session);
    while (nth > 0 && calls.back().is_undone && nth < allocations_max) {
      make(asked, ++nth, *session);
    }
    if (other && i < setting.beside->calls.size()) other->call(setting.beside->calls[i]);
  }
  fed = model_.fed();
  end = std::move(*session).finish();
}

void Trace::make(const WrongCall& asked, uint64_t refuse_nth, Session& session) {
  CallSeen& now = calls.emplace_back();
  now.asked = asked;
  now.asked.call.reads.clear();  // every state is read after every call
  now.refused_nth = refuse_nth;
  const LifeModel before = model_;
  now.life = model_.next(now.asked.call);
  const bool streams = takes(asked.call.kind, Argument::first_token);
  if (streams && asked.call.at(Argument::h_id) < 0) {
    now.asked.call.given[Argument::first_token] = now.life.first_token;
  }
  const auto behaves = [&session] {
    const Outcome conduct = session.conduct().outcome;
    return conduct != Outcome::fails && conduct != Outcome::engine_error;
  };
  const bool behaved = behaves();
  now.seen = session.call(now.asked.call, now.life.is_huge ? 0 : refuse_nth);
  const bool may_fail = now.life.is_huge || (refuse_nth > 0 && now.seen.allocations >= refuse_nth);
  now.is_undone = may_fail && !now.life.refused && now.seen.status == GDN_OUT_OF_MEMORY;
  if (now.is_undone) model_ = before;
  if (behaved && !behaves()) now.misconduct = session.conduct().detail;
  for (const LayerLife& layer : model_.layers()) now.places.push_back(layer.place);
  look(now, session);
}

void Trace::look(CallSeen& now, Session& session) const {
  const std::vector<StateSeen>* last = calls.size() > 1 ? &calls[calls.size() - 2].states : nullptr;
  for (size_t l = 0; l < now.places.size(); ++l) {
    const auto layer = static_cast<int64_t>(l);
    StateSeen& state = now.states.emplace_back();
    for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
      auto& held = tensor == Tensor::S ? state.S : state.HIST;
      const auto& then = tensor == Tensor::S ? (last ? (*last)[l].S : nullptr)
                                             : (last ? (*last)[l].HIST : nullptr);
      const auto first = session.read(layer, tensor);
      held = kept(then, first ? *first : std::span<const float>());
      const auto second = session.read(layer, tensor);
      const bool same = !first || (second && equal_bits(*held, *second));
      if (!same && !now.unstable) now.unstable = {layer, tensor};
    }
    const bool is_fed =
        feeds(now.asked.call.kind) && !now.life.tokens.empty() && now.seen.ok() &&
        story.setting.options.observe &&
        (now.asked.call.kind == CallKind::forward || now.asked.call.at(Argument::layer) == layer);
    if (is_fed) now.tensors[layer] = tensors_of(session, layer);
  }
}

LifeModel Trace::before(size_t call) const {
  LifeModel model(story.bare, story.setting.snapshots_max, story.setting.options.observe);
  for (size_t i = 0; i < call; ++i) {
    if (!calls[i].is_undone) model.next(calls[i].asked.call);
  }
  return model;
}

std::vector<CallObserved> tried(const Story& story, const Lab& lab, size_t count,
                                const std::vector<Call>& more) {
  Verdict closed;
  std::optional<Session> session =
      lab.open(story.bare, story.setting.snapshots_max, story.setting.options, &closed);
  if (!session) return {};
  for (size_t i = 0; i < count; ++i) session->call(story.calls[i].call);
  std::vector<CallObserved> seen;
  for (const Call& call : more) seen.push_back(session->call(call));
  return seen;
}

Observation closed_after(const Story& story, const Lab& lab, size_t count) {
  Observation closed;
  std::optional<Session> session =
      lab.open(story.bare, story.setting.snapshots_max, story.setting.options, &closed.conduct);
  if (!session) return closed;
  for (size_t i = 0; i < count; ++i) session->call(story.calls[i].call);
  return std::move(*session).finish();
}

}  // namespace gdn
