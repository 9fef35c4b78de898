// Element by element against a Bounded. Differences are formed exactly (a double and its rounding
// error), so that an element at its bound holds and one just beyond it does not.
#ifdef __FAST_MATH__
#error "verdicts need IEEE arithmetic: build without fast math"
#endif

#include "invariants/harness/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "reference/formats.h"

namespace gdn {
namespace {

struct Exact {
  double sum;    // rounded to nearest
  double error;  // the exact sum is sum + error
};

// Knuth's two-sum: exact for any finite operands whose sum does not overflow.
Exact two_sum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

// Is |a - b| <= bound, for the real numbers that the three doubles stand for?
bool differ_at_most(double a, double b, double bound) {
  const Exact d = two_sum(a, -b);
  const double size = std::abs(d.sum);
  // Rounding is monotonic, so a strict order of the rounded difference and the bound is right; on
  // equality the error's sign decides.
  if (size != bound) return size < bound;
  return d.error == 0 || std::signbit(d.error) != std::signbit(d.sum);
}

double add_rounded_down(double a, double b) {
  const Exact s = two_sum(a, b);
  return s.error < 0 ? std::nextafter(s.sum, -infinity) : s.sum;
}

double add_rounded_up(double a, double b) {
  const Exact s = two_sum(a, b);
  return s.error > 0 ? std::nextafter(s.sum, infinity) : s.sum;
}

// The distance between float32 numbers at |value|.
double ulp_at(double value) {
  const int exponent = value == 0 ? -126 : std::max(std::ilogb(value), -126);
  return std::ldexp(1.0, exponent - 23);
}

// The number of `format` next to `value` (one of them) on the side of `towards`.
double neighbour(Format format, double value, double towards) {
  const bool away = (value < towards) == (value >= 0);
  const uint16_t bits = format == Format::f16 ? f16_encode(value) : bf16_encode(value);
  uint16_t next = static_cast<uint16_t>(away ? bits + 1 : bits - 1);
  if (value == 0) next = towards > 0 ? 0x0001 : 0x8001;
  return format == Format::f16 ? f16_decode(next) : bf16_decode(next);
}

// How large an error before the store suffices to explain `got` in a narrow format: the distance
// from `value` to the nearest number that rounds to `got`.
double error_before_store(Format format, double got, double value) {
  if (round_to(format, value) == got) return 0;
  if (!std::isfinite(got)) return infinity;
  if (round_to(format, got) != got) return std::abs(got - value);
  // Beyond the largest number the format would go on with the spacing that it has below it.
  const double next = neighbour(format, got, value);
  const double step = std::isfinite(next) ? next - got : got - neighbour(format, got, 0);
  return std::abs(got + step / 2 - value);
}

struct Judged {
  enum class Kind { holds, undecided, fails } kind;
  double ratio = 0;
  double ulp = 0;
};

constexpr double above_one = 1 + std::numeric_limits<double>::epsilon();

double ratio_of(double error, double bound) {
  if (error == 0) return 0;
  return bound == 0 ? infinity : error / bound;
}

Judged judge_number(double got, double value, double bound, Format stored) {
  if (std::isnan(got)) return {Judged::Kind::fails, infinity, infinity};
  if (stored != Format::f32) {
    const double low = round_to(stored, add_rounded_down(value, -bound));
    const double high = round_to(stored, add_rounded_up(value, bound));
    const bool inside = low <= got && got <= high;
    const double needed = inside && std::isinf(got)
                              ? bound  // it overflowed on store: all that is known is that it may
                              : error_before_store(stored, got, value);
    const double ulp =
        std::isinf(got) ? (inside ? 0 : infinity) : std::abs(got - value) / ulp_at(value);
    if (inside) return {Judged::Kind::holds, ratio_of(needed, bound), ulp};
    // At a tie the bound itself suffices for what half a step more would have to explain.
    return {Judged::Kind::fails, bound == 0 ? infinity : std::max(needed / bound, above_one), ulp};
  }
  if (std::isinf(got)) return {Judged::Kind::fails, infinity, infinity};
  const double error = std::abs(got - value);
  return {differ_at_most(got, value, bound) ? Judged::Kind::holds : Judged::Kind::fails,
          ratio_of(error, bound), error / ulp_at(value)};
}

// The rules of Bounded for one element, tolerated results aside.
Judged judge_element(double got, double value, double bound, Format stored) {
  const Judged holds{Judged::Kind::holds};
  const Judged undecided{Judged::Kind::undecided};
  const Judged fails{Judged::Kind::fails, infinity, infinity};
  // A bound that is no bound says nothing, and neither does a number of unknown distance.
  if (std::isnan(bound) || bound < 0) return undecided;
  if (std::isnan(value)) {
    const bool non_finite_is_enough = std::isinf(bound);
    if (std::isnan(got)) return holds;
    return non_finite_is_enough && std::isinf(got) ? holds : fails;
  }
  if (std::isinf(bound)) return undecided;
  if (std::isinf(value)) return got == value ? holds : fails;
  return judge_number(got, value, bound, stored);
}

const Tolerated* tolerated_as(const Bounded& want, size_t index, float got) {
  for (const Tolerated& t : want.tolerated) {
    const bool same = t.result == got || (std::isnan(t.result) && std::isnan(got));
    if (t.index == index && same) return &t;
  }
  return nullptr;
}

std::string in_words(double value, double bound) {
  if (std::isnan(value)) return std::isinf(bound) ? "NaN or infinity" : "NaN";
  if (std::isinf(value)) return value > 0 ? "+infinity" : "-infinity";
  const float nearest = static_cast<float>(value);
  return fmt::format("{:.17g} (0x{:08x})", value, std::bit_cast<uint32_t>(nearest));
}

std::string in_words(float got) {
  return fmt::format("{:.9g} (0x{:08x})", got, std::bit_cast<uint32_t>(got));
}

bool same(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

Verdict wrong_count(std::string_view what, size_t got, size_t want) {
  Verdict v;
  v.outcome = Outcome::fails;
  v.worst_ratio = v.worst_ulp = infinity;
  v.detail = fmt::format("{}: {} elements, wanted {}", what, got, want);
  return v;
}

Verdict nothing_to_judge(std::string_view what) {
  Verdict v;
  v.detail = fmt::format("{}: no elements", what);
  return v;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      return "holds";
    case Outcome::not_applicable:
      return "not_applicable";
    case Outcome::undecided:
      return "undecided";
    case Outcome::suspicious:
      return "suspicious";
    case Outcome::engine_error:
      return "engine_error";
    case Outcome::fails:
      return "fails";
  }
  return "unknown";
}

Verdict within(std::string_view what, std::span<const float> got, const Bounded& want) {
  const size_t count = want.size();
  if (got.size() != count) return wrong_count(what, got.size(), count);
  if (!want.bound.empty() && want.bound.size() != count) {
    return claim(false, fmt::format("{}: the reference gave {} bounds for {} values", what,
                                    want.bound.size(), count));
  }
  if (count == 0) return nothing_to_judge(what);
  Verdict v;
  v.outcome = Outcome::holds;
  v.tensors = 1;
  v.elements = count;
  size_t failed = 0;
  size_t first_undecided = 0;
  const char* why = nullptr;
  for (size_t i = 0; i < count; ++i) {
    Judged j = judge_element(got[i], want.value[i], want.bound_of(i), want.stored);
    const Tolerated* tolerated =
        j.kind == Judged::Kind::fails ? tolerated_as(want, i, got[i]) : nullptr;
    if (j.kind == Judged::Kind::undecided || tolerated) {
      if (v.undecided++ == 0) {
        first_undecided = i;
        why = tolerated ? tolerated->why : "the bound is infinite";
      }
      continue;
    }
    if (j.ratio > v.worst_ratio || (j.kind == Judged::Kind::fails && failed == 0)) {
      v.worst_ratio = std::max(v.worst_ratio, j.ratio);
      v.worst_index = i;
    }
    v.worst_ulp = std::max(v.worst_ulp, j.ulp);
    failed += j.kind == Judged::Kind::fails;
  }
  if (failed > 0) {
    v.outcome = Outcome::fails;
    v.detail = fmt::format("{}; {} of {} elements fail",
                           explain(what, got[v.worst_index], want, v.worst_index), failed, count);
  } else if (v.undecided > 0) {
    v.outcome = Outcome::undecided;
    v.detail = fmt::format("{}; {}; {} of {} elements undecided",
                           explain(what, got[first_undecided], want, first_undecided), why,
                           v.undecided, count);
  }
  return v;
}

std::string explain(std::string_view what, float got, const Bounded& want, size_t index) {
  const double value = want.value[index];
  const double bound = want.bound_of(index);
  const Judged j = judge_element(got, value, bound, want.stored);
  std::string line =
      fmt::format("{}[{}]: got {}, want {}", what, index, in_words(got), in_words(value, bound));
  if (std::isfinite(value)) {
    line += fmt::format(", bound {:.3g}", bound);
    if (want.stored != Format::f32) {
      line += want.stored == Format::f16 ? " before rounding to f16" : " before rounding to bf16";
    }
    if (std::isfinite(got)) {
      line += fmt::format(", off by {:.3g} = {:.3g} ulp", std::abs(got - value),
                          std::abs(got - value) / ulp_at(value));
    }
  }
  if (j.kind != Judged::Kind::undecided) line += fmt::format(", error/bound {:.3g}", j.ratio);
  return line;
}

bool equal_bits(std::span<const float> got, std::span<const float> want) {
  return std::equal(got.begin(), got.end(), want.begin(), want.end(), same);
}

Verdict same_bits(std::string_view what, std::span<const float> got, std::span<const float> want) {
  if (got.size() != want.size()) return wrong_count(what, got.size(), want.size());
  if (got.empty()) return nothing_to_judge(what);
  Verdict v;
  v.outcome = Outcome::holds;
  v.tensors = 1;
  v.elements = got.size();
  size_t differ = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], want[i])) continue;
    if (differ++ == 0) v.worst_index = i;
    const double error = std::abs(static_cast<double>(got[i]) - want[i]);
    const double ulp = std::isfinite(error) ? error / ulp_at(want[i]) : infinity;
    v.worst_ulp = std::max(v.worst_ulp, ulp);
  }
  if (differ == 0) return v;
  v.outcome = Outcome::fails;
  v.worst_ratio = infinity;
  v.detail = fmt::format("{}[{}]: got {}, want the same bits as {}; {} of {} elements differ", what,
                         v.worst_index, in_words(got[v.worst_index]), in_words(want[v.worst_index]),
                         differ, got.size());
  return v;
}

