// What a night comes to, in words: the same in every format of its report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ci/night/drift.h"
#include "ci/night/report.h"

namespace gdn {

enum class NightOutcome : uint8_t {
  holds,    // all that was asked was judged, and holds
  partly,   // what was judged holds, and something was not
  unknown,  // nothing could be judged, or the night has not ended
  fails     // a finding, an alarm, or a stage that fails
};
std::string_view name_of(NightOutcome outcome);  // "holds", "holds where it was judged", ...

struct NightStep {
  std::string text;     // a sentence or two
  std::string command;  // to type, or empty
};

struct NightVerdict {
  NightOutcome outcome = NightOutcome::unknown;
  std::string sentence;          // one, and complete
  std::vector<NightStep> first;  // what to do, the most urgent first
};
NightVerdict verdict_of(const NightReport& report);

// What stands beside one another in a table, in the order of operators, then of appearance.
struct TensorName {
  std::string op, tensor;
  bool operator==(const TensorName&) const = default;
};
std::vector<TensorName> tensors_of(const NightReport& report);
std::vector<std::string> operators_of(const NightReport& report);
// Engines of which there is a figure, in this night or in one before.
std::vector<std::string> engines_of(const NightReport& report);
// Null where this night has none.
const NightTensor* find_tensor(const Night& night, const TensorName& name,
                               const std::string& engine);
const Trend* find_trend(const HistoryView& view, const TensorName& name, const std::string& engine);

// What moved before the latest night, the last first.
std::vector<DatedChange> moved_before(const NightReport& report);
const Night* find_night(const HistoryView& view, const std::string& id);

// Findings of a state: "new", "known", "fixed".
std::vector<const KnownFinding*> findings_in(const NightReport& report, std::string_view state);
// Each once, although several stages may have said so.
std::vector<NightGap> gaps_of(const Night& night);
std::vector<const NightStage*> stages_not_run(const Night& night);
// A stage's state for people: "did not run".
std::string state_words(const std::string& state);

// The night after the last that has it, of a finding that is fixed and whose nights are still here.
const Night* gone_since(const HistoryView& view, const KnownFinding& finding);
// That it is back, or that nobody asked this time; or empty.
std::string also_of(const HistoryView& view, const KnownFinding& finding);
// One line that names it: "operators_within_bound fails on simt (delta_rule): beta_halved".
std::string title_of(const NightFinding& finding);
// "since 1a2b3c4d5e, first seen 2026-11-21, good at 99aa00bb11"
std::string dates_of(const KnownFinding& finding);
std::string date_of(const std::string& began);  // the day alone

// A figure for people: three digits; "inf" where it is infinite.
std::string ratio_text(double value);
// Seconds as "42 s" or "3 min 20 s".
std::string duration_text(double seconds);
std::string counted(size_t count, std::string_view noun, std::string_view plural = "");

}  // namespace gdn
