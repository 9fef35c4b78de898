// The formula of each operator, without rounding, on any Real type of reference/real.h: defined at
// the top of reference/operators/<operator>.cpp and instantiated there for Real and its witnesses.
#pragma once

#include <span>
#include <vector>

#include "reference/real.h"

namespace gdn {

// project: sum_i w_i x_i.
template <class R>
R exact_sum_of_products(std::span<const double> w, std::span<const double> x);

// gates. Finite arguments alone.
template <class R>
R exact_sigmoid(const R& b);
template <class R>
R exact_softplus(const R& x);
template <class R>
R exact_log_decay(const R& A_log, const R& x);  // -exp(A_log) softplus(x)

// conv: silu of the sum over the taps, oldest first.
template <class R>
R exact_silu(const R& y);
template <class R>
R exact_conv(std::span<const double> taps, std::span<const double> window);

// x / rho of one head. rho^2 is norm_squared = sum x^2 / divisor + added; qk_norm divides by 1 and
// adds eps (or kd eps), gated_norm divides by vd and adds eps.
template <class R>
R exact_norm_squared(std::span<const double> x, double divisor, double added);
template <class R>
std::vector<R> exact_normalised(std::span<const double> x, double divisor, double added);

// gated_norm of one head: o / rho w z sigmoid(z).
template <class R>
std::vector<R> exact_gated_norm(std::span<const double> o, std::span<const double> z,
                                std::span<const double> w, double eps);

}  // namespace gdn
