// Mutants of the kernels: shared libraries that are built on demand, beside the edits that they are
// made of. docs/kernel-mutants.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gdn {

// The folder that DELTAPROOF_KERNEL_MUTANTS names in the environment, else kernel_mutants beside
// this program, else in the folder above it, where tests find it.
std::string kernel_mutants_folder();
// Of every edit in it, sorted; empty where there is none.
std::vector<std::string> kernel_mutant_names();
// The paths of an edit and of the library made of it, whether or not they are there.
std::string kernel_mutant_edit(std::string_view name);
std::string kernel_mutant_library(std::string_view name);
// Empty, or that it is not built, and the command that builds it.
std::string why_kernel_mutant_not_built(std::string_view name);

}  // namespace gdn
