// The delta rule over a sequence, token by token, with the exact state and the error that an engine
// may have gathered in its own: one norm for each column of S, as columns do not mix.
//
// Let S^ = S + E, |E| <= eps (a column, 2-norm), and let the engine's inputs lie within Da, Dk, ...
// of these. K, B, e, tau as in delta_rule.cpp; norms of vectors over the rows. Exactly evaluated,
// the engine's token would give t~ + k~ beta~ (v~ - k~^T t~), which differs from the exact state by
//   (I - beta~ k~ k~^T)(t~ - t) + k~ beta~ (Dv - Dk^T t) + k~ Dbeta (v - u) + Dk d,
// and |I - beta~ k~ k~^T| <= c = max(1, |1 - beta~ |k~|^2|). Its roundings add
//   rt = e |t~| + tau through the same matrix, ru (the sum u) through k~ beta~, rd (2u of d)
//   through k~, the product k d^T with u |k~ d~| + sqrt(kd) eta, and the last sum with u of its
//   result: move = a eps + |Da S|                                             |t~ - t| off  = sum_i
//   Dk_i |t_i| + K (move + rt)                           of the terms of u ru   = sum_error(k t,
//   off) D    = |d| + Dbeta |v - u| + B (Dv + sum_i Dk_i |t_i| + K move) + B (K rt + ru) rd   = (2u
//   + u^2) D + eta X    = c (move + rt) + K B ru + K rd + u K (D + rd) + sqrt(kd) eta
//          + K [B (Dv + sum_i Dk_i |t_i|) + Dbeta |v - u|] + |Dk| |d|
//   eps' = (1 + u) X + u |S'|.
// Output: |o^ - o| <= off_o + sum_error(q S', off_o), off_o = sum_i Dq_i |S'_i| + |q~| eps'.
//
// The exact state is held in double-double numbers. They obey the same model with a roundoff below
// 2^-79 of float32's and an eta below 2^-900 of its, so by the same theorem they stray by less than
// 2^-70 of eps, which is nothing beside the slack of a bound.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/delta_rule_exact.h"
#include "reference/operators/delta_rule_head.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

constexpr double u_round = unit_roundoff;

// Of one column, over its rows; squares until take_roots.
struct ColumnNorms {
  double before = 0;    // |S|
  double input = 0;     // |Da S|
  double decayed = 0;   // |t|
  double rounding = 0;  // |e t|
  double k_input = 0;   // sum Dk_i |t_i|, no norm
};

std::vector<ColumnNorms> norms_before(const HeadState& state, const HeadToken& in) {
  const size_t vd = state.fate.size();
  std::vector<ColumnNorms> columns(vd);
  for (size_t i = 0; i < in.decay.size(); ++i) {
    const RowDecay& row = in.decay[i];
    const double input = row.error * row.error;
    for (size_t j = 0; j < vd; ++j) {
      const double square = state.S[i * vd + j].hi * state.S[i * vd + j].hi;
      columns[j].before += square;
      columns[j].input += input * square;
    }
  }
  return columns;
}

void add_decayed(std::vector<ColumnNorms>& columns, const HeadState& state, const HeadToken& in) {
  const size_t vd = columns.size();
  for (size_t i = 0; i < in.decay.size(); ++i) {
    const double relative = in.decay[i].relative * in.decay[i].relative;
    for (size_t j = 0; j < vd; ++j) {
      const double t = state.S[i * vd + j].hi;
      columns[j].decayed += t * t;
      columns[j].rounding += relative * t * t;
      columns[j].k_input += in.k_error[i] * std::abs(t);
    }
  }
  for (ColumnNorms& column : columns) {
    column.before = std::sqrt(column.before);
    column.input = std::sqrt(column.input);
    column.decayed = std::sqrt(column.decayed);
    column.rounding = std::sqrt(column.rounding);
  }
}

// What all columns of a head have in common.
struct HeadNorms {
  double K, Dk, c, B, sqrt_kd;
  RowDecay widest;  // the largest of each error over the rows
  double a;         // the largest decay

  explicit HeadNorms(const HeadToken& in)
      : K(in.k_norm()),
        Dk(0),
        c(in.stretch()),
        B(in.beta_size()),
        sqrt_kd(std::sqrt(static_cast<double>(in.k.size()))),
        a(0) {
    for (const double error : in.k_error) Dk += error * error;
    Dk = std::sqrt(Dk);
    for (const RowDecay& row : in.decay) {
      widest.relative = std::max(widest.relative, row.relative);
      widest.lost = std::max(widest.lost, row.lost);
      widest.absolute = std::max(widest.absolute, row.absolute);
      a = std::max(a, row.largest());
    }
  }
};

struct ColumnToken {
  double v, v_error, u, d;
  std::span<const double> terms;  // of u
};

