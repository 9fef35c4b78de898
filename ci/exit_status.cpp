// How a command says that it cannot go on.
#include "ci/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

#include "ci/escaped.h"

namespace gdn {

ExitStatus refuse(const std::string& why, ExitStatus status) {
  fmt::print(stderr, "deltaproof: {}\n", visible_lines(why));
  return status;
}

}  // namespace gdn
