// What two related runs may differ by; extents of numbers; cases of the recurrence in full.
#ifdef __FAST_MATH__
#error "verdicts need IEEE arithmetic: build without fast math"
#endif

#include "invariants/harness/relation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

namespace gdn {
namespace {

// What storing in a format adds to an error: half a unit in the last place, or below the normal
// numbers half the smallest subnormal.
double storing(Format format, double magnitude) {
  switch (format) {
    case Format::bf16:
      return magnitude * 0x1p-8 + 0x1p-134;
    case Format::f16:
      return magnitude * 0x1p-11 + 0x1p-25;
    case Format::f32:
      return 0;
  }
  return 0;
}

double largest(Format format) { return format == Format::f16 ? 65504 : 0x1p127; }

// Adds an element to value and bound; false where the reference does not know it as a number.
bool add_element(const Judged& judged, size_t i, double& bound) {
  const Bounded& want = judged.want;
  const auto is_tolerated = [i](const Tolerated& t) { return t.index == i; };
  if (std::any_of(want.tolerated.begin(), want.tolerated.end(), is_tolerated)) return false;
  const double magnitude = std::abs(want.value[i]) + want.bound_of(i);
  // The reference's own values are doubles, each within a few roundings of the exact one.
  bound += want.bound_of(i) + storing(want.stored, magnitude) + magnitude * 0x1p-50;
  return magnitude < largest(want.stored);
}

}  // namespace

Verdict agree(std::string_view what, const Judged& one, const std::vector<Judged>& terms) {
  std::vector<float> got;
  Bounded want;
  for (const Judged& term : terms) {
    if (term.got.size() != one.got.size() || term.want.size() != one.want.size() ||
        one.got.size() != one.want.size()) {
      return claim(false, std::string(what) + ": results of different sizes");
    }
  }
  for (size_t i = 0; i < one.want.size(); ++i) {
    double value = 0;
    double bound = 0;
    bool known = add_element(one, i, bound);
    for (const Judged& term : terms) {
      known = add_element(term, i, bound) && known;
      value += term.got[i];
    }
    if (!known) continue;
    if (!std::isfinite(value)) {
      return claim(false, std::string(what) + "[" + std::to_string(i) +
                              "]: the related run gave no finite number");
    }
    got.push_back(one.got[i]);
    want.value.push_back(value);
    want.bound.push_back(bound);
  }
  if (!got.empty()) return within(what, got, want);
  Verdict nothing;
  nothing.outcome = Outcome::holds;
  return nothing;
}

Verdict unless_empty(Verdict judged) {
  if (!judged.holds() || judged.elements > 0) return judged;
  return not_applicable("no element is a number that the reference knows");
}

Verdict not_applicable(std::string why) {
  Verdict v;
  v.detail = std::move(why);
  return v;
}

bool in_declared_order(std::initializer_list<const Reduction*> sums) {
  return std::all_of(sums.begin(), sums.end(),
                     [](const Reduction* sum) { return sum->kind == Reduction::Kind::order; });
}

Extent extent_of(std::span<const float> numbers) {
  Extent extent;
  for (const float x : numbers) {
    if (!std::isfinite(x)) extent.finite = false;
    if (!std::isfinite(x) || x == 0) continue;
    const uint32_t bits = std::bit_cast<uint32_t>(x) & 0x7FFFFFFFU;
    const uint32_t exponent = std::max(bits >> 23, 1U);
    const uint32_t significand = (bits & 0x7FFFFFU) | (bits >> 23 == 0 ? 0U : 0x800000U);
    const int unit = static_cast<int>(exponent) - 150;
    extent = either(extent, {.zero = false,
                             .finite = extent.finite,
                             .lowest = unit + std::countr_zero(significand),
                             .highest = std::ilogb(x) + 1});
  }
  return extent;
}

Extent extent_near(double value) {
  Extent extent;
  if (!std::isfinite(value)) extent.finite = false;
  if (!std::isfinite(value) || value == 0) return extent;
  // One binade lower or higher; a float32 has 24 bits, and none below 2^-149.
  const int exponent = std::max(std::ilogb(value), -1000);
  extent.zero = false;
  extent.lowest = std::max(exponent - 1 - 23, -149);
  extent.highest = std::max(exponent + 2, -126);
  return extent;
}

Extent either(const Extent& one, const Extent& other) {
  const bool finite = one.finite && other.finite;
  Extent extent = one.zero ? other : one;
  if (!one.zero && !other.zero) {
    extent.lowest = std::min(one.lowest, other.lowest);
    extent.highest = std::max(one.highest, other.highest);
  }
  extent.finite = finite;
  return extent;
}

Extent product(const Extent& one, const Extent& other) {
  return {.zero = one.zero || other.zero,
          .finite = one.finite && other.finite,
          .lowest = one.lowest + other.lowest,
          .highest = one.highest + other.highest};
}

Extent sum(const Extent& one, const Extent& other) {
  Extent extent = either(one, other);
  extent.highest += 2;
  return extent;
}

Extent sum_of(const Extent& terms, int64_t count) {
  Extent extent = terms;
  extent.highest += std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, count))) + 1;
  return extent;
}

