// Samples of a case, and what many of them come to.
#include "ci/night/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "invariants/harness/judge.h"
#include "reference/rng.h"

namespace gdn {
namespace {

uint64_t hash_of(std::span<const float> numbers) {
  return fnv1a64({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

PanelSample sample_of(std::string op, std::string tensor, std::span<const float> got,
                      const Bounded& want) {
  const Verdict verdict = within(tensor, got, want);
  PanelSample sample;
  sample.op = std::move(op);
  sample.tensor = std::move(tensor);
  // What is missing, or not a number where one was wanted, is beyond every bound.
  const bool is_lost = verdict.outcome == Outcome::fails && verdict.worst_ratio <= 1;
  sample.is_decided = is_lost || verdict.elements > verdict.undecided;
  sample.ratio = is_lost ? INFINITY : verdict.worst_ratio;
  sample.undecided = verdict.undecided;
  sample.hash = hash_of(got);
  return sample;
}

void add_layer(const Case& c, const Observation& seen, const Lab& lab,
               std::vector<PanelSample>& samples) {
  std::vector<TokenTensors> tokens;
  std::vector<int64_t> rows;
  for (const CallObserved& call : seen.calls) {
    if (call.reads.empty()) continue;
    rows.push_back(static_cast<int64_t>(tokens.size()));
    tokens.push_back(call.reads);
  }
  const std::vector<TokenExpectation> want = lab.expect_local(c, 0, rows, tokens);
  for (size_t t = 0; t < tokens.size(); ++t) {
    for (const auto& [tensor, numbers] : want[t]) {
      if (numbers.size() == 0) continue;
      samples.push_back(sample_of(std::string(name_of(operator_of(tensor))),
                                  std::string(name_of(tensor)), tokens[t][tensor], numbers));
    }
  }
}

void add_recurrence(const Case& c, const Observation& seen, const Lab& lab,
                    std::vector<PanelSample>& samples) {
  const std::map<std::string, std::vector<float>>& arrays = seen.calls.front().arrays;
  const std::map<std::string, Bounded>& want = lab.expect(c).calls.front().arrays;
  const auto width = static_cast<size_t>(c.shape.v_dim());
  const std::span<const float> o = arrays.at("o");
  for (size_t t = 0; t < static_cast<size_t>(c.tokens); ++t) {
    samples.push_back(sample_of("recurrent", "o", o.subspan(t * width, width),
                                slice(want.at("o"), t * width, width)));
  }
  samples.push_back(sample_of("recurrent", "S", arrays.at("S"), want.at("S")));
}

// Of n sorted samples number ceil(percent n / 100), the first being 1.
double nearest_rank(const std::vector<double>& sorted, size_t percent) {
  if (sorted.empty()) return 0;
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

size_t place_of(const std::string& op) {
  const std::optional<Operator> known = operator_named(op);
  return known ? static_cast<size_t>(*known) : SIZE_MAX;
}

}  // namespace

std::vector<PanelSample> panel_samples(const Case& c, const Lab& lab, Verdict* served) {
  const bool is_layer = c.subject == Subject::layer;
  const Observation seen = lab.run(is_layer ? c.with_calls(stepped_calls(c)) : c);
  *served = seen.served();
  std::vector<PanelSample> samples;
  if (!served->holds()) return samples;
  is_layer ? add_layer(c, seen, lab, samples) : add_recurrence(c, seen, lab, samples);
  return samples;
}

std::vector<NightTensor> panel_rows(const std::string& engine,
                                    const std::vector<PanelSample>& samples) {
  struct Row {
    NightTensor out;
    std::vector<double> ratios;
    uint64_t hash = 0;
  };
  std::map<std::pair<size_t, std::pair<std::string, std::string>>, Row> rows;
  for (const PanelSample& sample : samples) {
    Row& row = rows[{place_of(sample.op), {sample.op, sample.tensor}}];
    row.hash = mix64(row.hash ^ sample.hash);
    row.out.undecided += sample.undecided;
    if (!sample.is_decided) continue;
    row.ratios.push_back(sample.ratio);
    row.out.ratios.add(sample.ratio);
  }
  std::vector<NightTensor> tensors;
  for (auto& [key, row] : rows) {
    NightTensor& out = row.out;
    std::sort(row.ratios.begin(), row.ratios.end());
    out.panel = panel_version;
    out.engine = engine;
    std::tie(out.op, out.tensor) = key.second;
    out.samples = row.ratios.size();
    out.p50 = nearest_rank(row.ratios, 50);
    out.p99 = nearest_rank(row.ratios, 99);
    out.worst = row.ratios.empty() ? 0 : row.ratios.back();
    out.digest = fmt::format("{:016x}", row.hash);
    tensors.push_back(std::move(out));
  }
  return tensors;
}

}  // namespace gdn
