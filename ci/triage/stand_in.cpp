// Stand-ins for parts that are written elsewhere.
#include "ci/triage/finding.h"
namespace gdn {
std::vector<Explanation> explanations_of(const OperatorRun&) { return {}; }
std::optional<CallFinding> first_wrong_call(const Case&, const Lab&) { return std::nullopt; }
}  // namespace gdn
