// The delta rule evaluated in chunks of up to C tokens, with the triangular inverse built row by
// row. Per head, from S at the chunk's start and G = cumsum(g):
//   D_ij = e^(G_i - G_j) (j <= i),  L_ij = beta_i (k_i k_j) D_ij (j < i),  T = (I + L)^-1,
//   X_i = beta_i e^(G_i) k_i,  W = T X,  V = beta v,  N = T V - W S (the d of the token loop),
//   P_ij = (q_i k_j) D_ij,  o_i = e^(G_i) q_i S + sum_j P_ij N_j,
//   K_j = D_nj k_j,  S <- e^(G_n) S + K^T N.
//
// Bound. ^ marks what the engine holds, |A| is elementwise, a bar is the size of the engine's:
// S- = |S| + eps with eps the error carried in (a norm a column). All errors are taken against the
// exact chunk started from the engine's own S^; what eps itself becomes in it is eps times
// prod a_t c_t, as in the token form. Inputs within Dk, Dq, ...: a product of sizes less the
// product of the exact, so that they enter where the roundings do. [[A, B]] = (I - A)^-1 B by
// forward substitution, for A >= 0 lower triangular.
//   Substitution gives T^ = I - L^ T^ + R with |R| <= Gamma T-, Gamma = gamma_i (|L| + DL) + u I,
//   so T^ - T = T (R - DL T^), whence with M = DL + Gamma
//     |T^ - T| <= E = [[|T| M, |T| M |T| + C eta |T| J]],  J = ones strictly below the diagonal.
//   DW = E |X| + T- ((1 + gamma_i) DX + gamma_i |X|) + C eta.
//   With r = V - X S^, T r = N: (T^ - T) r = T (R r - DL (N + (T^ - T) r)), so |(T^ - T) r| <= y,
//     y = [[|T| DL, |T| (Gamma T- r- + DL N-) + C eta |T| J r-]]
//   where the error of L meets N, not |T| |V|, which is far larger. The rest of N:
//   DN = (1 + u) {y + T- (DV + DX S-) + gamma_i T- (|V| + DV + (|X| + DX) S-)
//        + gamma(kd) W- S- + (C (1 + sum_m S-_m) + kd) eta} + u N-.
//   Do = (1 + u) {D(e^G q) S- + (DP + gamma_i P-) N- + (1 + gamma_i) P- DN + (kd + C) eta} + u |o|.
//   DS = (1 + u) {D(e^G_n) S- + (DK + gamma_n K-)^T N- + (1 + gamma_n) K-^T DN + C eta} + u |S'|.
// Nothing is carried through (I - |L|)^-1, which explodes for equal keys where T stays below 1.
// Zeros above a diagonal round nothing, so row i of a product with T or P has i terms.
// Source: Higham, sections 3.1, 8.1 and 14.2 (triangular systems and inverses), for this use.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/delta_rule_exact.h"
#include "reference/operators/delta_rule_chunk.h"

