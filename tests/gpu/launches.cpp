// Each kernel by itself, in every size of block that it takes: the contract's order of additions
// does not name the block, so the bits may not depend on it; nor on the machine.
#include <fmt/format.h>

#include "invariants/harness/verdict.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/kernel_cases.h"

namespace gdn::gpu {

Findings check_launches(const Options& options) {
  engine_or_exit(options.engine);
  KernelDevice device(options.engine);
  const bool compares = options.against != options.engine && options.against != "none";
  Findings found;
  FiguresTable table{
      "Kernels in every size of block", {"kernel", "threads", "numbers", "equal"}, {}};
  for (const KernelCase& kernel : kernel_cases()) {
    const std::vector<float> first = kernel.run(device, kernel.threads.front());
    std::string sizes = "the engine's";
    Verdict all = claim(!first.empty(), "no numbers");
    for (const unsigned threads : kernel.threads) {
      if (threads != usual_size) sizes += fmt::format(", {}", threads);
      all = both(std::move(all), same_bits(fmt::format("{} with {} threads", kernel.name, threads),
                                           kernel.run(device, threads), first));
    }
    if (compares) {
      KernelDevice other(options.against);
      all =
          both(std::move(all), same_bits(fmt::format("{} against {}", kernel.name, options.against),
                                         first, kernel.run(other, kernel.threads.front())));
    }
    table.rows.push_back({kernel.name, sizes, static_cast<int64_t>(first.size()),
                          std::string(all.holds() ? "yes" : "no")});
    found.state(all.holds(), kernel.name + " gives equal bits in every size of block", all.detail);
  }
  found.tables.push_back(std::move(table));
  return found;
}

}  // namespace gdn::gpu
