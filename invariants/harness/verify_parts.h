// One part a format; each adds its rows and notes to the report.
#pragma once

#include <string>

#include "invariants/harness/verify.h"

namespace gdn {

void verify_layer(const LayerCapture& capture, const VerifyOptions& options, VerifyReport& report);
void verify_trace(const TraceCapture& capture, const VerifyOptions& options, VerifyReport& report);
void verify_q4(const Q4Capture& capture, const VerifyOptions& options, VerifyReport& report);

inline void show_progress(const VerifyOptions& options, std::string_view doing, double done) {
  if (options.progress) options.progress(doing, done);
}

void add_row(VerifyReport& report, Scope scope, Judgement judgement);

// Did the engine serve the run? If not, one row says why.
bool served(VerifyReport& report, Scope scope, Operator op, const char* tensor,
            const Verdict& conduct);

}  // namespace gdn
