// A set of places is a pattern where it is the product of one set of indices a dimension, each of
// which can be said in a few words; a set of values where each follows from the right ones.
#include "ci/triage/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>

#include "invariants/harness/verdict.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// Of fewer elements anything is true.
constexpr size_t elements_min = 3;

using Indices = std::vector<int64_t>;  // rising

std::string with_plural(const Axis& axis) {
  const std::string_view unit = axis.unit;
  return fmt::format("{}{}", unit, unit.ends_with("y") ? "" : "s");
}

// "rows 2, 6, 10": every one of those that are r modulo m.
std::optional<std::string> periodic(const Indices& in, const Axis& axis) {
  if (in.size() < elements_min) return std::nullopt;
  const int64_t step = in[1] - in[0];
  if (step < 2 || in[0] >= step || in.back() + step < axis.count) return std::nullopt;
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i] - in[i - 1] != step) return std::nullopt;
  }
  const bool may_be_tiles = step == 4 && (std::string_view(axis.unit) == "row" ||
                                          std::string_view(axis.unit) == "channel");
  return fmt::format("every {} r with r % {} == {}{}", axis.unit, step, in[0],
                     may_be_tiles ? " (a row of each 4-bit tile has these)" : "");
}

// Indices of one dimension in words; nothing where there are none that are shorter than a list.
std::optional<std::string> in_words(const Indices& in, const Axis& axis) {
  const auto count = std::ssize(in);
  if (count == axis.count) return "";
  const std::string units = with_plural(axis);
  if (count == 1) return fmt::format("{} {} alone", axis.unit, in[0]);
  if (in.back() - in.front() + 1 == count) {
    if (in[0] == 0) return fmt::format("{} before {}", units, count);
    if (in.back() + 1 == axis.count) {
      return fmt::format("{} {} and beyond, the last {}", units, in[0], count);
    }
    return fmt::format("{} {} to {}", units, in.front(), in.back());
  }
  if (auto words = periodic(in, axis)) return words;
  if (count + 1 == axis.count) {
    int64_t missing = 0;
    while (missing < count && in[static_cast<size_t>(missing)] == missing) ++missing;
    return fmt::format("every {} but {}", axis.unit, missing);
  }
  return std::nullopt;
}

class Wrong {
 public:
  Wrong(std::span<const float> got, const Bounded& want, std::span<const Axis> axes)
      : got_(got), want_(want), axes_(axes.begin(), axes.end()) {
    size_t count = 1;
    for (const Axis& axis : axes) count *= static_cast<size_t>(axis.count);
    comparable_ = count == got.size() && got.size() == want.size();
    if (!comparable_) return;
    if (within("", got, want).outcome != Outcome::fails) return;
    for (size_t i = 0; i < count; ++i) {
      const Verdict here = within("", got.subspan(i, 1), slice(want, i, 1));
      if (here.outcome == Outcome::fails) wrong_.push_back(i);
    }
  }

  std::vector<std::string> patterns() const {
    std::vector<std::string> found;
    if (!comparable_ || wrong_.empty()) return found;
    for (const auto& words : {place(), special(), factor(), offset(), moved(), narrow()}) {
      if (words) found.push_back(*words);
    }
    return found;
  }

 private:
  std::vector<int64_t> index_of(size_t flat) const {
    std::vector<int64_t> index(axes_.size());
    auto rest = static_cast<int64_t>(flat);
    for (size_t d = axes_.size(); d-- > 0; rest /= axes_[d].count) {
      index[d] = rest % axes_[d].count;
    }
    return index;
  }
  size_t flat_of(const std::vector<int64_t>& index) const {
    int64_t flat = 0;
    for (size_t d = 0; d < axes_.size(); ++d) flat = flat * axes_[d].count + index[d];
    return static_cast<size_t>(flat);
  }

