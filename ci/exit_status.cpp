// How a command says that it cannot go on.
#include "ci/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

namespace gdn {

ExitStatus refuse(const std::string& why, ExitStatus status) {
  fmt::print(stderr, "deltaproof: {}\n", why);
  return status;
}

}  // namespace gdn
