// Hostile bytes as the text of a case: the parser says what is wrong with it, or what it read
// prints and parses to itself.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "fuzz/case_dictionary.h"
#include "fuzz/demand.h"
#include "reference/case.h"

// --dictionary prints the dictionary of the text form; --dictionary=FILE holds FILE against it.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view option = "--dictionary";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (!argument.starts_with(option)) continue;
    const std::string words = gdn::case_dictionary();
    if (argument == option) {
      std::fputs(words.c_str(), stdout);
      std::exit(0);
    }
    std::ifstream in(std::string(argument.substr(option.size() + 1)), std::ios::binary);
    const std::string held{std::istreambuf_iterator<char>(in), {}};
    if (held == words) std::exit(0);
    std::fprintf(stderr, "%s is not what fuzz_case_text --dictionary prints; write it anew\n",
                 argument.data());
    std::exit(1);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string why;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<gdn::Case> c = gdn::parse_case(text, &why);
  gdn::demand(c.has_value() == why.empty(), "a case and a reason against it, or neither");
  if (!c) return 0;
  const std::string printed = gdn::print(*c);
  const std::optional<gdn::Case> again = gdn::parse_case(printed, &why);
  gdn::demand(again.has_value(), "what was printed cannot be parsed");
  gdn::demand(gdn::print(*again) == printed, "printing is not canonical");
  gdn::demand(gdn::hash8(*again) == gdn::hash8(*c), "equal cases have different names");
  gdn::demand(gdn::why_invalid(*c).empty(), "an invalid case is read");
  // A case needs memory in proportion to what it says; those that need little are made.
  constexpr int64_t little = int64_t{1} << 12;
  const bool is_small = c->shape.hidden_size <= 64 && c->shape.conv_dim() <= 256 &&
                        c->shape.state_count() <= little && c->tokens <= 16 &&
                        c->rows * c->cols <= little && c->shape.num_layers <= 2;
  if (!is_small) return 0;
  const std::optional<gdn::Numbers> numbers = gdn::materialise(*c, &why);
  gdn::demand(numbers.has_value() == why.empty(), "numbers and a reason against them, or neither");
  if (c->calls.size() > 8) return 0;
  for (const gdn::Case& simpler : c->neighbours()) {
    gdn::demand(gdn::why_invalid(simpler).empty(), "a shrinker is given an invalid case");
  }
  return 0;
}
