// Causes: what is refused, how, and what a refusal leaves behind.
#include <algorithm>
#include <bit>

#include "ci/triage/host_cause.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using What = Departure::What;

// Another call is refused without words too.
bool is_wordless(const Scene& s) {
  if (!s.is(What::no_words)) return false;
  const std::vector<CallObserved> seen = s.tried({call_of(K::step, {{A::layer, -1}})});
  return !seen.empty() && !seen[0].ok() && seen[0].text.empty();
}
const RegisteredCause words{{.name = "refusal_without_words",
                             .sentence = "refusals come without a reason in last_error",
                             .is_it = is_wordless}};
const RegisteredCause no_words{
    {.name = "this_refusal_without_words",
     .sentence = "this refusal comes without a reason in last_error, others have one",
     .is_it = [](const Scene& s) { return s.is(What::no_words) && !is_wordless(s); },
     .is_symptom = true}};
const RegisteredCause old_words{{.name = "words_of_an_earlier_refusal",
                                 .sentence = "last_error gives the words of an earlier refusal",
                                 .is_it = [](const Scene& s) { return s.is(What::same_words); }}};

bool is_too_small_invalid(const Scene& s) {
  return s.is(What::other_status) && s.now.asked.status == GDN_TOO_SMALL &&
         s.now.seen.status == GDN_INVALID_ARGUMENT;
}
const RegisteredCause too_small{
    {.name = "too_small_reported_as_invalid",
     .sentence = "a short destination is refused as an invalid argument, not as too small",
     .is_it = is_too_small_invalid}};
const RegisteredCause other_status{
    {.name = "refusal_with_another_status",
     .sentence = "the status of the refusal is not the one that device/gdn.h names",
     .is_it = [](const Scene& s) { return s.is(What::other_status); },
     .is_symptom = true}};

bool is_short_read_served(const Scene& s) {
  return s.is(What::served) && s.is(K::read) && s.call.at(A::capacity) >= 0;
}
const RegisteredCause truncated{{.name = "short_read_truncates",
                                 .sentence = "a read into too little room is cut off and served",
                                 .is_it = is_short_read_served}};

bool is_written_when_refused(const Scene& s) {
  return s.is(What::misconduct) && s.is(K::read) && !s.now.seen.ok() &&
         s.now.misconduct.find("refused and wrote") != std::string::npos;
}
const RegisteredCause read_writes{{.name = "refused_read_writes",
                                   .sentence = "a refused read has written into its destination",
                                   .is_it = is_written_when_refused}};

bool is_input_written(const Scene& s) {
  return s.is(What::misconduct) && s.now.misconduct.find("wrote into h") != std::string::npos;
}
const RegisteredCause into_h{{.name = "writes_into_h",
                              .sentence = "the call writes into h, which it is given to read",
                              .is_it = is_input_written}};
const RegisteredCause misconduct{{.name = "writes_where_it_must_not",
                                  .sentence = "the call writes outside what it is given to write",
                                  .is_it =
                                      [](const Scene& s) {
                                        return s.is(What::misconduct) &&
                                               s.now.misconduct.find("wrote") != std::string::npos;
                                      },
                                  .is_symptom = true}};

bool is_token_read(const Scene& s) {
  return s.is(What::served) && s.is(K::read) && s.call.at(A::capacity) == -1 &&
         s.call.at(A::tensor) >= 0 && s.call.at(A::tensor) < static_cast<int64_t>(Tensor::S);
}
bool is_unobserved(const Scene& s) {
  return is_token_read(s) && !s.trace.story.setting.options.observe;
}
const RegisteredCause unobserved{
    {.name = "unobserved_tensors_are_zeros",
     .sentence = "a tensor that was not stored, without observe, is read all the same",
     .is_it = is_unobserved}};

// A tensor is read where there is no token: it is that of the last one there was.
bool is_stale(const Scene& s) {
  if (!is_token_read(s) || is_unobserved(s)) return false;
  const auto tensor = static_cast<Tensor>(s.call.at(A::tensor));
  const size_t fed = s.last([&](const CallSeen& c) { return c.tensors.contains(s.layer()); });
  const auto got = s.now.seen.reads.find(tensor);
  if (fed == Scene::npos || got == s.now.seen.reads.end()) return false;
  return equal_bits(got->second, s.trace.calls[fed].tensors.at(s.layer()).at(tensor));
}
const RegisteredCause stale{{.name = "stale_tensors_after_reset",
                             .sentence = "the tensors of a token that is gone can still be read",
                             .is_it = is_stale}};

bool is_load_without(const Scene& s) {
  return s.is(What::served) && s.is(K::load_layer_f32) && !s.call.omit.empty() &&
         !s.before.layers()[0].loaded;
}
const RegisteredCause missing{{.name = "missing_norm_weight_taken_as_ones",
                               .sentence = "a load without one of the small tensors is served",
                               .is_it = is_load_without}};

bool is_count_ignored(const Scene& s) {
  return s.is(What::served) && s.is(K::apply) && s.call.at(A::count_off) != 0;
}
const RegisteredCause counts{{.name = "apply_ignores_counts",
                              .sentence = "apply is served with arrays of other counts",
                              .is_it = is_count_ignored}};

bool is_foreign_state(const Scene& s) {
  return s.is(What::served) && s.is(K::state_import) &&
         s.trace.story.setting.options.exports.contains(s.call.at(A::id));
}
const RegisteredCause header{{.name = "import_ignores_header",
                              .sentence = "a state with another header is imported",
                              .is_it = is_foreign_state}};

bool is_history_moved(const Scene& s) {
  return s.is(What::numbers) && s.feeds() && !s.is(K::forward) && !s.now.seen.ok() &&
         s.wrong_alone(Tensor::HIST) && !s.at.wrong.empty();
}
const RegisteredCause advanced{{.name = "refused_step_advances_history",
                                .sentence = "a refused step has moved HIST on",
                                .is_it = is_history_moved}};

bool is_unready_served(const Scene& s) {
  if (!s.is(What::served) || !s.feeds() || s.is(K::forward)) return false;
  const auto layer = static_cast<size_t>(s.layer());
  if (layer >= s.before.layers().size() || s.before.layers()[layer].ready()) return false;
  return std::all_of(s.now.seen.out.begin(), s.now.seen.out.end(),
                     [](float x) { return std::bit_cast<uint32_t>(x) == 0; });
}
const RegisteredCause unready{{.name = "unloaded_layer_gives_zeros",
                               .sentence = "a layer without weights gives zeros, not an error",
                               .is_it = is_unready_served}};

const RegisteredCause served{{.name = "serves_what_it_should_refuse",
                              .sentence = "a wrong argument is served",
                              .is_it = [](const Scene& s) { return s.is(What::served); },
                              .is_symptom = true}};
const RegisteredCause not_served{{.name = "refuses_what_it_should_serve",
                                  .sentence = "a right call is refused",
                                  .is_it = [](const Scene& s) { return s.is(What::not_served); },
                                  .is_symptom = true}};
const RegisteredCause trace_left{{.name = "refused_call_changes_state",
                                  .sentence = "a refused call has changed a state",
                                  .is_it =
                                      [](const Scene& s) {
                                        return s.is(What::numbers) && !s.now.seen.ok() &&
                                               !s.at.wrong.empty();
                                      },
                                  .is_symptom = true}};

}  // namespace
}  // namespace gdn
