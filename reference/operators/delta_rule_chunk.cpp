// What a chunk's inputs decide: decays, L and P, the inverse, and the rows that meet the state.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include "reference/operators/delta_rule_chunk.h"

#include <algorithm>
#include <cmath>

namespace gdn {
namespace {

constexpr double u = unit_roundoff;

}  // namespace

Chunk::Chunk(Tokens all, int64_t chunk_tokens, const DeltaRuleModel& stated)
    : tokens(all),
      model(stated),
      n(all.size()),
      kd(all[0].k.size()),
      vd(all[0].v.size()),
      C(static_cast<double>(std::max<int64_t>(chunk_tokens, static_cast<int64_t>(n)))),
      lost(stated.floats.exp_absolute) {
  double sum = 0, sizes = 0, error = 0, product = 1, growth = 1;
  for (size_t i = 0; i < n; ++i) {
    const HeadToken& token = tokens[i];
    sum += token.g;
    error += token.g_error + model.floats.read_error(token.g);
    sizes += std::abs(token.g);
    const double count = static_cast<double>(i + 1);
    G.push_back(sum);
    G_error.push_back(error);
    G_rounding.push_back(gamma(count) * (sizes + error) + count * model.sum_eta);
    product *= token.decay[0].largest() * token.stretch();
    kept.push_back(product);
    for (size_t j = 0; j <= i; ++j) {
      growth = std::max(growth, decay(i, j) * (1 + decay_error(i, j)) + lost);
    }
    growth = std::max(growth, std::exp(sum) * (1 + from_start_error(i)) + lost);
  }
  guard = overflow_guard(growth);
  eta = (model.floats.eta + model.sum_eta) * growth;
}

double Chunk::from_start_error(size_t i) const {
  const double off = G_error[i] + G_rounding[i];
  return compose(std::expm1(off), model.floats.exp_relative(std::abs(G[i]) + off));
}

double Chunk::decay_error(size_t i, size_t j) const {
  if (i == j) return model.floats.exp_relative(0);
  const double off = G_rounding[i] + G_rounding[j] + (G_error[i] - G_error[j]);
  const double apart = std::abs(G[i] - G[j]) + off;
  return compose(std::expm1(off + u * apart), model.floats.exp_relative(apart * (1 + u)));
}

void Chunk::watch(const Table& sizes) {
  for (const double size : sizes.x) guard += overflow_guard(size);
}

// (x_i k_j) w_i D_ij, where x is k with w = beta (j < i), or q with w = 1 (j <= i): two roundings
// beyond those of the sum for w and D, one fewer without w.
Estimate decayed_products(Chunk& chunk, bool of_keys) {
  Estimate result(chunk.n, chunk.n);
  Table sums(chunk.n, chunk.n);
  const double kd = static_cast<double>(chunk.kd);
  for (size_t i = 0; i < chunk.n; ++i) {
    const HeadToken& row = chunk.tokens[i];
    const std::vector<double>& x = of_keys ? row.k : row.q;
    const std::vector<double>& x_error = of_keys ? row.k_error : row.q_error;
    const double w = of_keys ? row.beta : 1, w_error = of_keys ? row.beta_error : 0;
    for (size_t j = 0; j < i + (of_keys ? 0 : 1); ++j) {
      const HeadToken& col = chunk.tokens[j];
      double sum = 0, size = 0, input = 0, k_size = 0;
      for (size_t m = 0; m < chunk.kd; ++m) {
        sum += x[m] * col.k[m];
        size += std::abs(x[m] * col.k[m]);
        input += x_error[m] * col.k_size(m) + std::abs(x[m]) * col.k_error[m];
        k_size += col.k_size(m);
      }
      const double D = chunk.decay(i, j);
      const double relative = compose(gamma(kd + (of_keys ? 2 : 1)), chunk.decay_error(i, j));
      const double weighted_input = w_error * (size + input) + std::abs(w) * input;
      const double whole = std::abs(w) * size + weighted_input;
      result.exact(i, j) = w * sum * D;
      result.error(i, j) = D * (relative * whole + weighted_input) + chunk.lost * whole +
                           chunk.eta * (kd + 1 + (of_keys ? k_size : 0));
      sums(i, j) = whole * (1 + gamma(kd + 2));
    }
  }
  chunk.watch(sums);
  chunk.watch(result.size());
  return result;
}

Inverse inverse_of(Chunk& chunk, const Estimate& L) {
  Table Gamma = times_gamma(L.size());
  for (size_t i = 0; i < chunk.n; ++i) Gamma(i, i) += u;
  Table T = absolute(solve(negated(L.exact), identity(chunk.n)));
  const Table TM = T * (L.error + Gamma);
  // |T| J: what stands to the right in a row.
  Table underflow(chunk.n, chunk.n);
  for (size_t i = 0; i < chunk.n; ++i) {
    for (size_t j = i; j-- > 0;) underflow(i, j) = underflow(i, j + 1) + T(i, j + 1);
  }
  for (double& x : underflow.x) x *= chunk.C * chunk.eta;
  Table E = solve(TM, TM * T + underflow);
  // T was substituted in double, by the same theorem within 2^-28 E of the exact.
  for (size_t i = 0; i < T.x.size(); ++i) T.x[i] += 0x1p-20 * E.x[i];
  chunk.watch(T + E);
  return {T, E, Gamma};
}

Rows rows_of(Chunk& chunk) {
  Rows rows{Estimate(chunk.n, chunk.kd), Estimate(chunk.n, chunk.kd), Estimate(chunk.n, chunk.vd),
            Estimate(chunk.n, chunk.kd)};
  const double eta = chunk.eta, lost = chunk.lost, kd = static_cast<double>(chunk.kd);
  for (size_t i = 0; i < chunk.n; ++i) {
    const HeadToken& token = chunk.tokens[i];
    const double beta = std::abs(token.beta), B = token.beta_size();
    const double from_start = std::exp(chunk.G[i]), to_end = chunk.decay(chunk.n - 1, i);
    const double e_G = compose(chunk.from_start_error(i), u);
    const double e_end = compose(chunk.decay_error(chunk.n - 1, i), u);
    const double e_query = compose(e_G, gamma(kd));
    const double e_key = compose(e_G, u);
    for (size_t m = 0; m < chunk.kd; ++m) {
      const double k = std::abs(token.k[m]), K = token.k_size(m);
      const double q = std::abs(token.q[m]), Q = token.q_size(m);
      const double key_input = token.beta_error * K + beta * token.k_error[m];
      rows.keys.exact(i, m) = token.beta * from_start * token.k[m];
      rows.keys.error(i, m) =
          from_start * (e_key * (beta * k + key_input) + key_input) + lost * B * K + 2 * eta;
      rows.queries.exact(i, m) = from_start * token.q[m];
      rows.queries.error(i, m) = from_start * (e_query * Q + token.q_error[m]) + lost * Q + 2 * eta;
      rows.last.exact(i, m) = to_end * token.k[m];
      rows.last.error(i, m) = to_end * (e_end * K + token.k_error[m]) + lost * K + eta;
      chunk.guard += overflow_guard(std::max(q, B * K));
    }
    for (size_t j = 0; j < chunk.vd; ++j) {
      const double v = std::abs(token.v[j]);
      const double input = token.beta_error * (v + token.v_error[j]) + beta * token.v_error[j];
      rows.values.exact(i, j) = token.beta * token.v[j];
      rows.values.error(i, j) = input * (1 + u) + u * beta * v + eta;
    }
  }
  chunk.watch(rows.keys.size());
  chunk.watch(rows.queries.size());
  chunk.watch(rows.last.size());
  return rows;
}

}  // namespace gdn
