// Faults of activations rounded to q8_0 on their way into a projection, of products that are
// rounded, and of rows that are another's.
#include <algorithm>
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// q8_0 with its constants and roundings to choose.
struct Rounding {
  float largest_code = 127;
  float (*to_code)(float) = [](float x) { return std::round(x); };
  bool stores_f16 = true;
  bool divides = false;  // by d, in place of multiplying by 1 / d
};

std::vector<float> rounded(const std::vector<float>& x, const Rounding& how) {
  std::vector<float> result(x.size());
  for (size_t begin = 0; begin + q8_block_values <= x.size(); begin += q8_block_values) {
    float largest = 0;
    const size_t end = begin + q8_block_values;
    for (size_t i = begin; i < end; ++i) largest = std::fmax(largest, std::abs(x[i]));
    const float d = largest / how.largest_code, reciprocal = 1 / d;
    const float inverse = std::isfinite(reciprocal) ? reciprocal : 0;
    const float stored = how.stores_f16 ? f16_decode(f16_encode(d)) : d;
    for (size_t i = begin; i < end; ++i) {
      const float ratio = how.divides && inverse != 0 ? x[i] / d : x[i] * inverse;
      result[i] = how.to_code(ratio) * stored;
    }
  }
  return result;
}

FaultForm rounding(Operator op, std::string name, std::string sentence, const Rounding& how) {
  return altered(std::move(name), std::move(sentence), op, [how](Evidence& at, OperatorRun& run) {
    if (run.dialect.activation != Dialect::Activation::q8_0) return false;
    run.dialect.activation = Dialect::Activation::f32;
    at.fed["x"] = rounded(at.fed["x"], how);
    return true;
  });
}

// Each product in 16 bits; the sum as it is. More products than this take too long.
constexpr size_t products_max = size_t{1} << 20;

FaultForm narrow_products(Operator op, Format format) {
  const std::string as = format == Format::bf16 ? "bf16" : "f16";
  const auto expect = [format](const Evidence& at,
                               const OperatorRun& run) -> std::optional<FaultyArrays> {
    const std::vector<float>& x = at.fed.at("x");
    const bool is_plain = run.dialect.activation == Dialect::Activation::f32;
    if (!is_plain || x.size() * at.gave.at("y").size() > products_max) return std::nullopt;
    std::vector<float> row(x.size());
    std::vector<Ball> y, terms(x.size());
    for (int64_t r = 0; r < run.weights.rows; ++r) {
      run.weights.decode_row(r, row.data());
      for (size_t c = 0; c < x.size(); ++c) {
        terms[c] = rounded_to(format, exact_ball(row[c]) * exact_ball(x[c]));
      }
      y.push_back(sum_of(terms));
    }
    return FaultyArrays{{"y", bounded_from(y)}};
  };
  return {"products_rounded_to_" + as, "each product is rounded to " + as, op, expect};
}

// The last row is that of another.
FaultForm last_row(Operator op, std::string name, std::string sentence, bool first) {
  const auto expect = [first](const Evidence& at,
                              const OperatorRun&) -> std::optional<FaultyArrays> {
    std::vector<Ball> y = balls_of(at.right.at("y"));
    if (y.size() < 2) return std::nullopt;
    y.back() = first ? y.front() : y[y.size() - 2];
    return FaultyArrays{{"y", bounded_from(y)}};
  };
  return {std::move(name), std::move(sentence), op, expect};
}

std::vector<RegisteredForm> all_forms() {
  std::vector<RegisteredForm> forms;
  for (const Operator op : {Operator::in_proj, Operator::out_proj}) {
    forms.emplace_back(rounding(op, "activation_code_of_minus_128",
                                "activations are scaled to codes of 128 in place of 127",
                                {.largest_code = 128}));
    forms.emplace_back(rounding(op, "activation_codes_rounded_to_even",
                                "halves between two codes of activations go to the even one",
                                {.to_code = [](float x) { return std::nearbyint(x); }}));
    forms.emplace_back(rounding(op, "activation_codes_cut_off",
                                "codes of activations are cut off, not rounded",
                                {.to_code = [](float x) { return std::trunc(x); }}));
    forms.emplace_back(rounding(op, "activation_scale_kept_in_float32",
                                "the scale of activations is not rounded to f16",
                                {.stores_f16 = false}));
    forms.emplace_back(rounding(op, "activations_divided_by_their_scale",
                                "activations are divided by their scale, not multiplied by its "
                                "reciprocal",
                                {.divides = true}));
    for (const Format format : {Format::bf16, Format::f16}) {
      forms.emplace_back(narrow_products(op, format));
    }
    forms.emplace_back(
        last_row(op, "last_row_taken_from_the_first", "the last row repeats the first", true));
    forms.emplace_back(last_row(op, "last_row_of_the_one_before",
                                "the last row repeats the one before it", false));
  }
  return forms;
}
const std::vector<RegisteredForm> self = all_forms();

}  // namespace
}  // namespace gdn
