// Tries the functions of device/kernels/elementary.cuh on every float32 pattern, or on every n-th,
// and prints a table: results that are not correctly rounded, the worst error, and a checksum.
//   elementary_exhaustive [--function NAME] [--stride N] [--threads N]
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/elementary_checksum.h"
#include "tests/elementary_truth.h"

namespace gdn {
namespace {

struct Options {
  std::string function = "all";
  uint64_t stride = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

constexpr size_t listed_max = 8;

struct Tally {
  uint64_t tried = 0;
  uint64_t wrong = 0;  // not correctly rounded
  uint64_t multiprecision = 0;
  uint64_t checksum = 0;
  double worst_ulp = 0;
  uint32_t worst_argument = 0;
  std::vector<uint32_t> listed;  // the first arguments of wrong results

  void add(const Tally& other) {
    tried += other.tried;
    wrong += other.wrong;
    multiprecision += other.multiprecision;
    checksum += other.checksum;
    if (other.worst_ulp > worst_ulp) {
      worst_ulp = other.worst_ulp;
      worst_argument = other.worst_argument;
    }
    for (const uint32_t bits : other.listed) {
      if (listed.size() < listed_max) listed.push_back(bits);
    }
  }
};

void try_one(const ElementaryFunction& function, uint32_t bits, Tally& tally) {
  const float x = std::bit_cast<float>(bits);
  const float got = function.evaluate(x);
  const Truth truth = truth_of(function, x);
  ++tally.tried;
  tally.multiprecision += truth.multiprecision;
  tally.checksum += checksum_term(bits, std::bit_cast<uint32_t>(got));
  const double error = error_ulp(got, truth);
  if (error > tally.worst_ulp) {
    tally.worst_ulp = error;
    tally.worst_argument = bits;
  }
  if (!correctly_rounded(got, truth)) {
    ++tally.wrong;
    if (tally.listed.size() < listed_max) tally.listed.push_back(bits);
  }
}

Tally try_all(const ElementaryFunction& function, const Options& options) {
  constexpr uint64_t patterns = uint64_t{1} << 32;
  std::vector<Tally> tallies(options.threads);
  std::vector<std::thread> workers;
  // Neighbouring patterns cost about the same and the costs of far ones differ, so a worker takes
  // every threads-th pattern.
  for (unsigned worker = 0; worker < options.threads; ++worker) {
    workers.emplace_back([&, worker] {
      Tally mine;
      for (uint64_t bits = worker * options.stride; bits < patterns;
           bits += options.stride * options.threads) {
        try_one(function, static_cast<uint32_t>(bits), mine);
      }
      mpfr_free_cache();
      tallies[worker] = mine;
    });
  }
  Tally all;
  for (unsigned worker = 0; worker < options.threads; ++worker) {
    workers[worker].join();
    all.add(tallies[worker]);
  }
  return all;
}

// Returns whether every result was correctly rounded, and all of them are those of the search.
bool report(const ElementaryFunction& function, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const Tally tally = try_all(function, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%-9.*s %11" PRIu64 " %10" PRIu64 "   %.6f  0x%08" PRIx32 " (%.9g)  %9" PRIu64
              "  %016" PRIx64 "  %.0f\n",
              static_cast<int>(function.name.size()), function.name.data(), tally.tried,
              tally.wrong, tally.worst_ulp, tally.worst_argument,
              static_cast<double>(std::bit_cast<float>(tally.worst_argument)), tally.multiprecision,
              tally.checksum, elapsed.count());
  for (const uint32_t bits : tally.listed) {
    const float x = std::bit_cast<float>(bits);
    std::printf("          not correctly rounded: 0x%08" PRIx32 " (%.9g): got %a, want %a\n", bits,
                static_cast<double>(x), static_cast<double>(function.evaluate(x)),
                static_cast<double>(truth_of(function, x).nearest));
  }
  const bool is_known = is_known_or_partial(function.name, options.stride, tally.checksum);
  if (!is_known) std::printf("          not the checksum of the search\n");
  std::fflush(stdout);
  return tally.wrong == 0 && is_known;
}

[[noreturn]] void usage() {
  std::fprintf(stderr, "usage: elementary_exhaustive [--function all");
  for (const ElementaryFunction& function : elementary_functions) {
    std::fprintf(stderr, "|%.*s", static_cast<int>(function.name.size()), function.name.data());
  }
  std::fprintf(stderr, "] [--stride N] [--threads N]\n");
  std::exit(2);
}

uint64_t positive_number(const char* text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || value == 0) usage();
  return value;
}

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) usage();
    if (std::strcmp(arguments[i], "--function") == 0) {
      options.function = arguments[i + 1];
    } else if (std::strcmp(arguments[i], "--stride") == 0) {
      options.stride = positive_number(arguments[i + 1]);
    } else if (std::strcmp(arguments[i], "--threads") == 0) {
      options.threads =
          static_cast<unsigned>(std::min<uint64_t>(positive_number(arguments[i + 1]), 1024));
    } else {
      usage();
    }
  }
  return options;
}

}  // namespace
}  // namespace gdn

int main(int count, char** arguments) {
  const gdn::Options options = gdn::parse(count, arguments);
  bool found = false;
  bool right = true;
  for (const gdn::ElementaryFunction& function : gdn::elementary_functions) {
    if (options.function != "all" && options.function != function.name) continue;
    if (!found) {
      std::printf(
          "function    arguments  not right  worst ulp  at                       by MPFR  "
          "checksum          seconds\n");
    }
    found = true;
    right = gdn::report(function, options) && right;
  }
  if (!found) gdn::usage();
  return right ? 0 : 1;
}
