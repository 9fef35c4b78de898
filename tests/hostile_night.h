// A night in which every text is someone's who means harm.
#pragma once

#include <string>

#include "tests/night_example.h"

namespace gdn {

// Markup of every format, ends of what texts stand in, bytes that are no text, and characters that
// turn the order of others. `who` makes one tell from another.
inline std::string hostile(const std::string& who) {
  using namespace std::string_literals;
  return who + "\"'<img src=x onerror=alert(1)></script><script>alert(2)</script><!-- ]]> &amp; "s +
         "{{x}} | a ``` b [l](javascript:alert(3)) <b>bold</b> \x00 \x1b[31m \x7f"s +
         "\xc3\x28 \xed\xa0\x80 \xff \xe2\x80\xae turned \xe2\x81\xa6 \xe2\x80\xa8 \xef\xbf\xbe "
         "\n# head\r\n* item \xc3\xa9";
}

inline Night hostile_night() {
  Night night = example_night();
  night.id = hostile("id");
  night.commit = hostile("commit");
  night.subject = hostile("subject");
  night.began = hostile("began");
  night.command = hostile("command");
  night.seed = hostile("seed");
  night.machine = {hostile("cpu"), hostile("os"),    hostile("compiler"), 2,
                   hostile("gpu"), hostile("driver")};
  night.stages[1] = {hostile("stage"), hostile("state"), 124, 60, 60, hostile("why")};
  night.gaps = {{hostile("what"), hostile("why")}};
  NightTensor& tensor = night.tensors.front();
  tensor.panel = hostile("panel");
  tensor.engine = hostile("engine");
  tensor.op = hostile("operator");
  tensor.tensor = hostile("tensor");
  night.invariants.front().engine = hostile("engine");
  night.invariants.front().invariant = hostile("invariant");
  night.benches = {{hostile("machine"), hostile("bench"), hostile("unit"), 2, 1, 3}};
  night.findings = {{hostile("invariant"), hostile("operator"), hostile("engine"),
                     hostile("diagnosis"), hostile("detail"), hostile("case"), hostile("replay"),
                     3}};
  night.mutants = {{hostile("mutant"), hostile("operator"), hostile("state"), {hostile("killer")}}};
  night.fuzz = {{hostile("target"), 5, 1, 1, 1}};
  night.coverage = {{hostile("covered"), 1, 2}};
  return night;
}

}  // namespace gdn
