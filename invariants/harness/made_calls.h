// Calls as invariants make them, and what a single call gave against what it should have given.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "invariants/harness/observation.h"
#include "invariants/harness/verdict.h"
#include "reference/case.h"

namespace gdn {

// S and HIST of the layer that a call names (of layer 0 where it names none) are read after it.
namespace made {
Call call(CallKind kind, std::map<Argument, int64_t> given = {});
Call step(int64_t layer, int64_t token);
Call run(int64_t layer, int64_t first_token, int64_t tokens);
Call forward(int64_t first_token, int64_t tokens);
Call reset(int64_t layer);  // -1: all
Call state(int64_t layer);  // S and HIST are read, and nothing else is done
Call snapshot(int64_t layer, int64_t id);
Call rollback(int64_t layer, int64_t id);  // layer: whose state is read
Call state_export(int64_t layer, int64_t id);
Call state_import(int64_t layer, int64_t id);
// The set-up of a case in which every layer has the weights of layer 0.
std::vector<Call> same_weights_setup(const Case& c);
// What an unloaded layer needs to be ready again; the pool holds its matrices where it had them.
std::vector<Call> load_again(const Case& c, int64_t layer);
void append(std::vector<Call>& calls, const std::vector<Call>& more);
}  // namespace made

// The out of a call of several tokens, in rows of one.
std::vector<float> row_of(const std::vector<float>& out, size_t token, int64_t hidden_size);
// A call's out and reads against the global check.
Verdict within(const std::string& where, const CallObserved& got, const CallExpectation& want,
               int64_t hidden_size);
// A run's conduct, and every call served but `refusals`, whose refusal alone is right.
Verdict served_but(const Observation& seen, const std::set<size_t>& refusals);
// Of a call that leaves the state alone: what it read back is what an earlier call left.
Verdict state_kept(const std::string& where, const CallObserved& got, const CallObserved& left);

}  // namespace gdn
