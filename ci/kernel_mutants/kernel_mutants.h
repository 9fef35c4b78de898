// Mutants that are edits of the kernels or their host, what became of each under the invariants,
// and that as text, JSON and Markdown.
#pragma once

#include <string>
#include <vector>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/exit_status.h"
#include "ci/kernel_mutants/source_edit.h"
#include "ci/table.h"
#include "invariants/harness/engine.h"

namespace gdn {

struct KernelMutant {
  SourceEdit edit;
  EngineSource engine;
};

// By name, with or without `mutant:`; all that there are if there are no names. exit_bad_input and
// a line where one is not there, is not built or cannot be read.
ExitStatus find_kernel_mutants(const std::vector<std::string>& names,
                               std::vector<KernelMutant>& found);
// Places of cases: the seeds, which are the first so many, of what the edit is about before the
// others, and of these the cheap ones first; then what was drawn.
std::vector<size_t> order_for(const SourceEdit& edit, const std::vector<CaseFile>& cases,
                              size_t seeds);
// Where edits were looked for, if there are none; or an empty string.
std::string why_no_kernel_mutants();
// Of all edits, built or not.
TextTable kernel_mutants_table();

// That every engine of the kernels is held to.
inline constexpr const char* same_bits_invariant = "device_equals_simulator";

// What one invariant saw first of a mutant. Right engines give no engine error, do not
// crash and do not hang: each of these kills.
struct Death {
  enum class Cause { fails, engine_error, crash, hangs };
  Cause cause = Cause::fails;
  std::string invariant, on, detail;
};
std::string name_of(Death::Cause cause);

struct MutantFate {
  SourceEdit edit;
  std::vector<Death> deaths;  // at most one of each invariant, as they were found
  size_t verdicts = 0;        // without those that did not apply

  bool killed() const { return !deaths.empty(); }
};

struct Fates {
  std::string command, version;
  size_t seeds = 0, drawn = 0;
  bool until_killed = false;
  std::vector<MutantFate> all;
};

// "MUTANT: why", of each that is alive without being proven equivalent, that is killed in spite of
// it, or of which nothing was judged.
std::vector<std::string> problems_of(const Fates& fates);
std::string as_text(const Fates& fates);
std::string as_json(const Fates& fates);
std::string as_markdown(const Fates& fates);
inline constexpr const char* kernel_mutants_part = "kernel mutants";

ExitStatus run_kernel_matrix(const MatrixCommand& command);

}  // namespace gdn
