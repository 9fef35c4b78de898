// The delta rule of one head as formulas on any number type: S is [kd][vd], row-major,
//   S <- a S (row by row), u = S^T k, d = beta (v - u), S <- S + k d^T, o = S^T q;
// and, for tests, the same recurrence by another road: the chunked (WY) form.
#pragma once

#include <cstdint>
#include <vector>

namespace gdn::exact {

// S <- diag(a) S.
template <class Number, class Factor>
void decay_state(std::vector<Number>& S, const std::vector<Factor>& a) {
  const size_t vd = S.size() / a.size();
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < vd; ++j) S[i * vd + j] *= a[i];
  }
}

// S^T x, [vd].
template <class Number, class Factor>
std::vector<Number> read_state(const std::vector<Number>& S, const std::vector<Factor>& x) {
  const size_t vd = S.size() / x.size();
  std::vector<Number> sum(vd, Number(0));
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < vd; ++j) sum[j] += S[i * vd + j] * x[i];
  }
  return sum;
}

// S <- S + k d^T.
template <class Number, class Factor>
void write_state(std::vector<Number>& S, const std::vector<Factor>& k,
                 const std::vector<Number>& d) {
  for (size_t i = 0; i < k.size(); ++i) {
    for (size_t j = 0; j < d.size(); ++j) S[i * d.size() + j] += d[j] * k[i];
  }
}

// d = beta (v - u).
template <class Number, class Factor>
std::vector<Number> delta(const std::vector<Factor>& v, const std::vector<Number>& u,
                          const Factor& beta) {
  std::vector<Number> d(v.size());
  for (size_t j = 0; j < v.size(); ++j) d[j] = (Number(v[j]) - u[j]) * beta;
  return d;
}

// One token of one head. g is the log decay of the head.
template <class Number>
struct Token {
  std::vector<Number> q, k, v;
  Number g, beta;
};

// The recurrence as it is defined. S becomes the final state; returns o of each token.
template <class Number>
std::vector<std::vector<Number>> token_loop(std::vector<Number>& S,
                                            const std::vector<Token<Number>>& tokens) {
  std::vector<std::vector<Number>> o;
  for (const Token<Number>& token : tokens) {
    decay_state(S, std::vector<Number>(token.k.size(), exp(token.g)));
    write_state(S, token.k, delta(token.v, read_state(S, token.k), token.beta));
    o.push_back(read_state(S, token.q));
  }
  return o;
}

template <class Number>
Number dot(const std::vector<Number>& a, const std::vector<Number>& b) {
  Number sum(0);
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The same in one chunk, with no state in between. With G = cumsum(g) and D_ij = e^(G_i - G_j):
//   (I + L) N = beta (v - e^G k S), L_ij = beta_i (k_i k_j) D_ij for j < i, solved for N (the d of
//   the loop); o_i = e^(G_i) q_i S + sum_(j<=i) (q_i k_j) D_ij N_j;
//   S <- e^(G_n) S + sum_j D_nj k_j N_j.
// Source: Yang, Wang, Zhang, Shen and Kim, Parallelizing linear transformers with the delta rule
// over sequence length (2024), with the decay of Yang, Kautz and Hatamizadeh (2024).
template <class Number>
std::vector<std::vector<Number>> chunked(std::vector<Number>& S,
                                         const std::vector<Token<Number>>& tokens) {
  const size_t n = tokens.size();
  std::vector<Number> G(n);
  std::vector<std::vector<Number>> N(n), o(n);
  for (size_t i = 0; i < n; ++i) {
    const Token<Number>& token = tokens[i];
    G[i] = i == 0 ? token.g : Number(G[i - 1] + token.g);
    const std::vector<Number> read_by_k = read_state(S, token.k);
    const std::vector<Number> read_by_q = read_state(S, token.q);
    N[i].resize(token.v.size());
    o[i].resize(token.v.size());
    for (size_t c = 0; c < token.v.size(); ++c) {
      N[i][c] = token.beta * (token.v[c] - exp(G[i]) * read_by_k[c]);
      o[i][c] = exp(G[i]) * read_by_q[c];
    }
    for (size_t j = 0; j <= i; ++j) {
      const Number D = exp(Number(G[i] - G[j]));
      const Number L = token.beta * dot(token.k, tokens[j].k) * D;
      const Number P = dot(token.q, tokens[j].k) * D;
      for (size_t c = 0; c < token.v.size() && j < i; ++c) N[i][c] -= L * N[j][c];
      for (size_t c = 0; c < token.v.size(); ++c) o[i][c] += P * N[j][c];
    }
  }
  for (Number& s : S) s *= exp(G[n - 1]);
  for (size_t j = 0; j < n; ++j) {
    const Number D = exp(Number(G[n - 1] - G[j]));
    std::vector<Number> weighted = N[j];
    for (Number& x : weighted) x *= D;
    write_state(S, tokens[j].k, weighted);
  }
  return o;
}

}  // namespace gdn::exact
