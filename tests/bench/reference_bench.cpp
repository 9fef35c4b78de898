// Multiply-adds per second of one dot product: the fast exact path, alone and by rows on all cores,
// against 50 digits of MPFR, long double, double with sum |x w|, and float32; and of the partial
// sums of a serial order. `times_mpfr50` and `times_plain` are the rate over that of the 50 digits
// and of plain vectors of double of the same length, in this run.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <vector>

#include "reference/blocked_sums.h"
#include "reference/exact_dot.h"
#include "reference/partial_sums.h"
#include "reference/real.h"
#include "reference/rng.h"
#include "reference/vector_width.h"

namespace gdn {
namespace {

// Enough rows that a matrix of 5120 columns does not fit into a cache, as in a real layer.
constexpr int64_t rows_of_matrix = 2048;

std::vector<float> drawn_numbers(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = rng.signed_unit();
  return numbers;
}

struct Row {
  explicit Row(int64_t length) : w(drawn_numbers(length, 1)), x(drawn_numbers(length, 2)) {}
  std::vector<float> w, x;
};

void count_multiply_adds(benchmark::State& state, int64_t each) {
  state.counters["multiply_adds"] = benchmark::Counter(
      static_cast<double>(state.iterations() * each), benchmark::Counter::kIsRate);
}

template <class Number>
Number dot_in(const Row& row) {
  Number sum = 0;
  for (size_t i = 0; i < row.w.size(); ++i) sum += Number(row.w[i]) * Number(row.x[i]);
  return sum;
}

// Processor seconds of one dot product in 50 digits, for the ratio; on one core.
double mpfr50_seconds(int64_t length) {
  const Row row(length);
  const int repeats = static_cast<int>(200'000 / length) + 1;
  const std::clock_t start = std::clock();
  for (int i = 0; i < repeats; ++i) benchmark::DoNotOptimize(dot_in<Real>(row));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeats;
}

// What there is to be beaten: sums of products and of their magnitudes in as many lanes of double,
// by the widest vectors.
template <int width>
[[gnu::always_inline]] inline void plain_sums(const Row& row, double* sum_and_sum_abs) {
  using Doubles = typename Vectors<width>::Doubles;
  using Floats = typename Vectors<width>::Floats;
  constexpr int parts = sum_lanes / width;
  Doubles sum[parts] = {}, sum_abs[parts] = {};
  for (size_t i = 0; i + sum_lanes <= row.w.size(); i += sum_lanes) {
    for (int part = 0; part < parts; ++part) {
      Floats w, x;
      std::memcpy(&w, row.w.data() + i + static_cast<size_t>(part * width), sizeof w);
      std::memcpy(&x, row.x.data() + i + static_cast<size_t>(part * width), sizeof x);
      const Doubles product =
          __builtin_convertvector(w, Doubles) * __builtin_convertvector(x, Doubles);
      sum[part] += product;
      sum_abs[part] += product < 0 ? -product : product;
    }
  }
  for (int lane = 0; lane < sum_lanes; ++lane) {
    sum_and_sum_abs[0] += sum[lane / width][lane % width];
    sum_and_sum_abs[1] += sum_abs[lane / width][lane % width];
  }
}
void plain_sums_portably(const Row& row, double* sums) { plain_sums<2>(row, sums); }
GDN_VECTORS_OF_256 void plain_sums_by_256(const Row& row, double* sums) {
  plain_sums<4>(row, sums);
}
GDN_VECTORS_OF_512 void plain_sums_by_512(const Row& row, double* sums) {
  plain_sums<8>(row, sums);
}

void plain_dot(const Row& row) {
  double sums[2] = {};
  switch (widest_here()) {
    case VectorWidth::portable:
      plain_sums_portably(row, sums);
      break;
    case VectorWidth::of_256_bits:
      plain_sums_by_256(row, sums);
      break;
    case VectorWidth::of_512_bits:
      plain_sums_by_512(row, sums);
      break;
  }
  benchmark::DoNotOptimize(sums);
}

// Processor seconds of one plain dot product: the fastest of some turns, as whoever is compared
// with it has warm caches too.
double plain_seconds(int64_t length) {
  const Row row(length);
  const int repeats = static_cast<int>(5'000'000 / length) + 1;
  double fastest = 1;
  for (int turn = 0; turn < 9; ++turn) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < repeats; ++i) plain_dot(row);
    const auto taken = static_cast<double>(std::clock() - start);
    fastest = std::min(fastest, taken / CLOCKS_PER_SEC / repeats);
  }
  return fastest;
}

void report(benchmark::State& state, int64_t length, int64_t rows) {
  state.counters["times_plain"] =
      benchmark::Counter(static_cast<double>(state.iterations() * rows) * plain_seconds(length),
                         benchmark::Counter::kIsRate);
  count_multiply_adds(state, length * rows);
  state.counters["times_mpfr50"] =
      benchmark::Counter(static_cast<double>(state.iterations() * rows) * mpfr50_seconds(length),
                         benchmark::Counter::kIsRate);
}

void exact_dot_row(benchmark::State& state) {
  const Row row(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(exact_dot(row.w, std::span<const float>(row.x)));
  }
  report(state, state.range(0), 1);
}

void exact_matvec_rows(benchmark::State& state) {
  const int64_t cols = state.range(0);
  const std::vector<float> w = drawn_numbers(rows_of_matrix * cols, 1);
  const std::vector<float> x = drawn_numbers(cols, 2);
  std::vector<ExactDot> out(static_cast<size_t>(rows_of_matrix));
  for (auto _ : state) {
    exact_matvec(w.data(), rows_of_matrix, cols, std::span<const float>(x), out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  report(state, cols, rows_of_matrix);
}

template <class Number>
void dot_row(benchmark::State& state) {
  const Row row(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(dot_in<Number>(row));
  report(state, state.range(0), 1);
}

void plain_vectors_of_double(benchmark::State& state) {
  const Row row(state.range(0));
  for (auto _ : state) plain_dot(row);
  report(state, state.range(0), 1);
}

void double_dot_with_sum_abs(benchmark::State& state) {
  const Row row(state.range(0));
  for (auto _ : state) {
    double sum = 0, sum_abs = 0;
    for (size_t i = 0; i < row.w.size(); ++i) {
      const double term = static_cast<double>(row.w[i]) * row.x[i];
      sum += term;
      sum_abs += std::fabs(term);
    }
    benchmark::DoNotOptimize(sum);
    benchmark::DoNotOptimize(sum_abs);
  }
  report(state, state.range(0), 1);
}

void partial_sums_of_serial_rows(benchmark::State& state) {
  const int64_t cols = state.range(0);
  const std::vector<float> w = drawn_numbers(rows_of_matrix * cols, 1);
  const std::vector<float> x = drawn_numbers(cols, 2);
  const std::vector<double> wide(x.begin(), x.end());
  Reduction order;
  order.kind = Reduction::Kind::order;
  order.stages.push_back({.kind = Reduction::Stage::Kind::serial});
  std::vector<SumMagnitudes> out(static_cast<size_t>(rows_of_matrix));
  for (auto _ : state) {
    sum_magnitudes(order, w.data(), rows_of_matrix, cols, wide, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  report(state, cols, rows_of_matrix);
}

constexpr int64_t short_row = 128, long_row = 5120;

BENCHMARK(exact_dot_row)->Arg(long_row)->Arg(short_row);
BENCHMARK(exact_matvec_rows)->Arg(long_row)->Arg(short_row)->UseRealTime();
BENCHMARK(dot_row<Real>)->Name("mpfr50_dot")->Arg(long_row)->Arg(short_row);
BENCHMARK(dot_row<long double>)->Name("long_double_dot")->Arg(long_row)->Arg(short_row);
BENCHMARK(plain_vectors_of_double)->Arg(long_row)->Arg(short_row);
BENCHMARK(double_dot_with_sum_abs)->Arg(long_row)->Arg(short_row);
BENCHMARK(dot_row<float>)->Name("float32_dot")->Arg(long_row)->Arg(short_row);
BENCHMARK(partial_sums_of_serial_rows)->Arg(long_row)->Arg(short_row)->UseRealTime();

}  // namespace
}  // namespace gdn

BENCHMARK_MAIN();
