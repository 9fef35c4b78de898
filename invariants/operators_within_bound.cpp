// Claim:   each operator's result lies within its bound of what its own inputs give exactly.
// Why:     judged on what the engine fed it, an operator answers for its own rounding alone.
// Bound:   the local check of the reference; state, history and what is only moved: equal bits.
// Origin:  every wrong-number bug has an operator; the first one out of bound is where to look.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  if (c.subject == Subject::layer) return c.tokens >= 1;
  return c.calls.empty();
}

Call read_of(Tensor tensor) {
  Call call;
  call.kind = CallKind::read;
  call.given[Argument::tensor] = static_cast<int64_t>(tensor);
  return call;
}

// Every token through step, S and HIST read a second time before the next one; then a reset, and
// the first token again.
std::vector<Call> calls_with_continuity(const Case& c) {
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  const std::vector<Call> stepped = stepped_calls(c);
  calls.push_back(read_of(Tensor::S));
  calls.push_back(read_of(Tensor::HIST));
  for (size_t i = setup_count; i < stepped.size(); ++i) {
    calls.push_back(stepped[i]);
    calls.push_back(read_of(Tensor::S));
    calls.push_back(read_of(Tensor::HIST));
  }
  Call reset;
  reset.kind = CallKind::reset;
  calls.push_back(reset);
  calls.push_back(read_of(Tensor::S));
  calls.push_back(read_of(Tensor::HIST));
  Call again = stepped.back();
  again.given[Argument::first_token] = 0;
  calls.push_back(again);
  return calls;
}

// A state that is read between two tokens is the one that the token before left; at first, and
// after a reset, it is zero.
Verdict state_is_kept(const Case& c, const std::vector<Call>& calls, const Observation& seen) {
  Verdict all = claim(true, "");
  TokenTensors left;
  const auto zero = [&] {
    for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
      left[tensor].assign(static_cast<size_t>(element_count(tensor, c.shape)), 0.0F);
    }
  };
  zero();
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].kind == CallKind::reset) zero();
    if (calls[i].kind == CallKind::step) left = seen.calls[i].reads;
    if (calls[i].kind != CallKind::read) continue;
    for (const auto& [tensor, values] : seen.calls[i].reads) {
      if (values.empty() && left[tensor].empty()) continue;
      const std::string what =
          "call " + std::to_string(i + 1) + ", " + std::string(name_of(tensor)) + " between tokens";
      all = both(std::move(all), same_bits(what, values, left[tensor]));
    }
  }
  return all;
}

Verdict check_layer(const Case& c, const Lab& lab) {
  const std::vector<Call> calls = calls_with_continuity(c);
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  if (!all.holds()) return all;
  std::vector<TokenTensors> tokens;
  std::vector<int64_t> rows;
  Verdict out_is_OUT = claim(true, "");
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].kind != CallKind::step) continue;
    rows.push_back(static_cast<int64_t>(tokens.size()));
    tokens.push_back(seen.calls[i].reads);
    out_is_OUT =
        both(std::move(out_is_OUT), same_bits("out of token " + std::to_string(rows.back()),
                                              seen.calls[i].out, tokens.back()[Tensor::OUT]));
  }
  // The last step follows the reset: a sequence of its own.
  const std::vector<TokenTensors> after_reset = {tokens.back()};
  tokens.pop_back();
  rows.pop_back();
  all = both(std::move(all), state_is_kept(c, calls, seen), std::move(out_is_OUT));
  const std::vector<Judgement> first = judge(tokens, lab.expect_local(c, 0, rows, tokens));
  const std::vector<Judgement> again = judge(after_reset, lab.expect_local(c, 0, {0}, after_reset));
  size_t judged = 0;
  for (const Judgement& row : first) judged += row.tokens;
  // HIST is empty at one tap; nothing else may go unjudged.
  const size_t tensors = c.shape.conv_kernel == 1 ? tensor_count - 1 : tensor_count;
  const Verdict complete =
      claim(judged == tensors * tokens.size(), "not every tensor of every token was judged");
  return both(std::move(all), complete, verdict_of(first), verdict_of(again));
}

