// A history that a command reads.
#pragma once

#include <memory>
#include <string>

#include "ci/night/history.h"

namespace gdn {

// Nothing, said on stderr and in *status, where there is no such file or it is none.
std::unique_ptr<History> open_history(const std::string& path, ExitStatus* status);

}  // namespace gdn
