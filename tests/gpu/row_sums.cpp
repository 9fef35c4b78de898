// Row sums on the GPU against the same source on the CPU, bit for bit, and against the CPU's own
// sums by vectors: values within both radii, weighted sums to 2^-40.
#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "ci/exit_status.h"
#include "ci/stopwatch.h"
#include "reference/parallel_for.h"
#include "reference/rng.h"
#include "tests/gpu/commands.h"
#include "tests/row_sums_by_lanes.h"

namespace gdn::gpu {
namespace {

struct Drawn {
  int64_t rows, cols;
  std::vector<uint8_t> tiles;
  std::vector<double> x, bound, digits;
  RowInputs inputs() const { return {x, bound, digits}; }
};

enum class Kind : uint8_t { ordinary, any_scale, doubles, not_finite };
constexpr const char* kind_names[] = {"float32 x", "any finite scale", "x of 53 bits",
                                      "scales that are infinite or NaN"};

// Scales of about 2^-8, or any that are finite, or one in 64 that is not.
uint16_t drawn_scale(Rng& rng, Kind kind) {
  const auto sign = static_cast<uint16_t>(rng.range(0, 1) << 15);
  if (kind == Kind::any_scale) return static_cast<uint16_t>(rng.range(0, 0x7BFF) | sign);
  if (kind == Kind::not_finite && rng.range(0, 63) == 0) {
    return static_cast<uint16_t>(rng.range(0x7C00, 0x7FFF) | sign);
  }
  return static_cast<uint16_t>(rng.range(0x1C00, 0x1FFF) | sign);
}

Drawn drawn(Rng rng, int64_t rows, int64_t cols, Kind kind) {
  Drawn d{rows, cols, std::vector<uint8_t>(static_cast<size_t>(q4_bytes(rows, cols))), {}, {}, {}};
  for (size_t tile = 0; tile < d.tiles.size(); tile += q4_tile_bytes) {
    for (size_t row = 0; row < 4; ++row) {
      const uint16_t bits = drawn_scale(rng, kind);
      std::memcpy(d.tiles.data() + tile + 2 * row, &bits, sizeof bits);
    }
    for (size_t at = 8; at < q4_tile_bytes; at += 8) {
      const uint64_t codes = rng.next();
      std::memcpy(d.tiles.data() + tile + at, &codes, sizeof codes);
    }
  }
  for (int64_t i = 0; i < cols; ++i) {
    const double wide = static_cast<double>(static_cast<int64_t>(rng.next())) * 0x1p-63;
    d.x.push_back(kind == Kind::doubles ? wide : static_cast<double>(rng.signed_unit()));
    d.bound.push_back(std::ldexp(1 + rng.unit(), -30));
    d.digits.push_back(std::ldexp(1 + rng.unit(), -12));
  }
  return d;
}

// One rows' figures in their order.
bool same_numbers(const RowSum& one, const RowSum& two) {
  const auto same = [](double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  };
  return same(one.dot.value, two.dot.value) && same(one.dot.radius, two.dot.radius) &&
         same(one.dot.sum_abs, two.dot.sum_abs) && same(one.carried, two.carried) &&
         same(one.digits, two.digits);
}

bool is_near(double one, double two) { return std::fabs(one - two) <= 0x1p-40 * two; }

bool agree(const RowSum& gpu, const RowSum& cpu) {
  if (!std::isfinite(cpu.dot.value)) return !is_usable(gpu);
  return is_usable(gpu) &&
         std::fabs(gpu.dot.value - cpu.dot.value) <= gpu.dot.radius + cpu.dot.radius &&
         is_near(gpu.dot.sum_abs, cpu.dot.sum_abs) && is_near(gpu.carried, cpu.carried) &&
         is_near(gpu.digits, cpu.digits);
}

std::vector<RowSum> sums_by_cpu(const Drawn& d) {
  std::vector<RowSum> sums(static_cast<size_t>(d.rows));
  parallel_for(d.rows, 16, [&](int64_t begin, int64_t end) {
    std::vector<float> weights(static_cast<size_t>(d.cols));
    for (int64_t row = begin; row < end; ++row) {
      q4_tile_decode_row(d.tiles.data(), d.cols, row, weights.data());
      sum_rows(weights.data(), d.cols, d.inputs(), {&sums[static_cast<size_t>(row)], 1});
    }
  });
  return sums;
}

// Several threads ask at once: each gets the same bits.
bool threads_agree(const RowSums& sums, const Drawn& d, const std::vector<RowSum>& want) {
  std::atomic<int> differ = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        std::vector<RowSum> got(want.size());
        for (int again = 0; again < 4; ++again) {
          sums.take(d.inputs(), got);
          for (size_t row = 0; row < got.size(); ++row) {
            differ += same_numbers(got[row], want[row]) ? 0 : 1;
          }
        }
      });
    }
  }
  return differ == 0;
}

