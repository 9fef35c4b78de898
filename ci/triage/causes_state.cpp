// Causes: states that calls leave behind.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ci/triage/host_cause.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using What = Departure::What;

constexpr Tensor both_states[] = {Tensor::S, Tensor::HIST};

bool numbers(const Scene& s) { return s.is(What::numbers); }

// Of a call that sets both: one is as it was before, the other is right.
bool keeps(const Scene& s, K kind, Tensor tensor) {
  if (!numbers(s) || !s.is(kind) || s.at.wrong.empty() || !s.wrong_alone(tensor)) return false;
  return std::all_of(s.at.wrong.begin(), s.at.wrong.end(),
                     [&](const auto& of) { return s.kept(of.first, tensor); });
}

const RegisteredCause reset_history{
    {.name = "reset_keeps_history",
     .sentence = "reset zeroes S, HIST stays as it was",
     .is_it = [](const Scene& s) { return keeps(s, K::reset, Tensor::HIST); }}};
const RegisteredCause reset_state{
    {.name = "reset_keeps_state",
     .sentence = "reset zeroes HIST, S stays as it was",
     .is_it = [](const Scene& s) { return keeps(s, K::reset, Tensor::S); }}};
const RegisteredCause import_history{
    {.name = "import_drops_history",
     .sentence = "state_import takes S, HIST stays as it was",
     .is_it = [](const Scene& s) { return keeps(s, K::state_import, Tensor::HIST); }}};
const RegisteredCause import_state{
    {.name = "import_drops_state",
     .sentence = "state_import takes HIST, S stays as it was",
     .is_it = [](const Scene& s) { return keeps(s, K::state_import, Tensor::S); }}};

bool is_reset_everywhere(const Scene& s) {
  if (!numbers(s) || !s.is(K::reset) || s.at.wrong.empty()) return false;
  return std::all_of(s.at.wrong.begin(), s.at.wrong.end(), [&](const auto& of) {
    return s.is_other(of.first) && std::all_of(of.second.begin(), of.second.end(),
                                               [&](Tensor t) { return s.zeroed(of.first, t); });
  });
}
const RegisteredCause every_layer{{.name = "reset_clears_every_layer",
                                   .sentence = "reset of one layer zeroes others too",
                                   .is_it = is_reset_everywhere}};

bool is_unload_kept(const Scene& s) {
  return numbers(s) && s.is(K::unload_layer) && s.own_layer_alone() &&
         std::all_of(std::begin(both_states), std::end(both_states),
                     [&](Tensor t) { return s.kept(s.layer(), t); });
}
const RegisteredCause unload{{.name = "unload_keeps_state",
                              .sentence = "unload_layer leaves S and HIST as they were",
                              .is_it = is_unload_kept}};

bool is_empty_run(const Scene& s) {
  if (!numbers(s) || !(s.is(K::run) || s.is(K::forward)) || s.call.at(A::tokens) != 0) return false;
  return !s.at.wrong.empty() &&
         std::all_of(s.at.wrong.begin(), s.at.wrong.end(), [&](const auto& of) {
           return s.zeroed(of.first, Tensor::S) && s.zeroed(of.first, Tensor::HIST);
         });
}
const RegisteredCause empty_run{{.name = "empty_run_resets",
                                 .sentence = "a run of no tokens zeroes the state",
                                 .is_it = is_empty_run}};

// The rows of a feeding call, the layer's own state before them.
struct Tokens {
  std::vector<Fed> fed;
  size_t before = 0;
  std::vector<size_t> places;
};
Tokens tokens_of(const Scene& s) {
  Tokens tokens{s.trace.fed, 0, s.now.life.tokens};
  if (!tokens.places.empty()) tokens.before = tokens.fed[tokens.places.front()].before;
  return tokens;
}

bool fed_one_layer(const Scene& s) {
  return numbers(s) && (s.is(K::step) || s.is(K::run)) && !s.now.life.tokens.empty() &&
         s.now.seen.ok();
}

