// Calls that an engine must refuse, and the proof that a refusal leaves no trace: what every claim
// about refused calls shares.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/observation.h"
#include "reference/case.h"

namespace gdn {

// S and HIST of every layer.
std::vector<Call> state_reads(const Case& c);
// One token through every layer from row `token` of the stream, with what it gave.
std::vector<Call> steps_of_all_layers(const Case& c, int64_t token);
// What is held beside the states: the bytes of the pool where the case puts some there.
std::vector<Call> pool_reads(const Case& c);
// The case with at least so many layers: the others' weights are other weights.
Case with_layers(const Case& c, int64_t layers_min);
// Do the projections fit the tiles of 4-bit weights?
bool fits_tiles(const Shape& shape);

struct WrongCall {
  Call call;
  gdn_status status = GDN_OK;  // the one that device/gdn.h names; GDN_OK: any refusal is right
  std::string what;
  bool asks_for_nothing = false;  // device/gdn.h: refused before any allocation
  Altered altered = {};           // what is wrong where the call cannot say it
};

// That it was refused, with a reason, and as device/gdn.h says.
Verdict refused(const CallObserved& seen, const WrongCall& wrong);

// `before`, the wrong calls, all states, `after`; and the same without the wrong calls: each of
// those is refused, and all else gives equal bits. Calls of `after` name their first token, since
// a refused one takes its share of the stream as well. An allocation is refused to the first alone.
Verdict refused_without_trace(const Case& c, const Lab& lab, std::vector<Call> before,
                              const std::vector<WrongCall>& wrong, const std::vector<Call>& after,
                              const RunOptions& options = {});

// Calls with one wrong argument each, for an engine after set-up: every layer loaded, or loaded and
// bound, export 0 and some snapshot taken, buffer 0 made of 64 bytes. Those that the engine has, in
// a fixed order, of a case of one token or more.
std::vector<WrongCall> wrong_calls(const Case& c, const Lab& lab);
// What makes them wrong in one way only.
std::vector<Call> calls_before_wrong_ones(const Case& c, const Lab& lab);

// Does the engine have this call, and of snapshots the option?
bool is_served(const Case& c, const Lab& lab, const Call& call);
// Right calls that hold every kind of memory that the engine has, of a case of two layers or more
// and one token or more; each names its first token. At most two snapshots are held.
std::vector<Call> calls_that_hold_memory(const Case& c, const Lab& lab);

}  // namespace gdn
