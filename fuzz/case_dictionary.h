// The words of a case's text form as a dictionary of libFuzzer, written from the tables of the
// code.
#pragma once

#include <string>

namespace gdn {

// What fuzz/case.dict holds; `fuzz_case_text --dictionary` prints it.
std::string case_dictionary();

}  // namespace gdn
