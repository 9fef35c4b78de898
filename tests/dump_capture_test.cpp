// Captures that docs/python/dump_capture.py writes from the arrays of a numpy engine: a right one
// holds, a planted fault fails and its operator is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;

class DumpedCapture : public ProgramTest {
 protected:
  Ran dump(const std::string& arguments) const {
    return run_line("PYTHONDONTWRITEBYTECODE=1 " + std::string(PYTHON) +
                    " " SOURCE_DIR "/docs/python/dump_capture.py " + arguments + " 2>&1");
  }
  Ran verified(const std::string& what, const std::string& options) const {
    const std::string file = path("capture.safetensors");
    const Ran dumped = dump(what + " " + file + " " + options);
    return dumped.status == 0 ? run("verify " + file) : dumped;
  }
};

TEST_F(DumpedCapture, OfARightOpHolds) {
  for (const char* options : {"", "--bf16"}) {
    const Ran ran = verified("trace", options);
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("capture  local  delta_rule  S"));
    EXPECT_THAT(ran.output, HasSubstr("4 hold, 0 fail"));
  }
}

TEST_F(DumpedCapture, OfARightLayerHoldsInEveryTensor) {
  const Ran ran = verified("layer", "");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("52 hold, 0 fail"));
}

TEST_F(DumpedCapture, OfAFaultFailsAndNamesTheOperator) {
  for (const char* what : {"trace", "layer"}) {
    const Ran ran = verified(what, "--fault error_before_decay");
    EXPECT_EQ(ran.status, 1) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("fails: capture local delta_rule O"));
    EXPECT_THAT(ran.output, HasSubstr("suspect: delta_rule of capture"));
  }
}

TEST_F(DumpedCapture, RefusesOtherTypesInWords) {
  const Ran ran =
      run_line("cd " SOURCE_DIR "/docs/python && PYTHONDONTWRITEBYTECODE=1 " + std::string(PYTHON) +
               " -c 'import numpy, dump_capture as d;"
               " d.write_safetensors(\"x\", {}, {\"q\": numpy.zeros(2)})' 2>&1");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("q is float64, expected float32 or float16"));
}

}  // namespace
}  // namespace gdn
