// Random call sequences on engines of this machine, from a printed seed. A sequence that fails is
// shrunk, saved as a case, and comes with the command that replays it.
//   api_state_machine [--engine NAME]... [--sequences N] [--seed S] [--out FOLDER]
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "properties/api_machine.h"

namespace gdn {
namespace {

struct Options {
  std::vector<std::string> engines;
  int64_t sequences = 0;  // 0: as many as suit the engine
  uint64_t seed = 4;
  std::filesystem::path out = FAILURES_DIR;
};

bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (i + 1 == count) return false;
    const char* const value = arguments[i + 1];
    if (name == "--engine") {
      options.engines.emplace_back(value);
    } else if (name == "--sequences") {
      options.sequences = std::atoll(value);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--out") {
      options.out = value;
    } else {
      return false;
    }
  }
  if (options.engines.empty()) options.engines = {"twin", "simt"};
  return true;
}

// The case as a file, with what was expected and got below its first line.
std::filesystem::path saved(const Case& c, const std::string& detail, const Options& options) {
  std::filesystem::create_directories(options.out);
  const std::filesystem::path path =
      options.out / ("calls_behave_as_modelled-" + hash8(c) + ".case");
  const std::string text = print(c);
  const size_t end = text.find('\n') + 1;
  std::ofstream(path) << text.substr(0, end) << "# " << detail << '\n' << text.substr(end);
  return path;
}

int run(const std::string& name, const Options& options) {
  std::string why;
  const std::optional<EngineSource> engine = find_engine(name, &why);
  if (!engine) {
    std::cerr << why << '\n';
    return 2;
  }
  const Lab lab(*engine);
  const bool is_simulated = name.find("simt") != std::string::npos;
  const int64_t sequences = options.sequences > 0 ? options.sequences : (is_simulated ? 60 : 600);
  const machine::MachineRun result = machine::run_machine(lab, options.seed, sequences);
  if (!result.failing && result.detail.empty()) {
    std::cout << name << ": " << result.sequences << " sequences of " << result.calls
              << " calls hold, seed " << options.seed << '\n';
    return 0;
  }
  std::cout << name << ": " << result.detail << ", seed " << options.seed << '\n';
  if (!result.failing) return 1;
  const std::filesystem::path path = saved(*result.failing, result.detail, options);
  std::cout << print(*result.failing) << "deltaproof replay " << path.string() << " --engine "
            << name << '\n';
  return 1;
}

}  // namespace
}  // namespace gdn

int main(int count, char** arguments) {
  gdn::Options options;
  if (!gdn::parse(count, arguments, options)) {
    std::cerr << "usage: " << arguments[0]
              << " [--engine NAME]... [--sequences N] [--seed S] [--out FOLDER]\n";
    return 2;
  }
  int worst = 0;
  for (const std::string& engine : options.engines) {
    worst = std::max(worst, gdn::run(engine, options));
  }
  return worst;
}