  std::vector<Indices> indices_by_dimension() const {
    std::vector<std::vector<bool>> seen;
    for (const Axis& axis : axes_) seen.emplace_back(static_cast<size_t>(axis.count));
    for (const size_t flat : wrong_) {
      const std::vector<int64_t> index = index_of(flat);
      for (size_t d = 0; d < seen.size(); ++d) seen[d][static_cast<size_t>(index[d])] = true;
    }
    std::vector<Indices> by_dimension(seen.size());
    for (size_t d = 0; d < seen.size(); ++d) {
      for (size_t i = 0; i < seen[d].size(); ++i) {
        if (seen[d][i]) by_dimension[d].push_back(static_cast<int64_t>(i));
      }
    }
    return by_dimension;
  }

  std::optional<std::string> place() const {
    if (wrong_.size() == got_.size()) return "every element is wrong";
    const std::vector<Indices> in = indices_by_dimension();
    size_t product = 1;
    for (const Indices& one : in) product *= one.size();
    std::string words;
    bool is_product = product == wrong_.size();
    for (size_t d = 0; is_product && d < in.size(); ++d) {
      const std::optional<std::string> here = in_words(in[d], axes_[d]);
      is_product = here.has_value();
      if (here && !here->empty()) words += (words.empty() ? "" : ", ") + *here;
    }
    if (is_product) return words;
    // As they lie in memory.
    Indices flat(wrong_.begin(), wrong_.end());
    const Axis elements = {"element", std::ssize(got_)};
    if (axes_.size() < 2 || wrong_.size() < elements_min) return std::nullopt;
    return in_words(flat, elements);
  }

  bool all(const std::function<bool(size_t)>& holds) const {
    return std::all_of(wrong_.begin(), wrong_.end(), holds);
  }

  std::optional<std::string> special() const {
    const auto is = [this](size_t i, bool (*kind)(float)) { return kind(got_[i]); };
    if (all([&](size_t i) { return is(i, [](float x) { return std::isnan(x); }); })) {
      return "NaN in place of a number";
    }
    if (all([&](size_t i) { return is(i, [](float x) { return std::isinf(x); }); })) {
      return "infinite in place of a number";
    }
    if (all([&](size_t i) { return got_[i] == 0; })) return "zero in place of a number";
    return std::nullopt;
  }

  // The finite wrong element of the largest right value: it tells a factor most exactly.
  std::optional<size_t> largest() const {
    if (wrong_.size() < elements_min) return std::nullopt;
    std::optional<size_t> best;
    for (const size_t i : wrong_) {
      if (!std::isfinite(got_[i]) || !std::isfinite(want_.value[i])) return std::nullopt;
      if (!best || std::abs(want_.value[i]) > std::abs(want_.value[*best])) best = i;
    }
    if (want_.value[*best] == 0 || !std::isfinite(want_.bound_of(*best))) return std::nullopt;
    return best;
  }

  std::optional<std::string> factor() const {
    const std::optional<size_t> at = largest();
    if (!at) return std::nullopt;
    const double f = static_cast<double>(got_[*at]) / want_.value[*at];
    if (f == 0) return std::nullopt;
    // How far f itself may lie from the engine's factor, by the bound of that one element.
    const double relative = want_.bound_of(*at) / std::abs(want_.value[*at]) + 2 * unit_roundoff;
    const auto follows = [&](size_t i) {
      const double scaled = f * want_.value[i];
      const double bound = std::abs(f) * want_.bound_of(i) + std::abs(scaled) * 2 * relative;
      return std::abs(got_[i] - scaled) <= bound;
    };
    if (!all(follows)) return std::nullopt;
    if (std::abs(f + 1) <= 2 * relative) return "the sign is flipped";
    return fmt::format("a constant factor: {:.6g} times what is right", f);
  }

  std::optional<std::string> offset() const {
    const std::optional<size_t> at = largest();
    if (!at) return std::nullopt;
    // From the element whose difference is known best.
    const auto slack = [this](size_t i) {
      return want_.bound_of(i) + 2 * unit_roundoff * std::abs(static_cast<double>(got_[i]));
    };
    const size_t best = *std::min_element(wrong_.begin(), wrong_.end(),
                                          [&](size_t a, size_t b) { return slack(a) < slack(b); });
    const double c = got_[best] - want_.value[best];
    const auto follows = [&](size_t i) {
      return std::abs(got_[i] - want_.value[i] - c) <= slack(i) + slack(best);
    };
    if (!all(follows)) return std::nullopt;
    return fmt::format("a constant is added: {:.6g}", c);
  }