Verdict check_operator(const Case& c, const Lab& lab) {
  const Observation seen = lab.run(c);
  Verdict all = seen.served();
  if (!all.holds()) return all;
  const std::map<std::string, std::vector<float>>& got = seen.calls.front().arrays;
  for (const auto& [name, want] : lab.expect(c).calls.front().arrays) {
    if (want.size() == 0) continue;
    const auto found = got.find(name);
    all = both(std::move(all), found == got.end() ? claim(false, name + " was not given")
                                                  : within(name, found->second, want));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  return c.subject == Subject::layer ? check_layer(c, lab) : check_operator(c, lab);
}

const Registered self{{.claim = "each operator is within its bound on the engine's own inputs",
                       .applies = applies,
                       .check = check,
                       .kills = {"a_and_b_swapped",
                                 "a_log_exponentiated_already",
                                 "activation_code_of_minus_128",
                                 "activation_codes_rounded_to_even",
                                 "activation_scale_kept_in_float32",
                                 "activations_left_unrounded",
                                 "activations_rounded_to_bf16",
                                 "activations_rounded_to_f16",
                                 "beta_applied_to_v_alone",
                                 "beta_from_a",
                                 "beta_of_the_first_head",
                                 "beta_rounded_to_bf16",
                                 "beta_rounded_to_f16",
                                 "beta_without_sigmoid",
                                 "channel_decay_of_the_first_row",
                                 "channel_decays_ignored",
                                 "conv_history_of_four_rows",
                                 "conv_history_rounded_to_bf16",
                                 "conv_history_rounded_to_f16",
                                 "conv_history_stores_output",
                                 "conv_of_the_first_four_taps",
                                 "conv_one_frame_late",
                                 "conv_output_rounded_to_bf16",
                                 "conv_output_rounded_to_f16",
                                 "conv_sum_rounded_to_bf16",
                                 "conv_sum_rounded_to_f16",
                                 "conv_taps_flipped",
                                 "conv_taps_of_the_neighbour",
                                 "conv_without_silu",
                                 "decay_applied_to_the_update",
                                 "decay_applied_twice",
                                 "decay_from_b",
                                 "decay_held_in_bf16",
                                 "decay_of_the_next_head",
                                 "decoded_weights_rounded_to_bf16",
                                 "decoded_weights_rounded_to_f16",
                                 "dt_bias_left_out",
                                 "dt_bias_of_the_first_head",
                                 "eps_of_1e_5",
                                 "error_before_decay",
                                 "error_rounded_to_bf16",
                                 "f16_read_as_bf16",
                                 "f16_subnormal_flushed",
                                 "first_block_counted_twice",
                                 "four_left_blocks_dropped",
                                 "fourth_code_of_a_row_repeated",
                                 "gate_before_norm",
                                 "gate_exponentiated_twice",
                                 "gate_inputs_rounded_to_bf16",
                                 "gate_inputs_rounded_to_f16",
                                 "gate_log_as_linear",
                                 "gate_overflow_gives_nan",
                                 "gate_without_z",
                                 "head_decay_ignored_beside_channels",
                                 "head_map_tiled",
                                 "heads_beyond_eight_left_out",
                                 "keys_beyond_128_left_out",
                                 "keys_not_normalised",
                                 "keys_rounded_to_bf16",
                                 "keys_rounded_to_f16",
                                 "keys_scaled_as_well",
                                 "l2_norm_max_form",
                                 "l2_norm_mean_eps",
                                 "l2_norm_without_eps",
                                 "last_block_dropped",
                                 "last_column_left_out",
                                 "last_row_taken_from_the_first",
                                 "last_state_column_never_decays",
                                 "log_decay_rounded_to_bf16",
                                 "log_decay_rounded_to_f16",
                                 "newest_history_row_overwritten",
                                 "nibble_low_high_swapped",
                                 "nibbles_interleaved",
                                 "norm_by_a_coarse_root",
                                 "norm_of_the_first_128_keys",
                                 "norm_of_the_first_128_values",
                                 "norm_over_all_heads",
                                 "norm_rounded_before_the_weight",
                                 "norm_weight_plus_one",
                                 "normed_output_rounded_to_bf16",
                                 "normed_output_rounded_to_f16",
                                 "output_from_the_old_state",
                                 "output_gate_rounded_to_bf16",
                                 "output_gate_rounded_to_f16",
                                 "output_without_the_old_state",
                                 "plain_sum_without_error",
                                 "product_loses_smallest_scale",
                                 "product_overflows_at_largest_scale",
                                 "product_saturates_infinite_scale",
                                 "product_skips_nan_scale",
                                 "products_rounded_to_f16",
                                 "q_scale_before_the_norm",
                                 "q_scale_missing",
                                 "q_scale_twice",
                                 "query_and_keys_swapped",
                                 "query_rounded_to_bf16",
                                 "query_rounded_to_f16",
                                 "query_taken_as_keys",
                                 "raw_a_log",
                                 "recurrence_output_rounded_to_bf16",
                                 "recurrence_output_rounded_to_f16",
                                 "reset_keeps_history",
                                 "rms_eps_outside_root",
                                 "row_reads_neighbour",
                                 "scale_of_one_taken_as_absent",
                                 "scale_of_the_first_row",
                                 "sigmoid_of_a_coarse_tanh",
                                 "slow_decay_taken_as_none",
                                 "small_beta_taken_as_zero",
                                 "softplus_blends_both_branches",
                                 "softplus_linear_above_ten",
                                 "softplus_without_threshold",
                                 "softplus_zero_below_minus_ten",
                                 "state_index_of_16_bits",
                                 "state_read_transposed",
                                 "state_rounded_to_bf16",
                                 "state_rounded_to_f16",
                                 "sums_carried_in_bf16",
                                 "sums_in_22_bits",
                                 "sums_of_products_rounded_to_bf16",
                                 "sums_of_products_rounded_to_f16",
                                 "sums_rounded_toward_zero",
                                 "tile_rows_swapped",
                                 "tiny_state_flushed",
                                 "tokens_counted_in_8_bits",
                                 "values_beyond_128_left_out",
                                 "values_rounded_to_bf16",
                                 "values_rounded_to_f16",
                                 "weights_rounded_to_bf16",
                                 "weights_rounded_to_f16",
                                 "zero_tap_skips_infinite_input"},
                       .searched_layers_one_in = 16}};

}  // namespace
}  // namespace gdn