namespace gdn {
namespace {

constexpr double u = unit_roundoff;

// The exact chunk, by the token loop; the state moves on to its end.
struct ExactChunk {
  std::vector<std::vector<DoubleDouble>> d, o;
};

ExactChunk exact_chunk(std::vector<DoubleDouble>& S, Tokens tokens) {
  ExactChunk exact;
  for (const HeadToken& token : tokens) {
    exact::decay_state(S, token.decay_values());
    exact.d.push_back(exact::delta(token.v, exact::read_state(S, token.k), token.beta));
    exact::write_state(S, token.k, exact.d.back());
    exact.o.push_back(exact::read_state(S, token.q));
  }
  return exact;
}

Table high_parts(const std::vector<DoubleDouble>& S, size_t rows, size_t cols) {
  Table high(rows, cols);
  for (size_t i = 0; i < S.size(); ++i) high.x[i] = S[i].hi;
  return high;
}

// eps of each column in all its rows.
Table with_error(const Table& S, const std::vector<double>& error) {
  Table size = absolute(S);
  for (size_t i = 0; i < S.rows; ++i) {
    for (size_t j = 0; j < S.cols; ++j) size(i, j) += error[j];
  }
  return size;
}

// What the columns add: the state at the chunk's start, and the exact N.
struct Columns {
  Table start;                // S, exact
  Table start_size;           // S-
  std::vector<double> error;  // eps
  Table N, N_error;           // |N| and DN
  Table N_size;               // N-
};

// |r_i| + |X_i| eps: what the engine's V - X S may be, before its own errors.
Table residual_size(const Chunk& chunk, const Rows& rows, const Columns& columns) {
  Table residual = rows.keys.exact * columns.start;
  const Table magnitude = absolute(rows.keys.exact) * absolute(columns.start);
  for (size_t i = 0; i < chunk.n; ++i) {
    const double X = row_norm(rows.keys.exact, i);
    for (size_t j = 0; j < chunk.vd; ++j) {
      const double V = rows.values.exact(i, j);
      // The subtraction below was done in double: 2^-40 of its terms is far more than it can lose.
      const double own = 0x1p-40 * (std::abs(V) + magnitude(i, j));
      residual(i, j) = std::abs(V - residual(i, j)) + own + X * columns.error[j];
    }
  }
  return residual;
}

// Fills N_size and N_error.
void bound_N(Chunk& chunk, const Estimate& L, const Rows& rows, Columns& columns) {
  const Inverse inverse = inverse_of(chunk, L);
  const Table T_size = inverse.size(), X = absolute(rows.keys.exact);
  const double kd = static_cast<double>(chunk.kd);
  const Table W = absolute(solve(negated(L.exact), rows.keys.exact));
  Table W_error =
      inverse.E * X + T_size * rows.keys.error + times_gamma(T_size * (rows.keys.error + X));
  for (double& x : W_error.x) x += chunk.C * chunk.eta;
  const Table W_size = W + W_error;
  chunk.watch(W_size);
  columns.N_size = absolute(columns.N);
  for (size_t i = 0; i < chunk.n; ++i) {
    const double carried = row_norm(W_size, i);
    for (size_t j = 0; j < chunk.vd; ++j) columns.N_size(i, j) += carried * columns.error[j];
  }
  const Table r = residual_size(chunk, rows, columns);
  Table rhs = inverse.T * (inverse.Gamma * (T_size * r) + L.error * columns.N_size);
  const Table underflow = inverse.T * sums_above(r);
  for (size_t i = 0; i < rhs.x.size(); ++i) rhs.x[i] += chunk.C * chunk.eta * underflow.x[i];
  const Table y = solve(inverse.T * L.error, rhs);

  const Table X_size = rows.keys.size();
  const Table T_inputs = T_size * (rows.values.error + rows.keys.error * columns.start_size);
  const Table T_rounding = times_gamma(T_size * (rows.values.size() + X_size * columns.start_size));
  const Table WS = W_size * columns.start_size;
  for (size_t j = 0; j < chunk.vd; ++j) {
    double S_sum = 0;
    for (size_t m = 0; m < chunk.kd; ++m) S_sum += columns.start_size(m, j);
    const double lost = (chunk.C * (1 + S_sum) + kd) * chunk.eta;
    for (size_t i = 0; i < chunk.n; ++i) {
      const double before =
          y(i, j) + T_inputs(i, j) + T_rounding(i, j) + gamma(kd) * WS(i, j) + lost;
      columns.N_error(i, j) = (1 + u) * before + u * columns.N_size(i, j);
    }
  }
}

// Terms in `error` are the first roundings of each kind, beside exact factors; what is left out are
// products of two or more roundings of one evaluation, of which no number here meets more than
// kd + C and a dozen.
double second_order(const Chunk& chunk) {
  return (1 + gamma(static_cast<double>(chunk.kd) + chunk.C + 12)) * bound_slack;
}

// Do, [n][vd]; without the exact o's own rounding.
Table output_errors(Chunk& chunk, const Rows& rows, const Columns& columns) {
  const Estimate P = decayed_products(chunk, false);
  const Table P_size = P.size();
  const Table from_state = rows.queries.error * columns.start_size;
  const Table of_P = (P.error + times_gamma(P_size)) * columns.N_size;
  const Table of_N = P_size * columns.N_error;
  const Table more_of_N = times_gamma(of_N);
  Table error = from_state + of_P + of_N + more_of_N;
  for (double& x : error.x) x += (static_cast<double>(chunk.kd) + chunk.C) * chunk.eta;
  return error;
}

// DS, [kd][vd]; without the last sum's rounding.
Table state_errors(Chunk& chunk, const Rows& rows, const Columns& columns) {
  const size_t last = chunk.n - 1;
  const double decay = std::exp(chunk.G[last]);
  const double relative = compose(chunk.from_start_error(last), u);
  const double gamma_n = gamma(static_cast<double>(chunk.n));
  Table K_error = transposed(rows.last.error);
  const Table K_size = transposed(rows.last.size());
  for (size_t i = 0; i < K_error.x.size(); ++i) K_error.x[i] += gamma_n * K_size.x[i];
  Table N_error = columns.N_error;
  for (double& x : N_error.x) x *= 1 + gamma_n;
  Table error = K_error * columns.N_size + K_size * N_error;
  for (size_t i = 0; i < error.x.size(); ++i) {
    error.x[i] +=
        (relative * decay + chunk.lost) * columns.start_size.x[i] + (1 + chunk.C) * chunk.eta;
  }
  return error;
}

// Infinite for a column where a product, a sum or a result may overflow on the way.
std::vector<double> column_guards(const Chunk& chunk, const Rows& rows, const Columns& columns) {
  std::vector<double> guards(chunk.vd, chunk.guard);
  const Table N = columns.N_size + columns.N_error;
  const Table sums[] = {rows.values.size(),
                        rows.keys.size() * columns.start_size,
                        rows.queries.size() * columns.start_size,
                        N,
                        columns.start_size,
                        transposed(rows.last.size()) * N};
  for (const Table& table : sums) {
    // Twice the exact sum of sizes covers the roundings on the way to it.
    for (size_t i = 0; i < table.x.size(); ++i) {
      guards[i % chunk.vd] += overflow_guard(2 * table.x[i]);
    }
  }
  return guards;
}

// Where the chunk holds a number that is not finite, products with the zeros of T and P carry it to
// earlier tokens of the chunk too, in some engines; from its own token on it is as in the loop. A
// gate of -infinity gives -infinity less itself in G, and a decay per channel or a linear gate has
// no place in these formulas: nothing can be said of the chunk then.
std::vector<std::vector<Fate>> fates_in_chunk(const HeadState& state, const Chunk& chunk) {
  Fate all = Fate::regular;
  for (const HeadToken& token : chunk.tokens) {
    const bool outside = token.g_minus_infinity || token.per_channel || chunk.model.linear_gate;
    if (outside) all = Fate::undecided;
  }
  std::vector<std::vector<Fate>> fates(chunk.n, std::vector<Fate>(chunk.vd));
  for (size_t j = 0; j < chunk.vd; ++j) {
    Fate fate = worse(state.fate[j], std::isfinite(state.error[j]) ? all : Fate::undecided);
    for (const HeadToken& token : chunk.tokens) {
      const bool bad = worse(token.head_fate, token.v_fate[j]) != Fate::regular;
      if (bad) fate = worse(fate, Fate::undecided);
    }
    for (size_t i = 0; i < chunk.n; ++i) {
      fate = worse(fate, worse(chunk.tokens[i].head_fate, chunk.tokens[i].v_fate[j]));
      fates[i][j] = fate;
    }
  }
  return fates;
}

void clear_column(HeadState& state, size_t j) {
  state.error[j] = 0;
  for (size_t i = j; i < state.S.size(); i += state.fate.size()) state.S[i] = 0.0;
}

}  // namespace

void advance_chunk(HeadState& state, std::span<const HeadToken> tokens, int64_t chunk_tokens,
                   const DeltaRuleModel& model, std::span<Bounded> out, size_t begin) {
  Chunk chunk(tokens, chunk_tokens, model);
  const std::vector<std::vector<Fate>> fates = fates_in_chunk(state, chunk);
  for (size_t j = 0; j < chunk.vd; ++j) {
    if (fates[0][j] != Fate::regular) clear_column(state, j);
    // Only a state that was handed to the engine can hold subnormals that it flushes.
    if (model.floats.flushes) {
      state.error[j] += std::sqrt(static_cast<double>(chunk.kd)) * flush_unit;
    }
  }
  const Table start = high_parts(state.S, chunk.kd, chunk.vd);
  const ExactChunk exact = exact_chunk(state.S, tokens);
  const Table none(chunk.n, chunk.vd);
  Columns columns{start, with_error(start, state.error), state.error, none, none, none};
  for (size_t i = 0; i < chunk.n; ++i) {
    for (size_t j = 0; j < chunk.vd; ++j) columns.N(i, j) = exact.d[i][j].hi;
  }
  const Estimate L = decayed_products(chunk, true);
  const Rows rows = rows_of(chunk);
  bound_N(chunk, L, rows, columns);
  const Table o_error = output_errors(chunk, rows, columns);
  const Table S_error = state_errors(chunk, rows, columns);
  const std::vector<double> guards = column_guards(chunk, rows, columns);
  const double slack = second_order(chunk);
  for (size_t i = 0; i < chunk.n; ++i) {
    const double Q = tokens[i].q_norm();
    for (size_t j = 0; j < chunk.vd; ++j) {
      const double own = (1 + u) * o_error(i, j) + u * std::abs(exact.o[i][j].hi);
      const double error = own + Q * chunk.kept[i] * columns.error[j] + guards[j];
      model.settle_output(out[i], begin + j, worse(fates[i][j], tokens[i].q_fate), exact.o[i][j],
                          error * slack);
    }
  }
  for (size_t j = 0; j < chunk.vd; ++j) {
    double squares = 0;
    for (size_t m = 0; m < chunk.kd; ++m) {
      const double S = std::abs(state.S[m * chunk.vd + j].hi);
      const double error = (1 + u) * S_error(m, j) + u * S;
      squares += error * error;
    }
    state.fate[j] = fates[chunk.n - 1][j];
    state.error[j] =
        (chunk.kept.back() * columns.error[j] + std::sqrt(squares)) * slack + guards[j];
    if (state.fate[j] != Fate::regular) clear_column(state, j);
  }
}

}  // namespace gdn