// X above, and what must stay below overflow on the way.
double before_last_sum(const ColumnToken& at, const ColumnNorms& column, double error,
                       const HeadNorms& head, const HeadToken& in, const DeltaRuleModel& model) {
  const double eta = model.floats.eta;
  const double n = static_cast<double>(in.k.size());
  // Only a state that was handed to the engine can hold subnormals that it flushes.
  const double read = model.floats.flushes ? head.sqrt_kd * eta : 0;
  const double move = head.a * (error + read) + column.input;
  const double rt = column.rounding + head.widest.relative * move +
                    head.widest.lost * (column.before + error) +
                    head.sqrt_kd * head.widest.absolute;
  const double off = column.k_input + head.K * (move + rt);
  double ru = model.sum_error(model.u_order, at.terms, off);
  if (model.may_fold) {
    // As in delta_rule.cpp, with a factor of 2 for what these pass through.
    ru += in.folded_decay * 2 * n * (eta + model.sum_eta) +
          2 * head.K * head.widest.lost * (column.before + error) + eta +
          model.sum_guard(head.K * (column.before + error));
  }
  const double difference = std::abs(at.v - at.u);
  const double moved = at.v_error + column.k_input + head.K * move;
  const double D =
      std::abs(at.d) + in.beta_error * difference + head.B * moved + head.B * (head.K * rt + ru);
  const double rd =
      (2 * u_round + u_round * u_round) * D + head.B * (1 + u_round) * model.sum_eta + eta;
  const double inputs =
      head.K * (head.B * (at.v_error + column.k_input) + in.beta_error * difference) +
      head.Dk * std::abs(at.d);
  const double X = head.c * (move + rt) + head.K * (head.B * ru + rd + u_round * (D + rd)) +
                   head.sqrt_kd * (eta + model.sum_eta) + inputs;
  return X + overflow_guard(column.decayed + move + rt) +
         overflow_guard(difference + moved + head.K * rt + ru) +
         overflow_guard((1 + head.K) * (D + rd));
}

void judge_output(const HeadState& state, const HeadToken& in, const DeltaRuleModel& model,
                  Bounded& out, size_t begin) {
  const size_t kd = in.q.size(), vd = state.fate.size();
  const std::vector<DoubleDouble> o = exact::read_state(state.S, in.q);
  const double Q = in.q_norm();
  std::vector<double> terms(kd);
  for (size_t j = 0; j < vd; ++j) {
    double off = Q * state.error[j];
    for (size_t i = 0; i < kd; ++i) {
      const double s = state.S[i * vd + j].hi;
      terms[i] = s * in.q[i];
      off += in.q_error[i] * std::abs(s);
    }
    const double error = off + model.sum_error(model.o_order, terms, off);
    model.settle_output(out, begin + j, worse(state.fate[j], in.q_fate), o[j], error);
  }
}

}  // namespace

void advance(HeadState& state, const HeadToken& token, const DeltaRuleModel& model, Bounded& out,
             size_t begin) {
  state.spread_fates(token);
  const size_t kd = token.k.size(), vd = state.fate.size();
  std::vector<ColumnNorms> columns = norms_before(state, token);
  exact::decay_state(state.S, token.decay_values());
  add_decayed(columns, state, token);
  const std::vector<DoubleDouble> u = exact::read_state(state.S, token.k);
  const std::vector<DoubleDouble> d = exact::delta(token.v, u, token.beta);
  const HeadNorms head(token);
  std::vector<double> terms(kd);
  for (size_t j = 0; j < vd; ++j) {
    for (size_t i = 0; i < kd; ++i) terms[i] = state.S[i * vd + j].hi * token.k[i];
    const ColumnToken at{token.v[j], token.v_error[j], u[j].hi, d[j].hi, terms};
    state.error[j] = before_last_sum(at, columns[j], state.error[j], head, token, model);
  }
  exact::write_state(state.S, token.k, d);
  for (size_t j = 0; j < vd; ++j) {
    double squares = 0;
    for (size_t i = j; i < state.S.size(); i += vd) squares += state.S[i].hi * state.S[i].hi;
    const double X = state.error[j], after = std::sqrt(squares);
    // The slack covers the rounding of these few hundred operations in double, each token anew.
    state.error[j] =
        ((1 + u_round) * X + u_round * after) * bound_slack + overflow_guard(after + X);
  }
  judge_output(state, token, model, out, begin);
}

struct RunningRecurrence::Impl {
  Impl(const Shape& shape, const Dialect& dialect, const Contract& stated)
      : model(shape, dialect, stated), contract(stated) {}

  DeltaRuleModel model;
  Contract contract;
  std::vector<HeadState> heads;
  bool called = false;
  std::vector<float> initial;  // what the state is until then, also where it is not finite

