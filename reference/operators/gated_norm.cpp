// Per v-head: n = o / rho w silu(z), rho = sqrt(mean(o^2) + eps), silu(z) = z sigmoid(z).
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/exact.h"
#include "reference/head_norm.h"
#include "reference/operators.h"
#include "reference/parallel_for.h"

namespace gdn {

template <class R>
std::vector<R> exact_gated_norm(std::span<const double> o, std::span<const double> z,
                                std::span<const double> w, double eps) {
  std::vector<R> n = exact_normalised<R>(o, static_cast<double>(o.size()), eps);
  for (size_t j = 0; j < n.size(); ++j) n[j] *= w[j] * exact_silu(R(z[j]));
  return n;
}

#define GDN_INSTANTIATE(R)                                                                      \
  template std::vector<R> exact_gated_norm<R>(std::span<const double>, std::span<const double>, \
                                              std::span<const double>, double);
GDN_FOR_EACH_REAL(GDN_INSTANTIATE)
#undef GDN_INSTANTIATE

// Bound: that of o / rho (head_norm.cpp, functions.cpp), where the mean rounds once as a division
// or twice as a product with a rounded 1 / vd (exact where vd is a power of two) and the addition
// of eps once; silu's by its form; one rounding each for the products with w and with the gate. The
// products can come in any order: a loss eta to underflow is then multiplied by what comes after
// it, at most max(1, |o|) max(1, 1/rho) max(1, |w|) max(1, |z|). What o and z carry moves o / rho
// and silu(z), by head_norm.cpp and silu's slope.
namespace {

constexpr double u = unit_roundoff;

HeadNormForm mean_form(const Shape& shape, const Contract& contract, const FloatModel& model) {
  HeadNormForm form;
  form.divisor = static_cast<double>(shape.head_v_dim);
  form.added = shape.rms_norm_eps;
  double mean = 0;
  if (contract.mean == MeanForm::divide) mean = model.division_relative;
  if (contract.mean != MeanForm::divide) mean = std::max(compose(u, u), model.division_relative);
  // An IEEE division by a power of two is exact, and so is its reciprocal.
  if (is_power_of_two(form.divisor) && model.division_relative <= u) mean = 0;
  form.squared_extra = compose(mean, form.added == 0 ? 0 : u);
  form.divided_absolute = std::max(model.eta, model.division_absolute);
  return form;
}

// One factor of a product: its exact value, how far its inputs can move it, and the error at the
// engine's own inputs, relative to |exact| + moved.
struct Factor {
  Real exact;
  double moved = 0;
  double size() const { return std::abs(static_cast<double>(exact)) * bound_slack + moved; }
};

struct Gate {
  Factor silu;
  FunctionError local;
  double largest_z = 0;
};

Gate gate_of(double z, double bound, const Contract& contract, const FloatModel& model) {
  const double e = bound + model.read_error(z, bound);
  Gate gate{{exact_silu(Real(z)), silu_slope(z - e, z + e) * e},
            silu_error(z - e, z + e, contract.silu, model),
            std::abs(z) + e};
  return gate;
}

// What one head's elements share.
struct Head {
  const HeadNorm norm;
  const HeadNormForm& form;
  double quotient_relative;
};

void put_element(Bounded& result, size_t i, const Head& head, double o, double o_bound,
                 const Gate& gate, double w, const FloatModel& model) {
  const double unread = model.read_error(o, o_bound);
  Factor n{o / head.norm.rho, quotient_carried(head.norm, head.form, o, o_bound)};
  n.moved += unread / head.norm.rho_low;
  const double weight = std::abs(w);
  const double size = n.size() * weight * gate.silu.size();
  // |n's - ns| <= |n' - n| |s'| + |n| |s' - s|; w is exact, but an engine may read it as zero.
  const double moved =
      weight * (n.moved * gate.silu.size() + (n.size() - n.moved) * gate.silu.moved) +
      model.read_error(w) * n.size() * gate.silu.size();
  const double relative =
      compose(head.quotient_relative, compose(gate.local.relative, compose(u, u)));
  const double lost = gate.local.may_vanish ? size : 0;
  // Products with the quotient, w and the gate, and 1 / rho itself where it is subnormal.
  const double largest_o = std::abs(o) + o_bound;
  const double each = 3 * model.eta + std::max(model.division_absolute, model.rsqrt_absolute);
  const double absolute = std::max(1.0, largest_o) * std::max(1.0, 1 / head.norm.rho_low) *
                          std::max(1.0, weight) *
                          (each * std::max(1.0, gate.largest_z) + gate.local.absolute);
  const double on_the_way =
      std::max(1.0, n.size()) * std::max(1.0, weight) * std::max(1.0, gate.largest_z);
  const double bound = moved + relative * size + lost + absolute;
  if (!(on_the_way + bound < overflow_threshold)) {
    put_special(result, i, {all_classes});
    return;
  }
  put(result, i, n.exact * w * gate.silu.exact, bound);
  if (head.norm.squares_may_overflow) {
    result.tolerated.push_back({i, 0.0F, "the sum of squares overflows"});
  }
}

Classes gate_classes(double z, double bound, const Contract& contract, const FloatModel& model) {
  if (!is_ordinary(z, bound)) return silu_classes(classes_of(z, bound));
  const Gate gate = gate_of(z, bound, contract, model);
  const double exact = static_cast<double>(gate.silu.exact);
  return classes_of(exact, gate.silu.moved + gate.local.of(gate.silu.size()));
}

// Where the sum of squares overflows the plain form gives 0: tolerated. Where a product on the way
// can overflow the element is undecided. Infinities and NaN: a NaN in o makes its head NaN, an
// infinite element is NaN and the rest of its head 0; then the products with w and silu(z) by
// IEEE's rules, with silu(-inf) NaN, as each declared form has it.
void put_special_element(Bounded& result, size_t i, Classes quotient, double w, double z,
                         double z_bound, const Contract& contract, const FloatModel& model) {
  const Classes weighted = product(quotient, classes_of(w, 0));
  put_special(result, i, product(weighted, gate_classes(z, z_bound, contract, model)));
  if (contract.silu == SigmoidForm::any && z == -infinity && weighted.only(finite_classes)) {
    result.tolerated.push_back({i, 0.0F, "the limit of silu at -infinity"});
  }
}

bool ordinary_head(const Bounded& o) {
  for (size_t j = 0; j < o.size(); ++j) {
    if (!is_ordinary(o.value[j], o.bound_of(j))) return false;
  }
  return true;
}

Bounded special_head(const Bounded& o, const Bounded& z, std::span<const float> w,
                     const Contract& contract, const FloatModel& model) {
  Bounded result = bounded_of(w.size());
  const std::vector<Classes> quotients = special_quotients(o, 0, w.size(), false);
  for (size_t j = 0; j < w.size(); ++j) {
    put_special_element(result, j, quotients[j], w[j], z.value[j], z.bound_of(j), contract, model);
  }
  return result;
}

Bounded head_of(const Bounded& o, const Bounded& z, std::span<const float> w,
                const HeadNormForm& form, const Contract& contract, const FloatModel& model) {
  if (!ordinary_head(o)) return special_head(o, z, w, contract, model);
  Bounded result = bounded_of(w.size());
  const HeadNorm norm = head_norm(o.value, o.bound, contract.gated_norm, form, model);
  const Head head{norm, form, quotient_relative(norm.squared, contract.gated_norm_form, model)};
  const bool zero_by_zero = norm.rho == 0 && norm.rho_moved == 0;
  for (size_t j = 0; j < w.size(); ++j) {
    const double z_bound = z.bound_of(j);
    if (zero_by_zero || !std::isfinite(head.quotient_relative)) {
      put_special(result, j, {zero_by_zero ? uint8_t{Classes::nan} : all_classes});
    } else if (std::isfinite(w[j]) && is_ordinary(z.value[j], z_bound)) {
      const Gate gate = gate_of(z.value[j], z_bound, contract, model);
      put_element(result, j, head, o.value[j], o.bound_of(j), gate, w[j], model);
    } else {
      const double moved = quotient_carried(norm, form, o.value[j], o.bound_of(j));
      Classes quotient = classes_of(static_cast<double>(o.value[j] / norm.rho), moved);
      // The plain form's 0, which an infinite w or gate makes NaN.
      if (norm.squares_may_overflow) quotient.bits |= Classes::zero;
      put_special_element(result, j, quotient, w[j], z.value[j], z_bound, contract, model);
    }
  }
  return result;
}

}  // namespace

Bounded gated_norm(const Bounded& o, const Bounded& z, std::span<const float> w, const Shape& shape,
                   const Contract& contract) {
  const FloatModel model(contract);
  const HeadNormForm form = mean_form(shape, contract, model);
  const size_t vd = w.size();
  std::vector<Bounded> heads(vd == 0 ? 0 : o.size() / vd);
  parallel_for(static_cast<int64_t>(heads.size()), 1, [&](int64_t begin, int64_t end) {
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      heads[i] = head_of(slice(o, i * vd, vd), slice(z, i * vd, vd), w, form, contract, model);
    }
  });
  Bounded result;
  for (size_t i = 0; i < heads.size(); ++i) {
    const Bounded& head = heads[i];
    result.value.insert(result.value.end(), head.value.begin(), head.value.end());
    result.bound.insert(result.bound.end(), head.bound.begin(), head.bound.end());
    for (Tolerated t : head.tolerated) {
      t.index += i * vd;
      result.tolerated.push_back(t);
    }
  }
  return result;
}

}  // namespace gdn