bool scales(const Extent& extent, int power) {
  if (!extent.finite) return false;
  const int low = std::min(extent.lowest, extent.lowest + power);
  const int high = std::max(extent.highest, extent.highest + power);
  return extent.zero || (low >= -126 && high <= 127);
}

std::vector<float> times_power(std::vector<float> numbers, int power) {
  for (float& x : numbers) x = std::ldexp(x, power);
  return numbers;
}

std::vector<float> without_zero_signs(std::vector<float> numbers) {
  for (float& x : numbers) {
    if (x == 0) x = 0;
  }
  return numbers;
}

std::vector<float> rows_in_order(std::span<const float> rows, int64_t width,
                                 const std::vector<int64_t>& order) {
  std::vector<float> moved;
  moved.reserve(rows.size());
  for (const int64_t row : order) {
    const auto begin = rows.begin() + row * width;
    moved.insert(moved.end(), begin, begin + width);
  }
  return moved;
}

std::vector<float> columns_in_order(const std::vector<float>& matrix,
                                    const std::vector<int64_t>& order) {
  const size_t cols = order.size();
  std::vector<float> moved;
  moved.reserve(matrix.size());
  for (size_t begin = 0; begin < matrix.size(); begin += cols) {
    for (const int64_t col : order) moved.push_back(matrix[begin + static_cast<size_t>(col)]);
  }
  return moved;
}

std::vector<int64_t> shifted_order(int64_t count, Rng rng) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + rng.range(1, count - 1), order.end());
  return order;
}

Verdict agree_in_order(std::string_view what, const Judged& other, const Judged& one,
                       const std::vector<int64_t>& order, bool bits) {
  const std::vector<float> moved = rows_in_order(one.got, 1, order);
  if (bits) return same_bits(what, other.got, moved);
  return agree(what, other, {{moved, in_order(one.want, order)}});
}

Bounded in_order(const Bounded& want, const std::vector<int64_t>& order) {
  Bounded all;
  all.stored = want.stored;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    all.value.push_back(want.value[from]);
    all.bound.push_back(want.bound_of(from));
    for (const Tolerated& t : want.tolerated) {
      if (t.index == from) all.tolerated.push_back({i, t.result, t.why});
    }
  }
  return all;
}

std::optional<Case> recurrence_in_full(const Case& c, int64_t tokens_max, std::string* why) {
  Case full = c.with_calls({});
  full.dialect.qk_norm = Dialect::QkNorm::none;
  std::optional<Numbers> numbers = materialise(full, why);
  if (!numbers) return std::nullopt;
  full.numbers.clear();
  const bool alone = c.subject == Subject::recurrent;
  if (alone) full.tokens = std::min(c.tokens, tokens_max);
  for (auto& [name, array] : numbers->arrays) {
    if (alone && name != "S" && c.tokens > 0) {
      array.resize(array.size() / static_cast<size_t>(c.tokens) * static_cast<size_t>(full.tokens));
    }
    full = full.with_numbers(name, array);
  }
  for (int64_t t = 0; alone && t < full.tokens; ++t) {
    full.calls.emplace_back().kind = CallKind::recurrent;
  }
  return full;
}

std::vector<float> array_of(const Case& c, const std::string& name) {
  std::vector<float> values;
  const auto found = c.numbers.find(name);
  if (found == c.numbers.end()) return values;
  for (const uint32_t bits : found->second) values.push_back(std::bit_cast<float>(bits));
  return values;
}

std::vector<Call> fed_calls(const Case& c, int64_t tokens, const std::set<Tensor>& reads) {
  std::vector<Call> calls = setup_calls(c);
  for (int64_t t = 0; t < tokens; ++t) calls.emplace_back().kind = CallKind::step;
  if (tokens > 0) calls.back().reads = reads;
  return calls;
}

}  // namespace gdn
