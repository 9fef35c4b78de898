// The main of a fuzz target that is built without libFuzzer: runs it on every file that it is
// given, and on every file below a folder. An input that fails ends the program, as under
// libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) __attribute__((weak));
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int bad_usage = 2;
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  size_t ran = 0;
  size_t unfit = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("-")) continue;
    for (const std::filesystem::path& file : files_below(argv[i])) {
      std::ifstream in(file, std::ios::binary);
      const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
      if (!in) {
        std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
        return bad_usage;
      }
      // Named before it runs: what ends the program is the last one named.
      std::fprintf(stderr, "%s\n", file.c_str());
      const int result =
          LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(content.data()), content.size());
      ++ran;
      if (result != 0) ++unfit;
    }
  }
  std::printf("%zu inputs ran, %zu of them not of this target\n", ran, unfit);
  if (ran > unfit) return 0;
  // A replay of nothing shows nothing.
  std::fprintf(stderr, "expected files or folders with inputs of this target\n");
  return bad_usage;
}