bool is_history_short(const Scene& s) {
  if (!fed_one_layer(s) || !s.own_layer_alone() || !s.wrong_alone(Tensor::HIST)) return false;
  const Fed& last = s.trace.fed[s.now.life.tokens.back()];
  return s.follows(s.trace.fed, last.before, s.layer(), {Tensor::HIST});
}
const RegisteredCause history_short{
    {.name = "run_drops_last_token_from_history",
     .sentence = "HIST is as if the last token had been left out, S has it",
     .is_it = is_history_short}};

bool is_state_lost(const Scene& s) {
  return fed_one_layer(s) && s.own_layer_alone() && s.wrong_alone(Tensor::S) &&
         s.kept(s.layer(), Tensor::S);
}
const RegisteredCause state_lost{{.name = "state_dropped_at_call",
                                  .sentence = "the call leaves S as it was before it",
                                  .is_it = is_state_lost}};

bool is_from_zero(const Scene& s) {
  if (!fed_one_layer(s) || !s.own_layer_alone()) return false;
  Tokens tokens = tokens_of(s);
  if (tokens.before == 0) return false;
  size_t place = 0;
  for (const size_t token : tokens.places) {
    const Fed was = tokens.fed[token];
    if (was.out_of > 0) return false;
    place = with_token(tokens.fed, place, was.weights, was.row);
  }
  return s.follows(tokens.fed, place, s.layer(), {Tensor::S, Tensor::HIST});
}
const RegisteredCause from_zero{{.name = "run_starts_from_zero_state",
                                 .sentence = "the call begins from a zero state",
                                 .is_it = is_from_zero}};

bool is_fed_twice(const Scene& s) {
  if (!fed_one_layer(s) || !s.own_layer_alone()) return false;
  Tokens tokens = tokens_of(s);
  const Fed last = tokens.fed[tokens.places.back()];
  if (last.out_of > 0) return false;
  const size_t place = with_token(tokens.fed, tokens.places.back(), last.weights, last.row);
  return s.follows(tokens.fed, place, s.layer(), {Tensor::S, Tensor::HIST});
}
const RegisteredCause fed_twice{
    {.name = "warm_up_advances_state",
     .sentence = "the state is as if the last token had been fed twice: by a warm-up, or again",
     .is_it = is_fed_twice}};

// The rows of tokens before this call are zero in HIST, and HIST alone is wrong.
bool is_older_zeroed(const Scene& s) {
  if (!fed_one_layer(s) || !s.own_layer_alone() || !s.wrong_alone(Tensor::HIST)) return false;
  const Shape& shape = s.trace.story.bare.shape;
  const size_t rows = static_cast<size_t>(shape.conv_kernel - 1);
  const size_t own = s.now.life.tokens.size();
  if (own >= rows) return false;
  const LayerBits* const right = s.truth.stepped(s.trace.fed, s.now.life.tokens.back());
  if (right == nullptr) return false;
  std::vector<float> zeroed(right->at(Tensor::HIST).begin(), right->at(Tensor::HIST).end());
  const auto width = static_cast<size_t>(shape.conv_dim());
  const auto older = static_cast<std::ptrdiff_t>((rows - own) * width);
  std::fill(zeroed.begin(), zeroed.begin() + older, 0.0F);
  return equal_bits(s.got(s.layer(), Tensor::HIST), zeroed);
}
const RegisteredCause older_zeroed{
    {.name = "short_call_zeroes_older_history",
     .sentence = "a call of fewer tokens than the conv window zeroes the older rows of HIST",
     .is_it = is_older_zeroed}};

