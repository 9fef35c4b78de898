// By the book, one token after the other. A float64 sum of a few hundred products errs by 1e-13 of
// its terms: the coarsest of our engines' own errors is a thousand times that, and the finest
// tolerance of a public rule a million times.
#ifdef __FAST_MATH__
#error "a reference needs IEEE arithmetic: build without fast math"
#endif

#include "ci/public_rules_reference.h"

#include <cmath>

namespace gdn {
namespace {

using Row = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }

// A matrix, decoded once.
class Plain {
 public:
  explicit Plain(const Matrix& m) : cols_(static_cast<size_t>(m.cols)) {
    std::vector<float> row(cols_);
    for (int64_t r = 0; r < m.rows; ++r) {
      m.decode_row(r, row.data());
      weights_.insert(weights_.end(), row.begin(), row.end());
    }
  }
  Row times(const Row& x) const {
    Row y(weights_.size() / cols_);
    for (size_t r = 0; r < y.size(); ++r) {
      for (size_t c = 0; c < cols_; ++c) y[r] += weights_[r * cols_ + c] * x[c];
    }
    return y;
  }

 private:
  size_t cols_;
  std::vector<double> weights_;
};

void normalise(double* head, size_t count, double eps, double scale) {
  double sum = eps;
  for (size_t i = 0; i < count; ++i) sum += head[i] * head[i];
  for (size_t i = 0; i < count; ++i) head[i] *= scale / std::sqrt(sum);
}

struct TokenNumbers {
  Row q, k, v, g, beta;  // q and k before their norm
};

// One token: S becomes what it is after it; o.
Row recur(Row& S, TokenNumbers t, const Shape& s) {
  const auto kd = static_cast<size_t>(s.head_k_dim), vd = static_cast<size_t>(s.head_v_dim);
  const double scale = 1 / std::sqrt(static_cast<double>(kd));
  for (size_t i = 0; i < t.k.size(); i += kd) {
    normalise(&t.k[i], kd, s.l2norm_eps, 1);
    normalise(&t.q[i], kd, s.l2norm_eps, scale);
  }
  Row o(t.v.size());
  for (size_t head = 0; head < t.beta.size(); ++head) {
    const size_t of_k = head / static_cast<size_t>(s.v_heads_per_k_head()) * kd;
    double* const state = &S[head * kd * vd];
    Row delta(t.v.begin() + static_cast<std::ptrdiff_t>(head * vd),
              t.v.begin() + static_cast<std::ptrdiff_t>((head + 1) * vd));
    const double decay = std::exp(t.g[head]);
    for (size_t i = 0; i < kd; ++i) {
      for (size_t j = 0; j < vd; ++j) {
        state[i * vd + j] *= decay;
        delta[j] -= state[i * vd + j] * t.k[of_k + i];
      }
    }
    for (size_t i = 0; i < kd; ++i) {
      for (size_t j = 0; j < vd; ++j) {
        state[i * vd + j] += t.k[of_k + i] * t.beta[head] * delta[j];
        o[head * vd + j] += state[i * vd + j] * t.q[of_k + i];
      }
    }
  }
  return o;
}

Row slice_of(const std::vector<float>& all, int64_t index, int64_t count) {
  const auto begin = all.begin() + index * count;
  return Row(begin, begin + count);
}

PlainRun recurrence(const Case& c, const Numbers& numbers) {
  const Shape& s = c.shape;
  PlainRun run;
  const std::vector<float>& S = numbers.arrays.at("S");
  run.state.assign(S.begin(), S.end());
  for (int64_t t = 0; t < c.tokens; ++t) {
    const auto of = [&](const char* name, int64_t count) {
      return slice_of(numbers.arrays.at(name), t, count);
    };
    const Row o = recur(run.state,
                        {of("q", s.k_dim()), of("k", s.k_dim()), of("v", s.v_dim()),
                         of("g", s.num_v_heads), of("beta", s.num_v_heads)},
                        s);
    run.output.insert(run.output.end(), o.begin(), o.end());
  }
  return run;
}

// conv and SiLU of one token's projection; the history moves on.
Row convolve(std::vector<Row>& history, const Row& qkv, const std::vector<float>& taps) {
  history.push_back(qkv);
  Row y(qkv.size());
  for (size_t channel = 0; channel < y.size(); ++channel) {
    for (size_t j = 0; j < history.size(); ++j) {
      y[channel] += taps[channel * history.size() + j] * history[j][channel];
    }
    y[channel] *= sigmoid(y[channel]);
  }
  history.erase(history.begin());
  return y;
}

Row gated(Row o, const Row& z, const std::vector<float>& weight, double eps) {
  const size_t vd = weight.size();
  for (size_t head = 0; head < o.size(); head += vd) {
    double mean = 0;
    for (size_t j = 0; j < vd; ++j) mean += o[head + j] * o[head + j] / static_cast<double>(vd);
    for (size_t j = 0; j < vd; ++j) {
      const double gate = z[head + j] * sigmoid(z[head + j]);
      o[head + j] *= weight[j] * gate / std::sqrt(mean + eps);
    }
  }
  return o;
}

PlainRun layer(const Case& c, const Numbers& numbers) {
  const Shape& s = c.shape;
  const LayerWeights w = view_of(numbers.layers.front(), s);
  const Plain qkv(w.qkv), z(w.z), b(w.b), a(w.a), out(w.out);
  PlainRun run;
  run.state.assign(static_cast<size_t>(s.state_count()), 0);
  std::vector<Row> history(static_cast<size_t>(s.conv_kernel - 1),
                           Row(static_cast<size_t>(s.conv_dim())));
  for (const std::vector<float>& fed : numbers.h) {
    const Row h(fed.begin(), fed.end());
    const Row y = convolve(history, qkv.times(h), w.conv);
    const auto k = y.begin() + s.k_dim(), v = k + s.k_dim();
    TokenNumbers t = {Row(y.begin(), k), Row(k, v), Row(v, y.end()), a.times(h), b.times(h)};
    for (size_t head = 0; head < t.g.size(); ++head) {
      t.g[head] = -std::exp(w.A_log[head]) * softplus(t.g[head] + w.dt_bias[head]);
      t.beta[head] = sigmoid(t.beta[head]);
    }
    const Row o = recur(run.state, std::move(t), s);
    const Row token = out.times(gated(o, z.times(h), w.norm, s.rms_norm_eps));
    run.output.insert(run.output.end(), token.begin(), token.end());
  }
  return run;
}

}  // namespace

PlainRun plain_run(const Case& c) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return {};
  return c.subject == Subject::layer ? layer(c, *numbers) : recurrence(c, *numbers);
}

}  // namespace gdn