double best_milliseconds(const RowSums& sums, const Drawn& d) {
  std::vector<RowSum> got(static_cast<size_t>(d.rows));
  double best = HUGE_VAL;
  for (int again = 0; again < 10; ++again) {
    const Stopwatch watch;
    sums.take(d.inputs(), got);
    best = std::min(best, watch.seconds() * 1e3);
  }
  return best;
}

void compare(GpuRowSums& gpu, const Drawn& d, Kind kind, Findings& found, FiguresTable& times) {
  const std::unique_ptr<RowSums> sums = gpu.of_tiles(d.tiles.data(), d.rows, d.cols);
  std::vector<RowSum> got(static_cast<size_t>(d.rows)), lanes(got.size());
  sums->take(d.inputs(), got);
  RowSumsByLanes(d.tiles.data(), d.rows, d.cols).take(d.inputs(), lanes);
  const std::vector<RowSum> cpu = sums_by_cpu(d);
  int64_t differ = 0, disagree = 0, usable = 0;
  for (size_t row = 0; row < got.size(); ++row) {
    differ += same_numbers(got[row], lanes[row]) ? 0 : 1;
    disagree += agree(got[row], cpu[row]) ? 0 : 1;
    usable += is_usable(got[row]) ? 1 : 0;
  }
  const std::string what =
      fmt::format("[{}, {}], {}", d.rows, d.cols, kind_names[static_cast<size_t>(kind)]);
  found.state(differ == 0, what + ": the GPU's row sums equal those of the same lanes on the CPU",
              fmt::format("{} of {} rows differ", differ, d.rows));
  found.state(disagree == 0 && usable > 0, what + ": they agree with the CPU's own",
              fmt::format("{} of {} rows do not, {} are usable", disagree, d.rows, usable));
  if (d.rows < 1024 || kind != Kind::ordinary) return;
  found.state(threads_agree(*sums, d, got), what + ": eight threads get the same bits at once");
  times.rows.push_back({fmt::format("[{}, {}]", d.rows, d.cols), best_milliseconds(*sums, d)});
}

// A matrix so small that its copy to the GPU comes back before it is done, and is used at once.
void compare_small_ones(GpuRowSums& gpu, const Rng& rng, Findings& found) {
  constexpr int matrices = 400;
  constexpr int64_t rows = 64, cols = 544;
  int64_t differ = 0;
  for (int i = 0; i < matrices; ++i) {
    const Drawn d = drawn(rng.stream(std::to_string(i)), rows, cols, Kind::ordinary);
    std::vector<RowSum> got(rows), lanes(rows);
    gpu.of_tiles(d.tiles.data(), rows, cols)->take(d.inputs(), got);
    RowSumsByLanes(d.tiles.data(), rows, cols).take(d.inputs(), lanes);
    for (size_t row = 0; row < got.size(); ++row) {
      differ += same_numbers(got[row], lanes[row]) ? 0 : 1;
    }
  }
  found.state(differ == 0, fmt::format("{} small matrices are there when they are used", matrices),
              fmt::format("{} of {} rows differ", differ, matrices * rows));
}

}  // namespace

Findings check_row_sums(const Options& options) {
  std::string why;
  const std::unique_ptr<GpuRowSums> gpu = GpuRowSums::open(&why);
  if (!gpu) {
    fmt::print(stderr, "gpu_check: {}\n", why);
    std::exit(exit_infrastructure);
  }
  Findings found;
  FiguresTable times{"Row sums of one x, with its way to the GPU and back", {"rows", "ms"}, {}};
  constexpr int64_t shapes[][2] = {{4, 32},       {8, 64},      {12, 96},    {64, 544},
                                   {10240, 5120}, {6144, 5120}, {5120, 6144}};
  for (const auto& [rows, cols] : shapes) {
    for (const Kind kind : {Kind::ordinary, Kind::any_scale, Kind::doubles, Kind::not_finite}) {
      const Rng rng = Rng(options.seed).stream(fmt::format("{} {}", rows, cols));
      // A few rows may all have a scale that is not finite: nothing of them is usable.
      if (kind == Kind::not_finite && rows < 64) continue;
      const Rng of_kind = rng.stream(kind_names[static_cast<size_t>(kind)]);
      compare(*gpu, drawn(of_kind, rows, cols, kind), kind, found, times);
    }
  }
  compare_small_ones(*gpu, Rng(options.seed).stream("small matrices"), found);
  found.tables.push_back(std::move(times));
  return found;
}

}  // namespace gdn::gpu