// A row of out is right where the run ends with its token, and wrong where others follow.
bool reads_ahead(const Scene& s) {
  if (!fed_one_layer(s) || s.call.at(A::tokens) < 2 || s.call.at(A::h_id) >= 0) return false;
  const auto width = static_cast<size_t>(s.trace.story.bare.shape.hidden_size);
  for (size_t t = 0; t + 1 < s.now.life.tokens.size(); ++t) {
    const auto* const out = s.truth.stepped_out(s.trace.fed, s.now.life.tokens[t]);
    const auto row = std::span(s.now.seen.out).subspan(t * width, width);
    if (out == nullptr) return false;
    const std::vector<float> want = *out;
    if (equal_bits(row, want)) continue;
    Call shorter = s.call;
    shorter.given[A::tokens] = static_cast<int64_t>(t) + 1;
    const std::vector<CallObserved> seen = s.tried({shorter});
    if (seen.empty() || seen[0].out.size() != (t + 1) * width) return false;
    return equal_bits(std::span(seen[0].out).subspan(t * width, width), want);
  }
  return false;
}
const RegisteredCause ahead{{.name = "run_reads_next_token",
                             .sentence = "the out of a token depends on the token after it",
                             .is_it = reads_ahead}};

bool is_skipped(const Scene& s) {
  if (!numbers(s) || !s.is(K::forward) || !s.at.wrong.contains(1)) return false;
  return !s.at.wrong.contains(0) && s.kept(1, Tensor::S) && s.kept(1, Tensor::HIST);
}
const RegisteredCause skipped{{.name = "forward_skips_second_layer",
                               .sentence = "forward leaves layer 1 as it was",
                               .is_it = is_skipped}};

bool is_export_transposed(const Scene& s) {
  if (!numbers(s) || !s.is(K::state_export) || !s.at.wrong_arrays.contains("state")) return false;
  const Shape& shape = s.trace.story.bare.shape;
  std::vector<float> turned = s.got(s.layer(), Tensor::S);
  const int64_t kd = shape.head_k_dim, vd = shape.head_v_dim;
  for (int64_t i = 0; i < shape.state_count(); ++i) {
    const int64_t head = i / (kd * vd), row = i % (kd * vd) / vd, column = i % vd;
    turned[static_cast<size_t>((head * vd + column) * kd + row)] =
        s.got(s.layer(), Tensor::S)[static_cast<size_t>(i)];
  }
  const std::vector<float>& history = s.got(s.layer(), Tensor::HIST);
  turned.insert(turned.end(), history.begin(), history.end());
  return equal_bits(s.now.seen.arrays.at("state"), turned);
}
const RegisteredCause transposed{{.name = "export_transposes_state",
                                  .sentence = "state_export gives S as [vd][kd]",
                                  .is_it = is_export_transposed}};

bool is_read_clearing(const Scene& s) {
  return s.is(What::unstable) && s.at.is_wrong(s.at.layer(), Tensor::HIST);
}
const RegisteredCause clearing{{.name = "read_clears_history",
                                .sentence = "a read of HIST changes it",
                                .is_it = is_read_clearing}};

bool is_shared_by_handles(const Scene& s) {
  if (!numbers(s) || !s.trace.story.setting.beside) return false;
  Story alone = s.trace.story;
  alone.setting.beside.reset();
  s.truth.close();
  return !first_departure(Trace(alone, s.lab), s.lab, s.truth);
}
const RegisteredCause handles{
    {.name = "state_shared_between_handles",
     .sentence = "the same calls are right where no second handle is open",
     .is_it = is_shared_by_handles}};

// What `open` with another pattern over fresh memory changes comes from that memory.
bool is_fresh_memory(const Scene& s) {
  const auto& fill = s.trace.story.setting.options.fill;
  if (!numbers(s) || !fill || s.at.wrong.empty()) return false;
  const float pattern = std::bit_cast<float>(*fill);
  const std::vector<float>& S = s.got(s.at.layer(), Tensor::S);
  return std::any_of(S.begin(), S.end(), [&](float x) {
    return std::bit_cast<uint32_t>(x) == *fill || (std::isnan(pattern) && std::isnan(x));
  });
}
const RegisteredCause fresh{{.name = "stale_row_after_reload",
                             .sentence = "S holds what fresh memory held",
                             .is_it = is_fresh_memory}};

}  // namespace
}  // namespace gdn