Verdict same_bytes(std::string_view what, std::span<const uint8_t> got,
                   std::span<const uint8_t> want) {
  if (got.size() != want.size()) return wrong_count(what, got.size(), want.size());
  if (got.empty()) return nothing_to_judge(what);
  Verdict v;
  v.outcome = Outcome::holds;
  v.elements = got.size();
  const auto [g, w] = std::mismatch(got.begin(), got.end(), want.begin());
  if (g == got.end()) return v;
  v.outcome = Outcome::fails;
  v.worst_ratio = v.worst_ulp = infinity;
  v.worst_index = static_cast<size_t>(g - got.begin());
  v.detail = fmt::format("{}[{}]: got byte 0x{:02x}, want 0x{:02x}", what, v.worst_index, *g, *w);
  return v;
}

Verdict claim(bool holds, std::string detail) {
  Verdict v;
  v.outcome = holds ? Outcome::holds : Outcome::fails;
  v.elements = 1;
  if (!holds) v.detail = std::move(detail);
  return v;
}

Verdict both(Verdict one, Verdict two) {
  const bool two_is_worse = two.outcome > one.outcome ||
                            (two.outcome == one.outcome && two.worst_ratio > one.worst_ratio);
  Verdict v = two_is_worse ? two : one;
  v.worst_ratio = std::max(one.worst_ratio, two.worst_ratio);
  v.worst_ulp = std::max(one.worst_ulp, two.worst_ulp);
  v.tensors = one.tensors + two.tensors;
  v.elements = one.elements + two.elements;
  v.undecided = one.undecided + two.undecided;
  return v;
}

Verdict both_served(Verdict one, Verdict two) {
  if (one.outcome == Outcome::not_applicable) return two;
  if (two.outcome == Outcome::not_applicable) return one;
  return both(std::move(one), std::move(two));
}

}  // namespace gdn
