// y = sum_j w_j window_j, oldest first;  CONV = silu(y) = y / (1 + exp(-y)).
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/exact.h"
#include "reference/functions.h"
#include "reference/operators.h"
#include "reference/parallel_for.h"
#include "reference/special.h"

namespace gdn {

template <class R>
R exact_silu(const R& y) {
  return y < 0 ? R(y * exp(y) / (1 + exp(y))) : R(y / (1 + exp(-y)));
}

template <class R>
R exact_conv(std::span<const double> taps, std::span<const double> window) {
  return exact_silu(exact_sum_of_products<R>(taps, window));
}

#define GDN_INSTANTIATE(R)            \
  template R exact_silu<R>(const R&); \
  template R exact_conv<R>(std::span<const double>, std::span<const double>);
GDN_FOR_EACH_REAL(GDN_INSTANTIATE)
#undef GDN_INSTANTIATE

// Bound: y is a sum of ck products in the contract's order (partial_sums.h), off by e in all with
// what the window carries. Over [y - e, y + e] silu moves by its slope times e, and the form's own
// error (functions.cpp) is relative to a value no larger than |silu(y)| + slope e.
namespace {

// One channel's taps, its window and what that carries.
struct Channel {
  std::vector<double> taps, window, bound;
  bool ordinary = true;
};

void load(Channel& channel, const Bounded& window, std::span<const float> w, int64_t channels,
          int64_t c) {
  const size_t ck = channel.taps.size();
  channel.ordinary = true;
  for (size_t j = 0; j < ck; ++j) {
    const size_t at = j * static_cast<size_t>(channels) + static_cast<size_t>(c);
    channel.taps[j] = w[static_cast<size_t>(c) * ck + j];
    channel.window[j] = window.value[at];
    channel.bound[j] = window.bound_of(at);
    channel.ordinary = channel.ordinary && std::isfinite(channel.taps[j]) &&
                       is_ordinary(channel.window[j], channel.bound[j]);
  }
}

// How far the engine's y can lie from the exact one.
double sum_error(const Channel& channel, const Contract& contract, const FloatModel& model) {
  const size_t ck = channel.taps.size();
  std::vector<double> terms(ck);
  double carried = 0;
  Flushing flushing{.flushes = model.flushes};
  for (size_t j = 0; j < ck; ++j) {
    const double tap = std::abs(channel.taps[j]);
    terms[j] = channel.taps[j] * channel.window[j];
    carried += tap * channel.bound[j];
    const double lost = model.read_error(channel.window[j], channel.bound[j]);
    flushing.lost += std::max(tap * lost, model.read_error(tap) * std::abs(channel.window[j]));
  }
  const SumMagnitudes exact = sum_magnitudes(contract.conv, terms);
  return carried + dot_error(widened(exact, carried), flushing);
}

void put_channel(Bounded& result, size_t c, const Channel& channel, const Contract& contract,
                 const FloatModel& model) {
  const double e = sum_error(channel, contract, model);
  if (!std::isfinite(e)) {
    put_special(result, c, {all_classes});
    return;
  }
  const Real y = exact_sum_of_products<Real>(channel.taps, channel.window);
  const Real exact = exact_silu(y);
  const double middle = static_cast<double>(y);
  const double carried = silu_slope(middle - e, middle + e) * e;
  const FunctionError local = silu_error(middle - e, middle + e, contract.silu, model);
  put(result, c, exact, carried + local.of(std::abs(static_cast<double>(exact)) + carried));
}

// Infinities and NaN: the sum by IEEE's rules; then NaN gives NaN, +inf gives +inf, and -inf gives
// NaN, since each declared form takes inf / inf or inf 0 there (a form of its own may give the
// limit, -0: tolerated where nothing is declared). A sum that can overflow is undecided.
void put_special_channel(Bounded& result, size_t c, const Channel& channel,
                         const Contract& contract) {
  const Classes y = sum_of_products_classes(channel.taps, channel.window, channel.bound);
  put_special(result, c, silu_classes(y));
  if (contract.silu == SigmoidForm::any && y.only(Classes::minus_inf)) {
    result.tolerated.push_back({c, -0.0F, "the limit of silu at -infinity"});
  }
}

}  // namespace

Bounded conv(const Bounded& window, std::span<const float> w, int64_t channels,
             const Contract& contract) {
  const FloatModel model(contract);
  const size_t ck = w.size() / static_cast<size_t>(std::max<int64_t>(1, channels));
  const Channel empty{std::vector<double>(ck), std::vector<double>(ck), std::vector<double>(ck)};
  Bounded result = bounded_of(static_cast<size_t>(channels));
  // A channel costs a few us, a thread some 20.
  parallel_for(channels, 64, [&](int64_t begin, int64_t end) {
    Channel channel = empty;
    for (int64_t c = begin; c < end; ++c) {
      load(channel, window, w, channels, c);
      if (channel.ordinary) put_channel(result, static_cast<size_t>(c), channel, contract, model);
    }
  });
  Channel channel = empty;
  for (int64_t c = 0; c < channels; ++c) {
    load(channel, window, w, channels, c);
    if (!channel.ordinary) put_special_channel(result, static_cast<size_t>(c), channel, contract);
  }
  return result;
}

}  // namespace gdn