  // Is each wrong element, where there is such a place at all, what is right at another place?
  bool comes_from(const std::function<std::optional<size_t>(size_t)>& source) const {
    size_t compared = 0;
    for (const size_t i : wrong_) {
      const std::optional<size_t> from = source(i);
      if (!from) continue;
      if (within("", got_.subspan(i, 1), slice(want_, *from, 1)).outcome != Outcome::holds) {
        return false;
      }
      ++compared;
    }
    return compared >= elements_min && 2 * compared >= wrong_.size();
  }

  std::optional<size_t> at_index(size_t flat, size_t d, int64_t other) const {
    if (other < 0 || other >= axes_[d].count) return std::nullopt;
    std::vector<int64_t> index = index_of(flat);
    index[d] = other;
    return flat_of(index);
  }

  std::optional<std::string> moved() const {
    if (special()) return std::nullopt;
    const std::vector<Indices> in = indices_by_dimension();
    for (size_t d = 0; d < axes_.size(); ++d) {
      if (axes_[d].count < 2) continue;
      const auto along = [&](const auto& other) {
        return comes_from([&](size_t i) { return at_index(i, d, other(index_of(i)[d])); });
      };
      if (in[d].size() == 2 && along([&](int64_t j) { return in[d][j == in[d][0] ? 1 : 0]; })) {
        return fmt::format("{} {} and {} are swapped", with_plural(axes_[d]), in[d][0], in[d][1]);
      }
      constexpr int64_t shifts_max = 4;
      for (int64_t shift = -shifts_max; shift <= shifts_max; ++shift) {
        if (shift == 0 || !along([&](int64_t j) { return j + shift; })) continue;
        return fmt::format("equals what is right at {} {:+}", axes_[d].unit, shift);
      }
      if (along([&](int64_t j) { return axes_[d].count - 1 - j; })) {
        return with_plural(axes_[d]) + " stand in reverse order";
      }
    }
    const size_t n = axes_.size();
    if (n < 2 || axes_[n - 1].count != axes_[n - 2].count) return std::nullopt;
    const bool is_transposed = comes_from([&](size_t i) {
      std::vector<int64_t> index = index_of(i);
      std::swap(index[n - 1], index[n - 2]);
      return std::optional(flat_of(index));
    });
    if (!is_transposed) return std::nullopt;
    return fmt::format("{} and {} are exchanged", with_plural(axes_[n - 2]),
                       with_plural(axes_[n - 1]));
  }

  // Numbers of a narrower format lie on a grid that chance does not hit three times; unless the
  // right ones do.
  std::optional<std::string> narrow() const {
    if (special() || wrong_.size() < elements_min) return std::nullopt;
    const auto is_bf16 = [](float x) { return (std::bit_cast<uint32_t>(x) & 0xFFFFU) == 0; };
    const auto is_f16 = [](float x) { return f16_decode(f16_encode(x)) == x; };
    const auto only_got = [this](const auto& is) {
      const auto right = [this](size_t i) { return static_cast<float>(want_.value[i]); };
      return all([&](size_t i) { return is(got_[i]); }) &&
             !all([&](size_t i) { return is(right(i)); });
    };
    if (only_got(is_bf16)) return "every wrong number is one of bf16";
    if (only_got(is_f16)) return "every wrong number is one of f16";
    return std::nullopt;
  }

  const std::span<const float> got_;
  const Bounded& want_;
  const std::vector<Axis> axes_;
  bool comparable_ = false;
  std::vector<size_t> wrong_;
};

}  // namespace

std::vector<std::string> patterns_of(std::span<const float> got, const Bounded& want,
                                     std::span<const Axis> axes) {
  return Wrong(got, want, axes).patterns();
}

}  // namespace gdn
