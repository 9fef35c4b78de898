// `apply_edit FILE.edit ROOT OVERLAY`: the file that the edit names, taken from below ROOT, edited,
// at the same place below OVERLAY. Exit status 2 where the edit no longer applies.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ci/kernel_mutants/source_edit.h"

namespace {

std::optional<std::string> content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return std::nullopt;
  return text.str();
}

int refuse(const std::string& where, const std::string& why, int status) {
  std::fprintf(stderr, "apply_edit: %s: %s\n", where.c_str(), why.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int bad_input = 2, infrastructure = 5;
  if (argc != 4) return refuse("usage", "apply_edit FILE.edit ROOT OVERLAY", bad_input);
  const std::filesystem::path from = argv[1], root = argv[2], overlay = argv[3];
  const std::optional<std::string> text = content_of(from);
  if (!text) return refuse(from, "cannot be read", bad_input);
  std::string why;
  const auto edit = gdn::parse_edit(from.stem().string(), *text, &why);
  if (!edit) return refuse(from, why, bad_input);
  const std::optional<std::string> source = content_of(root / edit->file);
  if (!source) return refuse(from, edit->file + " is not there; remove the edit", bad_input);
  const std::optional<std::string> edited = gdn::apply_edit(*edit, *source, &why);
  if (!edited) return refuse(from, why, bad_input);

  const std::filesystem::path to = overlay / edit->file;
  std::filesystem::create_directories(to.parent_path());
  std::ofstream out(to, std::ios::binary);
  out << *edited << std::flush;
  return out ? 0 : refuse(to, "cannot be written", infrastructure);
}
