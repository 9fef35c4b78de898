// Causes: memory that is held after close, or given back too often.
#include "ci/triage/host_cause.h"

namespace gdn {
namespace {

using K = CallKind;
using What = Departure::What;

bool is_too_much(const Scene& s) { return s.trace.end.released_too_much; }

const RegisteredCause snapshots{
    {.name = "snapshots_leak",
     .sentence = "after close memory is held since a snapshot was taken",
     .is_it = [](const Scene& s) {
       return s.is(What::memory) && s.is(K::snapshot) && !is_too_much(s);
     }}};
const RegisteredCause twice{{.name = "release_told_twice",
                             .sentence = "the release of a buffer is told to the gate twice",
                             .is_it = [](const Scene& s) {
                               return s.is(What::memory) && s.is(K::buffer_release) &&
                                      is_too_much(s);
                             }}};
const RegisteredCause held{
    {.name = "memory_is_held_after_close",
     .sentence = "after close memory is held since this call",
     .is_it = [](const Scene& s) { return s.is(What::memory) && !is_too_much(s); },
     .is_symptom = true}};
const RegisteredCause overdrawn{
    {.name = "memory_is_released_too_often",
     .sentence = "more memory is released than is held",
     .is_it = [](const Scene& s) { return s.is(What::memory) && is_too_much(s); },
     .is_symptom = true}};

}  // namespace
}  // namespace gdn
