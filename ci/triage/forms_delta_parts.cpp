// Faults of the delta rule that show in part of its numbers: a column that does not decay, decays
// of one channel for all, rows that are read too early, small numbers that are lost, an error in
// 16 bits, a count of tokens that is too narrow.
#include <algorithm>
#include <cmath>

#include "ci/triage/delta_parts.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Balls = std::vector<Ball>;

// The decays of key channels, another's.
FaultForm channel_decays(std::string name, std::string sentence,
                         std::function<size_t(size_t row, size_t kd)> taken_from) {
  return altered(std::move(name), std::move(sentence), Operator::delta_rule,
                 [taken_from = std::move(taken_from)](Evidence& at, OperatorRun& run) {
                   const auto gk = at.fed.find("gk");
                   if (gk == at.fed.end()) return false;
                   const auto kd = static_cast<size_t>(run.shape.head_k_dim);
                   const std::vector<float> was = gk->second;
                   for (size_t i = 0; i < was.size(); ++i) {
                     gk->second[i] = was[i - i % kd + taken_from(i % kd, kd)];
                   }
                   return was.size() % kd == 0;
                 });
}

const RegisteredForm decays[] = {
    channel_decays("channel_decay_of_the_first_row", "every key channel decays as the first",
                   [](size_t, size_t) { return size_t{0}; }),
    channel_decays("channel_decay_of_the_next_row", "each key channel decays as the next",
                   [](size_t row, size_t kd) { return std::min(row + 1, kd - 1); })};

// Divided by the decay first, as one may leave it out: of two roundings more.
FaultForm column_kept(bool last) {
  return by_head(
      last ? "last_state_column_never_decays" : "first_state_column_never_decays",
      std::string("the ") + (last ? "last" : "first") + " column of the state does not decay",
      [last](const DeltaHead& h, const OperatorRun&) {
        DeltaHead kept = h;
        for (size_t i = last ? h.vd - 1 : 0; i < h.S.size(); i += h.vd) {
          const Ball& decay = h.decay[i / h.vd];
          if (decay.value != 0) kept.S[i] = h.S[i] / decay;
        }
        return FaultyHead{kept.state_after(), {}};
      });
}
const RegisteredForm columns[] = {column_kept(true), column_kept(false)};

FaultForm narrow_error(Format format) {
  const std::string as = format == Format::bf16 ? "bf16" : "f16";
  return by_head("error_rounded_to_" + as,
                 "the error is rounded to " + as + " before it is written",
                 [format](const DeltaHead& h, const OperatorRun&) {
                   const Balls t = h.decayed(h.S);
                   Balls d = h.error(h.read(t, h.k));
                   for (Ball& x : d) x = rounded_to(format, x);
                   return FaultyHead{h.written(t, h.k, d), {}};
                 });
}
const RegisteredForm errors[] = {narrow_error(Format::bf16), narrow_error(Format::f16)};

// Rows from an index on are read as they were before the token.
std::vector<RegisteredForm> early_rows() {
  std::vector<RegisteredForm> forms;
  constexpr size_t reaches[] = {8, 16, 32, 64, 128};
  for (const size_t reach : reaches) {
    const std::string from = std::to_string(reach);
    forms.emplace_back(by_head(
        reach == 64 ? "output_without_the_old_state" : "output_of_old_rows_beyond_" + from,
        "the output takes rows beyond " + from + " from the state before the token",
        [reach](const DeltaHead& h, const OperatorRun&) {
          FaultyHead out;
          if (h.kd <= reach) return out;
          out.o = h.read(h.S_given, h.q);
          for (size_t i = reach * h.vd; i < h.S.size(); ++i) {
            Ball& o = out.o[i % h.vd];
            o = o + (h.S[i] - h.S_given[i]) * h.q[i / h.vd];
          }
          return out;
        },
        {}, std::size(reaches)));
  }
  return forms;
}
const std::vector<RegisteredForm> rows = early_rows();

// Up to the largest number of a head that is 0 and should not be.
FaultForm flushed_state(bool reads_register) {
  return by_head(
      "tiny_state_flushed",
      std::string("numbers of the state below an edge are taken as 0") +
          (reads_register ? " after they were read" : ""),
      [reads_register](const DeltaHead& h, const OperatorRun&) {
        FaultyHead out{h.state_after(), {}};
        if (reads_register) out.o = h.read(out.S, h.q);
        double edge = 0;
        for (size_t i = 0; i < out.S.size(); ++i) {
          const double size = std::abs(out.S[i].value);
          const bool is_lost = h.S_given[i].value == 0 && size > out.S[i].bound;
          if (is_lost) edge = std::max(edge, size);
        }
        for (Ball& x : out.S) {
          const double size = std::abs(x.value);
          if (size + x.bound <= edge)
            x = Ball{};
          else if (size <= edge)
            x.bound += size;
        }
        return out;
      },
      {}, fitted_edge);
}
const RegisteredForm tiny[] = {flushed_state(false), flushed_state(true)};

// The first n mod 256 tokens of a call alone; of the others the output is never written, and holds
// the NaN that whoever asked had put there.
std::optional<FaultyArrays> counted_in_8_bits(const Evidence& at, const OperatorRun& run) {
  const int64_t tokens = tokens_of(at, run), counted = tokens % 256;
  if (!run.is_recurrent || counted == tokens) return std::nullopt;
  Evidence first = at;
  for (auto& [name, numbers] : first.fed) {
    const size_t of_token = numbers.size() / static_cast<size_t>(tokens);
    if (name != "S") numbers.resize(of_token * static_cast<size_t>(counted));
  }
  FaultyArrays faulty{{"S", exactly(at.fed.at("S"))}, {"o", {}}};
  if (counted > 0) faulty = right_of(first, run);
  Bounded& o = faulty["o"];
  const size_t all = at.gave.at("o").size();
  std::vector<Ball> written = balls_of(o);
  written.resize(all, exact_ball(NAN));
  const Format stored = o.stored;
  o = bounded_from(written);
  o.stored = stored;
  return faulty;
}
const RegisteredForm counter({"tokens_counted_in_8_bits",
                              "of more than 255 tokens the first n mod 256 alone are worked on",
                              Operator::delta_rule, counted_in_8_bits});

}  // namespace
}  // namespace gdn
