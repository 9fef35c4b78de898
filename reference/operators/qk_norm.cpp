// Per k-head: k / rho, rho = sqrt(sum k^2 + eps), and q / rho / sqrt(kd) (or times a given scale).
// Other dialects: rho = max(sqrt(sum), eps); rho = sqrt(sum + kd eps) (the mean form); none.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/exact.h"
#include "reference/head_norm.h"
#include "reference/operators.h"

namespace gdn {

template <class R>
R exact_norm_squared(std::span<const double> x, double divisor, double added) {
  R sum = 0;
  for (double element : x) sum += R(element) * element;
  return sum / divisor + added;
}

template <class R>
std::vector<R> exact_normalised(std::span<const double> x, double divisor, double added) {
  const R rho = sqrt(exact_norm_squared<R>(x, divisor, added));
  std::vector<R> quotients;
  for (double element : x) quotients.push_back(element / rho);
  return quotients;
}

#define GDN_INSTANTIATE(R)                                                   \
  template R exact_norm_squared<R>(std::span<const double>, double, double); \
  template std::vector<R> exact_normalised<R>(std::span<const double>, double, double);
GDN_FOR_EACH_REAL(GDN_INSTANTIATE)
#undef GDN_INSTANTIATE

// Bound: that of x / rho (head_norm.cpp, functions.cpp), at the engine's own inputs; then what the
// inputs carry. The scale is a float32: 1 / sqrt(kd) is off by u if it was written as a constant,
// by a square root's and a division's error if computed; the product rounds once more. Nothing does
// where the scale is a power of two, unless it is computed with less than IEEE's operations. The
// mean form rounds eps' product with kd, or the mean, and the factor 1 / sqrt(kd) that it leaves,
// with its product.
namespace {

constexpr double u = unit_roundoff;

// What multiplies each element after the norm, and the relative error of it and its product.
struct Scale {
  Real exact = 1;
  double relative = 0;
  bool applied = false;
};

Scale scale_of_q(const Shape& shape, const Dialect& dialect, const Contract& contract) {
  Scale scale;
  if (dialect.scale_on != Dialect::ScaleOn::q) return scale;
  scale.applied = true;
  if (dialect.scale) {
    scale.exact = *dialect.scale;
    scale.relative = is_power_of_two(std::abs(*dialect.scale)) ? 0 : u;
    return scale;
  }
  scale.exact = 1 / sqrt(Real(shape.head_k_dim));
  const FloatModel model(contract);
  const bool written = contract.q_scale == QScaleForm::rounded_constant;
  const bool ieee = model.sqrt_relative <= u && model.division_relative <= u;
  if ((written || ieee) && is_power_of_two(static_cast<double>(scale.exact))) return scale;
  const double computed = compose(of_inverse(model.sqrt_relative), model.division_relative);
  const double constant = written ? u : std::max(u, computed);
  scale.relative = compose(constant, u);
  return scale;
}

// Everything about one of q and k that its heads share.
struct Normaliser {
  const Dialect::QkNorm kind;
  const Contract& contract;
  const FloatModel model;
  HeadNormForm form;
  double form_relative = 0;  // beyond x / rho
  Scale scale;
};

Normaliser normaliser(const Shape& shape, const Dialect& dialect, const Contract& contract,
                      const Scale& scale) {
  Normaliser n{dialect.qk_norm, contract, FloatModel(contract), {}, 0, scale};
  const double eps = shape.l2norm_eps;
  switch (dialect.qk_norm) {
    case Dialect::QkNorm::sum_eps:
      n.form.added = eps;
      n.form.squared_extra = eps == 0 ? 0 : u;
      break;
    case Dialect::QkNorm::max_norm:
      n.form.floor = eps;
      break;
    case Dialect::QkNorm::mean_eps:
      n.form.added = eps * static_cast<double>(shape.head_k_dim);
      n.form.squared_extra = compose(u, compose(u, std::max(u, n.model.division_relative)));
      n.form.divided_absolute = n.model.division_absolute * static_cast<double>(shape.head_k_dim);
      n.form_relative =
          compose(u, compose(of_inverse(n.model.sqrt_relative), n.model.division_relative));
      break;
    case Dialect::QkNorm::none:
      break;
  }
  return n;
}

// fl(quotient scale): the quotient's own loss to underflow is scaled, and the product has one. A
// given scale may take it beyond float32.
void put_scaled(Bounded& result, size_t i, const Real& quotient, double carried, double relative,
                double absolute, const Normaliser& n) {
  const double scale = std::abs(static_cast<double>(n.scale.exact)) * bound_slack;
  const double size = std::abs(static_cast<double>(quotient)) + carried;
  const double rounding = compose(relative, n.scale.relative) * size;
  const double underflow =
      n.scale.applied ? absolute * (1 + n.scale.relative) * scale + n.model.eta : absolute;
  const double rest = n.scale.applied ? scale * (carried + rounding) : carried + rounding;
  if (!(scale * size + rest < overflow_threshold)) {
    put_special(result, i, {all_classes});
    return;
  }
  put(result, i, quotient * n.scale.exact, rest + underflow);
}

void put_unnormed(Bounded& result, size_t i, const Bounded& x, const Normaliser& n) {
  const double e = x.bound_of(i);
  if (!is_ordinary(x.value[i], e)) {
    const Classes scale = classes_of(static_cast<double>(n.scale.exact), 0);
    put_special(result, i, product(classes_of(x, i), scale));
  } else if (n.scale.applied) {
    put_scaled(result, i, x.value[i], e, 0, n.model.read_error(x.value[i], e), n);
  } else {
    result.value[i] = x.value[i];
    result.bound[i] = e;
  }
}

void put_ordinary_head(Bounded& result, const Bounded& x, size_t begin, size_t count,
                       const Normaliser& n) {
  const std::span<const double> value(x.value.data() + begin, count);
  const std::span<const double> bound(x.bound.data() + (x.bound.empty() ? 0 : begin),
                                      x.bound.empty() ? 0 : count);
  const HeadNorm norm = head_norm(value, bound, n.contract.qk_norm, n.form, n.model);
  const double relative =
      compose(quotient_relative(norm.squared, n.contract.qk_norm_form, n.model), n.form_relative);
  for (size_t i = begin; i < begin + count; ++i) {
    const double e = x.bound_of(i);
    if (norm.rho == 0 || !std::isfinite(relative)) {
      const bool is_zero_by_zero = norm.rho == 0 && norm.rho_moved == 0;
      put_special(result, i, {is_zero_by_zero ? uint8_t{Classes::nan} : all_classes});
      continue;
    }
    const double unread = n.model.read_error(x.value[i], e);
    const double carried = quotient_carried(norm, n.form, x.value[i], e) + unread / norm.rho_low;
    const double products = n.kind == Dialect::QkNorm::mean_eps ? 2 : 1;
    const double absolute = products * quotient_absolute(norm, std::abs(x.value[i]) + e, n.model);
    put_scaled(result, i, x.value[i] / norm.rho, carried, relative, absolute, n);
    if (norm.squares_may_overflow) {
      result.tolerated.push_back({i, 0.0F, "the sum of squares overflows"});
    }
  }
}

// Where the sum of squares overflows (a norm above 1.8e19) the plain form gives 0: tolerated.
// Infinities and NaN: a NaN makes its whole head NaN (in the max form fmax may drop it, so that the
// others are undecided); an infinite element gives NaN, the rest of its head 0. A zero head with
// eps = 0 is NaN. Without a norm, elements keep their class.
void put_special_head(Bounded& result, const Bounded& x, size_t begin, size_t count,
                      const Normaliser& n) {
  const bool floor = n.kind == Dialect::QkNorm::max_norm;
  const std::vector<Classes> quotients = special_quotients(x, begin, count, floor);
  const Classes scale = classes_of(static_cast<double>(n.scale.exact), 0);
  for (size_t i = 0; i < count; ++i) {
    put_special(result, begin + i, product(quotients[i], scale));
  }
}

Bounded normalised(const Bounded& x, size_t kd, const Normaliser& n) {
  Bounded result = bounded_of(x.size());
  for (size_t begin = 0; begin + kd <= x.size(); begin += kd) {
    bool ordinary = true;
    for (size_t i = begin; i < begin + kd; ++i) {
      if (n.kind == Dialect::QkNorm::none) put_unnormed(result, i, x, n);
      ordinary = ordinary && is_ordinary(x.value[i], x.bound_of(i));
    }
    if (n.kind == Dialect::QkNorm::none) continue;
    ordinary ? put_ordinary_head(result, x, begin, kd, n)
             : put_special_head(result, x, begin, kd, n);
  }
  return result;
}

}  // namespace

NormedQk qk_norm(const Bounded& q, const Bounded& k, const Shape& shape, const Dialect& dialect,
                 const Contract& contract) {
  const size_t kd = static_cast<size_t>(shape.head_k_dim);
  const Scale scale = scale_of_q(shape, dialect, contract);
  return {normalised(q, kd, normaliser(shape, dialect, contract, scale)),
          normalised(k, kd, normaliser(shape, dialect, contract, Scale{}))};
}

}  // namespace gdn
