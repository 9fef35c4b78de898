// Triage of the host: the first call that leaves the model, and the causes that fit what is seen.
#include <algorithm>
#include <string>

#include "ci/triage/call_stories.h"
#include "ci/triage/calls_beside.h"
#include "ci/triage/finding.h"
#include "ci/triage/host_cause.h"
#include "ci/triage/own_words.h"

namespace gdn {
namespace {

// An operator is to blame where a fed layer alone is wrong and nothing that is known of states
// explains it: the first in their order whose tensor is.
std::string blamed(const Scene& scene, bool is_explained) {
  const Departure& at = scene.at;
  const bool is_fed = scene.is(Departure::What::numbers) && scene.feeds() && scene.now.seen.ok();
  const bool own = scene.is(CallKind::forward) ? !at.wrong.empty() : scene.own_layer_alone();
  if (is_explained || !is_fed || !own) return "host";
  const std::set<Tensor>& tensors = at.wrong.begin()->second;
  Operator first = Operator::dequant;
  for (const Tensor tensor : tensors) first = std::min(first, operator_of(tensor));
  return std::string(name_of(first));
}

std::optional<OwnWords> in_itself(const Departure& at, const Trace& trace) {
  const CallObserved& seen = trace.calls[at.call].seen;
  if (at.what != Departure::What::not_served || seen.status != GDN_INTERNAL) return std::nullopt;
  return own_words(seen.text);
}

CallFinding finding_of(const Trace& trace, const Departure& at, const Lab& lab, CallTruth& truth) {
  const Scene scene(trace, at, lab, truth);
  CallFinding found;
  found.call = at.call;
  found.kind = scene.call.kind;
  found.verdict = at.verdict;
  found.layer = at.wrong.empty() ? std::max<int64_t>(0, scene.layer()) : at.layer();
  bool is_explained = false;
  for (const bool symptoms : {false, true}) {
    for (const HostCause& cause : host_causes()) {
      if (cause.is_symptom != symptoms || !cause.is_it(scene)) continue;
      found.causes.emplace_back(cause.name);
      found.sentences.emplace_back(cause.sentence);
      is_explained = is_explained || !symptoms;
    }
  }
  found.op = blamed(scene, is_explained);
  // A right call that fails in a kernel.
  const std::optional<OwnWords> own = in_itself(at, trace);
  if (own && !is_explained) {
    found.op = own->op;
    found.causes = {own->cause.name};
    found.sentences = {own->cause.sentence};
  }
  if (!at.wrong.empty()) {
    found.tensor = name_of(*at.wrong.begin()->second.begin());
  } else if (at.wrong_arrays.contains("out")) {
    found.tensor = "out";
  }
  Story made = trace.story;
  made.calls.clear();
  for (const CallSeen& call : trace.calls) made.calls.push_back(call.asked);
  found.shown = made.whole();
  found.setting = trace.story.setting.words;
  return found;
}

bool names_a_bug(const CallFinding& found) {
  if (!found.causes.empty() && own_words(found.verdict.detail)) return true;
  return std::any_of(found.causes.begin(), found.causes.end(), [](const std::string& name) {
    return std::any_of(host_causes().begin(), host_causes().end(), [&](const HostCause& cause) {
      return cause.name == name && !cause.is_symptom;
    });
  });
}

std::optional<CallFinding> finding_in(const Story& story, const Lab& lab, CallTruth& truth) {
  if (story.calls.empty()) return std::nullopt;
  truth.close();
  const Trace trace(story, lab);
  const std::optional<Departure> at = first_departure(trace, lab, truth);
  if (!at) return std::nullopt;
  return finding_of(trace, *at, lab, truth);
}

// What the engine has of a story. One that cannot observe has no tensors of tokens to read.
Story served_part(Story story, const Lab& lab) {
  const bool observes = lab.description().options.contains("observe");
  story.setting.options.observe = story.setting.options.observe && observes;
  std::erase_if(story.calls, [&](const WrongCall& asked) {
    const int64_t tensor = asked.call.at(Argument::tensor);
    const bool is_of_token = asked.call.kind == CallKind::read && tensor >= 0 &&
                             tensor < static_cast<int64_t>(Tensor::S);
    return (is_of_token && !observes) || !is_served(story.bare, lab, asked.call);
  });
  return story;
}

// The case with two layers or more, and tokens that differ where it draws them.
Case roomy(const Case& c) {
  const Case layered = with_layers(c, 2);
  constexpr int64_t tokens_min = 4;
  Case longer = layered;
  longer.tokens = std::max(c.tokens, tokens_min);
  return why_invalid(longer).empty() && !c.numbers.contains("h") ? longer : layered;
}

}  // namespace

std::optional<CallFinding> wrong_own_call(const Case& c, const Lab& lab) {
  const bool has_calls = c.subject == Subject::layer && (!c.calls.empty() || c.tokens > 0);
  if (!has_calls || !lab.why_not(c).empty()) return std::nullopt;
  CallTruth truth(lab, c);
  return finding_in(served_part(own_story(c), lab), lab, truth);
}

std::optional<CallFinding> wrong_buffer(const Case& c, const Lab& lab) {
  if (!lab.why_not(c.with_calls({})).empty()) return std::nullopt;
  CallTruth truth(lab, c);
  return finding_in(served_part(buffers_written(c, lab), lab), lab, truth);
}

std::optional<CallFinding> first_wrong_call(const Case& c, const Lab& lab) {
  if (c.subject != Subject::layer) return wrong_beside_layers(c, lab);
  if (!lab.why_not(c.with_calls({})).empty()) return std::nullopt;
  CallTruth own_truth(lab, c);
  std::optional<CallFinding> found = finding_in(served_part(own_story(c), lab), lab, own_truth);
  if ((found && names_a_bug(*found)) || c.tokens < 1) return found;
  own_truth.close();
  const Case bare = roomy(c);
  CallTruth truth(lab, bare);
  for (const StoryMaker make : story_makers()) {
    const Story story = served_part(make(bare, lab), lab);
    // One of other weights has other numbers.
    const bool is_own = story.bare.weights == bare.weights;
    std::optional<CallTruth> others;
    if (!is_own) others.emplace(lab, story.bare);
    std::optional<CallFinding> other = finding_in(story, lab, is_own ? truth : *others);
    // What no known bug explains is kept, and given up for what one does.
    if (other && (!found || names_a_bug(*other))) found = std::move(other);
    if (found && names_a_bug(*found)) return found;
  }
  if (!found) found = wrongly_opened(c, lab);
  if (!found) found = unlike_the_simulator(c, lab);
  return found;
}

}  // namespace gdn