  void run_head(int64_t v_head, const std::vector<TokenInputs>& tokens, std::vector<Bounded>& out);
  void load_stored(HeadState& head) const;
};

// Between calls the state lies in its storage format: the engine's number, within error of the
// exact one, was rounded once.
void RunningRecurrence::Impl::load_stored(HeadState& head) const {
  if (model.state_storage == Format::f32) return;
  const size_t vd = head.fate.size();
  for (size_t j = 0; j < vd; ++j) {
    double squares = 0, largest = 0;
    for (size_t i = j; i < head.S.size(); i += vd) {
      const double size = std::abs(head.S[i].hi);
      squares += size * size;
      largest = std::max(largest, size);
    }
    const double error = head.error[j];
    if (!(largest + error < model.store_max)) head.fate[j] = worse(head.fate[j], Fate::undecided);
    const double rows = static_cast<double>(head.S.size() / vd);
    head.error[j] += model.store_relative * (std::sqrt(squares) + error) +
                     std::sqrt(rows) * model.store_absolute;
    head.error[j] *= bound_slack;
  }
}

void RunningRecurrence::Impl::run_head(int64_t v_head, const std::vector<TokenInputs>& tokens,
                                       std::vector<Bounded>& out) {
  HeadState& head = heads[static_cast<size_t>(v_head)];
  if (called) load_stored(head);
  const size_t begin = static_cast<size_t>(v_head * model.vd);
  std::vector<HeadToken> own;
  for (const TokenInputs& token : tokens) own.emplace_back(token, v_head, model);
  if (contract.recurrence == Recurrence::token_loop || tokens.size() <= 1) {
    for (size_t t = 0; t < own.size(); ++t) advance(head, own[t], model, out[t], begin);
    return;
  }
  const size_t chunk = static_cast<size_t>(std::max<int64_t>(1, contract.chunk_tokens));
  for (size_t t = 0; t < own.size(); t += chunk) {
    const size_t n = std::min(chunk, own.size() - t);
    advance_chunk(head, std::span(own).subspan(t, n), contract.chunk_tokens, model,
                  std::span(out).subspan(t, n), begin);
  }
}

RunningRecurrence::RunningRecurrence(const Shape& shape, const Dialect& dialect,
                                     const Contract& contract,
                                     const std::vector<float>& initial_state)
    : impl_(std::make_unique<Impl>(shape, dialect, contract)) {
  const size_t vd = static_cast<size_t>(shape.head_v_dim);
  const size_t count = static_cast<size_t>(shape.head_k_dim) * vd;
  for (size_t head = 0; head < static_cast<size_t>(shape.num_v_heads); ++head) {
    HeadState state{std::vector<DoubleDouble>(count), std::vector<double>(vd),
                    std::vector<Fate>(vd, Fate::regular)};
    for (size_t i = 0; i < count && !initial_state.empty(); ++i) {
      const double s = initial_state[head * count + i];
      state.fate[i % vd] = worse(state.fate[i % vd], fate_of(s, 0));
      state.S[i] = std::isfinite(s) ? s : 0.0;
    }
    impl_->heads.push_back(std::move(state));
  }
  impl_->initial = initial_state;
}

RunningRecurrence::~RunningRecurrence() = default;

std::vector<Bounded> RunningRecurrence::call(const std::vector<TokenInputs>& tokens) {
  const DeltaRuleModel& model = impl_->model;
  Bounded empty = bounded_of(static_cast<size_t>(model.vh * model.vd));
  empty.stored = model.output_storage;
  std::vector<Bounded> out(tokens.size(), empty);
  if (tokens.empty()) return out;
  // A head of less than this much work is not worth a thread of its own.
  const int64_t work = static_cast<int64_t>(tokens.size()) * model.kd * model.vd;
  parallel_for(model.vh, std::max<int64_t>(1, 4096 / work), [&](int64_t first, int64_t last) {
    for (int64_t head = first; head < last; ++head) impl_->run_head(head, tokens, out);
  });
  impl_->called = true;
  return out;
}

Bounded RunningRecurrence::state() const {
  if (!impl_->called && !impl_->initial.empty()) return exactly(impl_->initial);
  const DeltaRuleModel& model = impl_->model;
  Bounded out = bounded_of(static_cast<size_t>(model.vh * model.kd * model.vd));
  if (impl_->called) out.stored = model.state_storage;
  size_t index = 0;
  for (const HeadState& head : impl_->heads) {
    const size_t vd = head.fate.size();
    for (size_t i = 0; i < head.S.size(); ++i, ++index) {
      settle(out, index, head.fate[i % vd], head.S[i], head.error[i % vd]);
    }
  }
  return out;
}

}  // namespace gdn
