// A night with something of every kind, and texts that nobody should trust.
#pragma once

#include <string>

#include "ci/night/night.h"

namespace gdn {

inline const std::string hostile_text =
    "</script><img src=x onerror=alert(1)> \"quoted\" \\ \n\r\t\x01\x1b[31m | `code` \xe2\x80\xa8 "
    "é";

inline Night example_night() {
  Night night;
  night.id = "20261130T020000Z-0123456789ab";
  night.commit = "0123456789abcdef0123456789abcdef01234567-dirty";
  night.subject = hostile_text;
  night.began = "2026-11-30T02:00:00Z";
  night.command = "ci/nightly --quick --out 'a b'";
  night.seed = "0123456789ab";
  night.machine = {"a CPU", "an OS", "g++ 12", 2, "a GPU", "570.1"};
  night.stages = {{"oracles", "passed", 0, 1.5, 60, ""},
                  {"bench", "timed_out", 124, 60.25, 60, "it took longer than 60 s"}};
  night.gaps = {{"engine cuda", "no GPU can be used: " + hostile_text}};
  NightTensor tensor;
  tensor.panel = "1";
  tensor.engine = hostile_text;
  tensor.op = "delta_rule";
  tensor.tensor = "O";
  tensor.samples = 4;
  tensor.undecided = 7;
  tensor.p50 = 0.1;
  tensor.p99 = 0.30000000000000004;
  tensor.worst = std::numeric_limits<double>::infinity();
  tensor.digest = "00ff00ff00ff00ff";
  for (const double ratio : {0.0, 0.1, 0.3, tensor.worst}) tensor.ratios.add(ratio);
  night.tensors = {tensor};
  night.invariants = {{"twin", "layer_within_bound", 10, 1, 2, 3, 4, 5, 0x1p-30}};
  night.benches = {{"a GPU", "step, 1 token", "us", 12.5, 12.25, 13}};
  night.findings = {{"layer_within_bound",
                     "delta_rule",
                     "twin",
                     "error_before_decay",
                     hostile_text,
                     "case\nof lines\n",
                     "deltaproof replay x.case",
                     3,
                     {"17", "4"}}};
  night.mutants = {{"error_before_decay", "delta_rule", "killed", {"layer_within_bound", "x"}},
                   {"not_seen", "conv", "alive", {}}};
  night.fuzz = {{"fuzz_case", uint64_t{1} << 40, 12.5, 100, 2}};
  night.coverage = {{"lines", 90, 100}};
  night.complete = true;
  night.status = 1;
  return night;
}

}  // namespace gdn
