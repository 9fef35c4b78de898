// The panel: fixed cases whose numbers a bit-stable engine repeats exactly, night after night.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/night/night.h"
#include "invariants/harness/lab.h"

namespace gdn {

// The version that is judged now: cases of corpus/panel/VERSION. They are never changed; other
// cases are another version, which is compared with no earlier one.
inline constexpr const char* panel_version = "1";

// One token's tensor on an engine, or one array of the recurrence alone (operator "recurrent").
struct PanelSample {
  std::string op, tensor;
  bool is_decided = false;  // of any element
  double ratio = 0;      // the worst error/bound of its elements; beyond 1, or infinite, it fails
  size_t undecided = 0;  // elements
  uint64_t hash = 0;     // of the engine's numbers
};

// A layer is fed through `step` and each operator judged on what the engine fed it; a recurrence is
// one call. Empty where *served says that the engine does not serve the case, or fails in it.
std::vector<PanelSample> panel_samples(const Case& c, const Lab& lab, Verdict* served);

// Rows of one engine in the order of operators, from the samples of all cases in their order.
std::vector<NightTensor> panel_rows(const std::string& engine,
                                    const std::vector<PanelSample>& samples);

struct PanelCommand {
  std::string program = "deltaproof";
  std::vector<std::string> engines;  // empty: twin, simt and, where it can be used, cuda
  int jobs = 0;                      // processes; 0: as many as there are cores
  std::string records;  // where to write what it found, as records of a night; or empty
};
ExitStatus run_panel(const PanelCommand& command);

}  // namespace gdn
