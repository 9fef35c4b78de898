// Where mutants of the kernels lie.
#include "invariants/harness/kernel_mutants.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace gdn {

namespace fs = std::filesystem;

std::string kernel_mutants_folder() {
  const char* const given = std::getenv("DELTAPROOF_KERNEL_MUTANTS");
  if (given != nullptr && *given != '\0') return given;
  std::error_code none;
  const fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
  const fs::path beside = here / "kernel_mutants";
  const fs::path above = here.parent_path() / "kernel_mutants";
  return !fs::is_directory(beside, none) && fs::is_directory(above, none) ? above : beside;
}

std::vector<std::string> kernel_mutant_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(kernel_mutants_folder(), none)) {
    if (entry.path().extension() == ".edit") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string kernel_mutant_edit(std::string_view name) {
  return kernel_mutants_folder() + "/" + std::string(name) + ".edit";
}

std::string kernel_mutant_library(std::string_view name) {
  return kernel_mutants_folder() + "/" + std::string(name) + ".so";
}

std::string why_kernel_mutant_not_built(std::string_view name) {
  const std::string library = kernel_mutant_library(name);
  if (fs::exists(library)) return "";
  return library + " is not built: cmake --build --preset dev --target kernel_mutants";
}

}  // namespace gdn
