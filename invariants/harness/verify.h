// The main job: one capture file, judged. What the source put out and passed on, and a run of an
// engine on the same weights and inputs, operator by operator.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "invariants/harness/capture.h"
#include "invariants/harness/judge.h"
#include "invariants/harness/lab.h"
#include "reference/dialect.h"

namespace gdn {

struct VerifyOptions {
  const Lab* lab = nullptr;        // of the engine; null: the capture alone is judged
  std::optional<Dialect> dialect;  // of the capture; none: what the file says
  // Called now and then with what is being done and how much of the file is done, 0 to 1.
  std::function<void(std::string_view doing, double done)> progress;
};

// Local: each operator on the inputs that it was fed. Global: from the raw inputs of the layer,
// the bound carried through everything between.
enum class Scope : uint8_t { local, global };
std::string_view name_of(Scope scope);

struct VerifyRow {
  Scope scope = Scope::local;
  Judgement judgement;  // source is "capture", "reference" or the engine's name
};

struct VerifyReport {
  std::string path, format;
  std::string source;                             // who made the capture, in the file's words
  std::string capture_contract, capture_dialect;  // empty where nothing is computed in floats
  std::string engine, engine_contract;            // empty without an engine
  std::vector<VerifyRow> rows;
  std::vector<std::string> notes;  // what was not judged, and why
};

// Nothing where the file cannot be read, and in `why` one line: file, what is wrong, what was
// expected. All that concerns numbers is a row.
std::optional<VerifyReport> verify_file(const std::string& path, const VerifyOptions& options,
                                        std::string* why);
VerifyReport verify(const Capture& capture, const VerifyOptions& options);

// The contract that a capture's source is held to; it says nothing itself.
Contract contract_of_source(const LayerCapture& capture);
Contract contract_of_source(const TraceCapture& capture);

// A trace's dialect where another is asked for: its conventions are the other's, but what the file
// shows (which decays there are, that they are logarithms, how numbers are stored) stays.
Dialect dialect_of_trace(const TraceCapture& capture, const std::optional<Dialect>& asked);

// What a trace must hold: the output of each token, and the state after the last and after each of
// the snapshots, newest first.
struct TraceExpectation {
  std::vector<Bounded> o;  // [T][vh][vd]
  Bounded final_state;     // [vh][kd][vd]
  std::vector<Bounded> snapshots;
};
TraceExpectation expect_trace(const TraceCapture& capture, const Dialect& dialect,
                              const Contract& contract);

}  // namespace gdn
