// The registry of causes, and the questions that they share.
#include "ci/triage/host_cause.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace gdn {
namespace {

std::vector<HostCause>& causes() {
  static std::vector<HostCause> all;
  return all;
}

}  // namespace

RegisteredCause::RegisteredCause(HostCause cause) {
  std::vector<HostCause>& all = causes();
  const auto at = std::find_if(all.begin(), all.end(), [&](const HostCause& other) {
    return std::string_view(other.name) > cause.name;
  });
  all.insert(at, std::move(cause));
}

const std::vector<HostCause>& host_causes() { return causes(); }

Scene::Scene(const Trace& trace_seen, const Departure& departure, const Lab& lab_used,
             CallTruth& known)
    : trace(trace_seen),
      at(departure),
      lab(lab_used),
      truth(known),
      now(trace_seen.calls[departure.call]),
      call(now.asked.call),
      before(trace_seen.before(departure.call)),
      after(trace_seen.after(departure.call)) {
  const Shape& shape = trace.story.bare.shape;
  no_state_[0].assign(static_cast<size_t>(element_count(Tensor::S, shape)), 0.0F);
  no_state_[1].assign(static_cast<size_t>(element_count(Tensor::HIST, shape)), 0.0F);
}

bool Scene::feeds() const {
  return is(CallKind::step) || is(CallKind::run) || is(CallKind::forward);
}

bool Scene::is_other(int64_t layer) const {
  return takes(call.kind, Argument::layer) && call.at(Argument::layer) >= 0 &&
         call.at(Argument::layer) != layer;
}

const std::vector<float>& Scene::got(int64_t layer, Tensor tensor) const {
  return now.states[static_cast<size_t>(layer)].at(tensor);
}

const std::vector<float>& Scene::had(int64_t layer, Tensor tensor) const {
  if (at.call == 0) return no_state_[tensor == Tensor::S ? 0 : 1];
  return trace.calls[at.call - 1].states[static_cast<size_t>(layer)].at(tensor);
}

bool Scene::kept(int64_t layer, Tensor tensor) const {
  return equal_bits(got(layer, tensor), had(layer, tensor));
}

bool Scene::zeroed(int64_t layer, Tensor tensor) const {
  const std::vector<float>& state = got(layer, tensor);
  return std::all_of(state.begin(), state.end(),
                     [](float x) { return std::bit_cast<uint32_t>(x) == 0; });
}

bool Scene::own_layer_alone() const {
  return at.wrong.size() == 1 && at.wrong.begin()->first == layer();
}

bool Scene::wrong_alone(Tensor tensor) const {
  const Tensor other = tensor == Tensor::S ? Tensor::HIST : Tensor::S;
  return std::all_of(at.wrong.begin(), at.wrong.end(), [&](const auto& of_layer) {
    return of_layer.second.contains(tensor) && !of_layer.second.contains(other);
  });
}

bool Scene::follows(const std::vector<Fed>& fed, size_t place, int64_t layer,
                    std::initializer_list<Tensor> tensors) const {
  return std::all_of(tensors.begin(), tensors.end(), [&](Tensor tensor) {
    const std::vector<float>& state = got(layer, tensor);
    // Where the engine's own steps are wrong the reference alone can tell.
    const bool steps = !at.by_bounds && truth.steps_to(fed, place, tensor, state);
    return state.empty() || steps || truth.allows(fed, place, tensor, state);
  });
}

size_t Scene::last(const std::function<bool(const CallSeen&)>& is_so) const {
  for (size_t i = at.call; i-- > 0;) {
    if (is_so(trace.calls[i])) return i;
  }
  return npos;
}

size_t Scene::last_refusal() const {
  return last([](const CallSeen& c) { return !c.seen.ok(); });
}

std::vector<CallObserved> Scene::tried(const std::vector<Call>& more) const {
  truth.close();
  Story story = trace.story;
  story.calls.clear();
  // As they were made, with the tokens that they had.
  for (size_t i = 0; i < at.call; ++i) {
    if (trace.calls[i].refused_nth == 0 || trace.calls[i].seen.ok()) {
      story.calls.push_back(trace.calls[i].asked);
    }
  }
  return gdn::tried(story, lab, story.calls.size(), more);
}

}  // namespace gdn
