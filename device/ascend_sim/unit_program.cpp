// A unit's inputs, then its tiles: the next tile of state is on its way before the tokens of this
// one are computed, and results leave through queues of one or two buffers.
#include "device/ascend_sim/unit_program.h"

#include <algorithm>

#include "device/twin/formats.h"

namespace gdn::ascend {
namespace {

constexpr int64_t float_bytes = sizeof(float);

}  // namespace

UnitProgram::UnitProgram(Core& core, Problem& problem, const Plan& plan, const Program& program)
    : core_(core),
      problem_(problem),
      plan_(plan),
      program_(program),
      d_(problem.dimensions),
      K_(padded(d_.kd)),
      V_(padded(d_.vd)),
      heads_(padded(d_.v_heads)),
      tiles_((d_.vd + plan.v_step - 1) / plan.v_step),
      has_g_(!problem.g.bytes.empty()),
      has_gk_(!problem.gk.bytes.empty()) {
  lay_out();
}

void UnitProgram::lay_out() {
  const int64_t L = plan_.sequence_tokens_max;
  const int64_t in = twin::element_bytes(d_.input);
  const int64_t tile = plan_.v_step * K_;
  q_raw_ = core_.local("q as stored", L * K_ * in);
  k_raw_ = core_.local("k as stored", L * K_ * in);
  v_raw_ = core_.local("v as stored", L * V_ * in);
  beta_raw_ = core_.local("beta as stored", L * heads_ * twin::element_bytes(d_.beta));
  q_ = core_.local("q", L * K_ * float_bytes);
  k_ = core_.local("k", L * K_ * float_bytes);
  v_ = core_.local("v", L * V_ * float_bytes);
  beta_ = core_.local("beta", L * heads_ * float_bytes);
  g_ = core_.local("g", L * heads_ * float_bytes);
  gk_ = core_.local("gk", L * K_ * float_bytes);
  S_ = core_.local("S", tile * float_bytes);
  u_ = core_.local("u and the error", plan_.v_step * float_bytes);
  o_ = core_.local("o", plan_.v_step * float_bytes);
  const int64_t state_bytes = tile * twin::element_bytes(d_.state);
  state_in_ = {core_.local("state in, slot 0", state_bytes),
               core_.local("state in, slot 1", state_bytes)};
  constexpr const char* states[] = {"state out, slot 0", "state out, slot 1"};
  constexpr const char* outputs[] = {"output, slot 0", "output, slot 1"};
  for (int64_t i = 0; i < plan_.depth; ++i) {
    const int64_t output_bytes = plan_.v_step * twin::element_bytes(d_.output);
    state_out_.push_back({core_.local(states[i], state_bytes), {}});
    output_.push_back({core_.local(outputs[i], output_bytes), {}});
  }
}

void UnitProgram::wait(Order order, Queue by, const Event& event) {
  if (program_.keeps(order)) core_.wait(by, event);
}

void UnitProgram::barrier(Order order, Queue queue) {
  if (program_.keeps(order)) core_.barrier(queue);
}

Local UnitProgram::token_row(const Local& rows, int64_t token, int64_t pitch) const {
  return rows.part(token * pitch * float_bytes, pitch * float_bytes);
}

// Those of one head, of each token of the unit, from an array [T][heads][dim].
Rows UnitProgram::rows_of(const Local& to, Global& from, int64_t element_bytes, int64_t dim,
                          int64_t heads, int64_t head) const {
  return {.local = to,
          .local_pitch = padded(dim) * element_bytes,
          .global = &from,
          .begin = (unit_.first_token * heads + head) * dim * element_bytes,
          .global_pitch = heads * dim * element_bytes,
          .row_bytes = dim * element_bytes,
          .count = unit_.tokens};
}

void UnitProgram::load_inputs() {
  wait(Order::inputs_consumed, Queue::copy_in, inputs_consumed_);
  wait(Order::gates_read, Queue::copy_in, gates_read_);
  const int64_t in = twin::element_bytes(d_.input);
  const int64_t k_head = unit_.head / (d_.v_heads / d_.k_heads);
  copy_in(core_, "q", rows_of(q_raw_, problem_.q, in, d_.kd, d_.k_heads, k_head));
  copy_in(core_, "k", rows_of(k_raw_, problem_.k, in, d_.kd, d_.k_heads, k_head));
  copy_in(core_, "v", rows_of(v_raw_, problem_.v, in, d_.vd, d_.v_heads, unit_.head));
  // Gates and betas come with those of all heads.
  const int64_t beta = twin::element_bytes(d_.beta);
  copy_in(core_, "beta", rows_of(beta_raw_, problem_.beta, beta, d_.v_heads, 1, 0));
  if (has_g_) copy_in(core_, "g", rows_of(g_, problem_.g, float_bytes, d_.v_heads, 1, 0));
  if (has_gk_) {
    copy_in(core_, "gk", rows_of(gk_, problem_.gk, float_bytes, d_.kd, d_.v_heads, unit_.head));
  }
  inputs_landed_ = core_.set(Queue::copy_in);
}

void UnitProgram::widen_inputs() {
  wait(Order::inputs_landed, Queue::vector, inputs_landed_);
  core_.barrier(Queue::vector);
  widen(core_, q_, q_raw_, d_.input, unit_.tokens * K_);
  widen(core_, k_, k_raw_, d_.input, unit_.tokens * K_);
  widen(core_, v_, v_raw_, d_.input, unit_.tokens * V_);
  widen(core_, beta_, beta_raw_, d_.beta, unit_.tokens * heads_);
  barrier(Order::inputs_widened, Queue::vector);
}

void UnitProgram::scale_q(int64_t tile) {
  if (program_.scales_q(tile)) multiply(core_, q_, unit_.tokens * K_, problem_.scale);
}

void UnitProgram::compute_gates() {
  if (has_gk_) exponential(core_, gk_, unit_.tokens * K_);
  if (has_g_) exponential(core_, g_, unit_.tokens * heads_);
}

int64_t UnitProgram::tile_rows(int64_t tile) const {
  return std::min(plan_.v_step, d_.vd - tile * plan_.v_step);
}

// Of the slot at an index of the token's slots.
int64_t UnitProgram::state_begin(int64_t index, int64_t tile) const {
  const int64_t slot = problem_.indices[static_cast<size_t>(index)];
  return (slot * d_.v_heads + unit_.head) * problem_.state_pitch +
         tile * plan_.v_step * d_.kd * twin::element_bytes(d_.state);
}

void UnitProgram::prefetch(int64_t tile) {
  const auto slot = static_cast<size_t>(tile % 2);
  wait(Order::state_consumed, Queue::copy_in, state_consumed_[slot]);
  const int64_t state = twin::element_bytes(d_.state);
  const int64_t from = program_.start_index(unit_.first_token, accepted_);
  copy_in(core_, "state",
          {.local = state_in_[slot],
           .local_pitch = K_ * state,
           .global = &problem_.state,
           .begin = state_begin(from, tile),
           .global_pitch = d_.kd * state,
           .row_bytes = d_.kd * state,
           .count = tile_rows(tile)});
  state_landed_[slot] = prefetched_ = core_.set(Queue::copy_in);
}

void UnitProgram::begin_tile(int64_t tile) {
  const auto slot = static_cast<size_t>(tile % 2);
  wait(Order::state_landed, Queue::vector, state_landed_[slot]);
  barrier(Order::token_before_ended, Queue::vector);
  if (tile > 0) scale_q(tile);
  widen(core_, S_, state_in_[slot], d_.state, tile_rows(tile) * K_);
  state_consumed_[slot] = core_.set(Queue::vector);
  if (tile + 1 < tiles_) prefetch(tile + 1);
  // A store's last row may reach into the next tile of the slot that the sequence starts from.
  wait(Order::prefetched_first, Queue::copy_out, prefetched_);
}

void UnitProgram::update(int64_t tile, int64_t token) {
  const int64_t next = tile_rows(std::min(tile + 1, tiles_ - 1));
  const Tile S = {S_, program_.computed_rows(tile_rows(tile), next), K_};
  const int64_t gate = program_.gate_index(token, unit_.head, d_.v_heads, heads_);
  const int64_t lanes = program_.summed_lanes(d_.kd, K_);
  const Local k = token_row(k_, token, K_);
  const int64_t first = token * V_ + program_.first_value(tile, plan_.v_step);
  const Local v = v_.part(first * float_bytes, S.rows * float_bytes);

  barrier(Order::token_before_ended, Queue::vector);
  if (has_g_) {
    multiply(core_, S_, S.rows * K_, core_.read(g_, gate));
    barrier(Order::state_decayed, Queue::vector);
  }
  if (has_gk_) {
    multiply_rows(core_, S, token_row(gk_, token, K_));
    barrier(Order::channels_decayed, Queue::vector);
  }
  dot_rows(core_, u_, S, k, lanes);
  barrier(Order::key_sums_there, Queue::vector);
  subtract_and_multiply(core_, u_, v, S.rows, core_.read(beta_, gate));
  barrier(Order::errors_there, Queue::vector);
  add_outer(core_, S, u_, k);
  barrier(Order::state_updated, Queue::vector);
  dot_rows(core_, o_, S, token_row(q_, token, K_), lanes);
}

void UnitProgram::round_results(int64_t tile, int64_t token) {
  const int64_t rows = tile_rows(tile);
  const size_t slot = next_slot_;
  next_slot_ = (next_slot_ + 1) % state_out_.size();
  wait(Order::state_slot_free, Queue::vector, state_out_[slot].free);
  narrow(core_, state_out_[slot].at, S_, d_.state, rows * K_);
  const Event state_rounded = core_.set(Queue::vector);
  wait(Order::output_slot_free, Queue::vector, output_[slot].free);
  barrier(Order::output_sums_there, Queue::vector);
  narrow(core_, output_[slot].at, o_, d_.output, rows);
  waiting_ = {slot, token, tile, rows, state_rounded, core_.set(Queue::vector)};
}

void UnitProgram::copy_results(int64_t rows_now) {
  if (!waiting_) return;
  const Waiting made = *waiting_;
  waiting_.reset();
  const int64_t state = twin::element_bytes(d_.state);
  const int64_t output = twin::element_bytes(d_.output);
  const int64_t rows = program_.copied_rows(made.rows, rows_now);
  core_.place.token = made.token;
  wait(Order::state_rounded, Queue::copy_out, made.state_rounded);
  barrier(Order::stores_in_turn, Queue::copy_out);
  copy_out(core_, "state",
           {.local = state_out_[made.slot].at,
            .local_pitch = K_ * state,
            .global = &problem_.state,
            .begin = state_begin(program_.store_index(unit_.first_token, made.token), made.tile),
            .global_pitch = d_.kd * state,
            .row_bytes = d_.kd * state,
            .count = rows});
  state_out_[made.slot].free = core_.set(Queue::copy_out);
  wait(Order::output_rounded, Queue::copy_out, made.output_rounded);
  const int64_t row = (unit_.first_token + made.token) * d_.v_heads + unit_.head;
  copy_out(core_, "output",
           {.local = output_[made.slot].at,
            .local_pitch = plan_.v_step * output,
            .global = &problem_.o,
            .begin = row * problem_.o_pitch + made.tile * plan_.v_step * output,
            .global_pitch = problem_.o_pitch,
            .row_bytes = rows * output,
            .count = rows > 0 ? 1 : 0});
  output_[made.slot].free = core_.set(Queue::copy_out);
}

void UnitProgram::run(const Unit& unit) {
  unit_ = unit;
  core_.place = {unit.sequence, unit.head, -1, -1};
  const std::vector<int32_t>& accepted = problem_.sequences.accepted;
  accepted_ = accepted.empty() ? 1 : accepted[static_cast<size_t>(unit.sequence)];
  load_inputs();
  prefetch(0);
  widen_inputs();
  scale_q(0);
  compute_gates();
  wait(Order::gates_computed, Queue::scalar, core_.set(Queue::vector));
  for (int64_t tile = 0; tile < tiles_; ++tile) {
    core_.place.tile = tile;
    begin_tile(tile);
    for (int64_t token = 0; token < unit.tokens; ++token) {
      core_.place.token = token;
      update(tile, token);
      // Of two buffers the other's copy is issued now, a token after it was made.
      if (plan_.depth > 1) copy_results(tile_rows(tile));
      core_.place.token = token;
      round_results(tile, token);
      if (plan_.depth == 1) copy_results(tile_rows(tile));
    }
    const bool is_last = tile + 1 == tiles_;
    if (program_.flushes(tile, tiles_)) copy_results(tile_rows(is_last ? tile : tile + 1));
    waiting_.reset();
  }
  inputs_consumed_ = core_.set(Queue::vector);
  gates_read_ = core_.set(Queue::scalar);
}

}  // namespace gdn::ascend
