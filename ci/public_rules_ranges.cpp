// The suites' input ranges as cases: the recurrence alone, and whole layers whose weights are made
// so that what reaches the recurrence lies in them. docs/public-rules.md tells how near it comes.
#ifdef __FAST_MATH__
#error "the numbers of a case need IEEE arithmetic: build without fast math"
#endif

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

#include "ci/public_rules_cases.h"
#include "ci/public_rules_reference.h"
#include "reference/formats.h"
#include "reference/operators.h"

namespace gdn {
namespace {

constexpr Shape recurrence_shape = {1, 2, 64, 4, 64, 1};
constexpr Shape layer_shape = {512, 2, 32, 4, 32, 4};
// SiLU is smallest here, -0.278, and grows from here on.
constexpr double silu_argmin = -1.2784645;
constexpr double silu_gives_1 = 1.2784645;  // x sigmoid(x) = 1: e^-x = x - 1, the same root

// What numbers the arrays of one sequence are made of. `draw` gives the next of an array.
struct Range {
  RuleRange range = RuleRange::a;
  double normaliser = 1;        // of (b)
  Format stored = Format::f32;  // of (c)
};

// A sum of twelve uniform numbers: variance 1, and no number beyond 6. Exact in float64.
double bell(Rng& rng) {
  int64_t sum = -6 * (int64_t{1} << 24);
  for (int i = 0; i < 12; ++i) sum += static_cast<int64_t>(rng.next() >> 40);
  return static_cast<double>(sum) * 0x1p-24;
}

double uniform(Rng& rng, double low, double high) { return low + (high - low) * rng.unit(); }

// In whichever format is stored; float32 otherwise.
float rounded(Format format, double x) { return static_cast<float>(round_to(format, x)); }

using Draw = std::function<double(Rng&)>;

std::vector<float> drawn(const Rng& seed, const char* name, int64_t count, const Draw& draw) {
  Rng rng = seed.stream(name);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& x : numbers) x = static_cast<float>(draw(rng));
  return numbers;
}

// g and beta of every token and head, from what the gates are given in (b) and (c).
struct GateNumbers {
  std::vector<float> g, beta;
};
GateNumbers gates_of(const Range& range, const Rng& rng, int64_t tokens, int64_t heads) {
  const int64_t count = tokens * heads;
  const bool is_c = range.range == RuleRange::c;
  const Draw tenth = [](Rng& r) { return 0.1 * bell(r); };
  const auto per_head = [&](const char* name) {
    const std::vector<float> once = drawn(rng, name, heads, tenth);
    std::vector<float> all;
    for (int64_t t = 0; t < tokens; ++t) all.insert(all.end(), once.begin(), once.end());
    return all;
  };
  const std::vector<float> zeros(static_cast<size_t>(count));
  const std::vector<float> a = drawn(rng, "a", count, is_c ? tenth : Draw(bell));
  const Gates all =
      gates(exactly(a), exactly(drawn(rng, "b", count, bell)), is_c ? per_head("A_log") : zeros,
            is_c ? per_head("dt_bias") : zeros, Dialect{}, Contract{});
  GateNumbers numbers;
  // logsigmoid(x) is -softplus(-x), and minus a normal number is one.
  for (const double g : all.g.value) {
    numbers.g.push_back(static_cast<float>(g / range.normaliser));
  }
  for (const double beta : all.beta.value) numbers.beta.push_back(static_cast<float>(beta));
  return numbers;
}

Case recurrence_case(const Range& range, int64_t tokens, uint64_t seed) {
  Case c;
  c.subject = Subject::recurrent;
  c.shape = recurrence_shape;
  c.dialect.gate_input = Dialect::GateInput::log_g;
  c.tokens = tokens;
  c.seed = seed;
  const Rng rng(seed);
  const Shape& s = c.shape;
  Draw of_qk = [](Rng& r) { return uniform(r, -1, 1); };
  Draw of_v = [](Rng& r) { return uniform(r, -0.3, 5); };
  Draw of_S = of_qk;
  if (range.range == RuleRange::b) {
    of_qk = of_v = [](Rng& r) { return uniform(r, 0, 1); };
    of_S = [](Rng&) { return 0.0; };
  }
  if (range.range == RuleRange::c) {
    of_qk = of_v = [&range](Rng& r) { return double{rounded(range.stored, bell(r))}; };
    of_S = bell;
  }
  c = c.with_numbers("q", drawn(rng, "q", tokens * s.k_dim(), of_qk));
  c = c.with_numbers("k", drawn(rng, "k", tokens * s.k_dim(), of_qk));
  c = c.with_numbers("v", drawn(rng, "v", tokens * s.v_dim(), of_v));
  c = c.with_numbers("S", drawn(rng, "S", s.state_count(), of_S));
  const int64_t count = tokens * s.num_v_heads;
  GateNumbers gate;
  if (range.range == RuleRange::a) {
    gate.g = drawn(rng, "g", count, [](Rng& r) { return uniform(r, -20, -1e-4); });
  } else {
    gate = gates_of(range, rng, tokens, s.num_v_heads);
  }
  if (range.range != RuleRange::c) {
    gate.beta = drawn(rng, "beta", count, [](Rng& r) { return uniform(r, 0, 1); });
  }
  return c.with_numbers("g", gate.g).with_numbers("beta", gate.beta);
}

// Rows of a Hadamard matrix, each row and each column scaled: dense, and yet h can be solved for.
// W_ij = row_i (+-1) column_j / 16.
struct Projections {
  std::vector<double> row, column;
  double at(size_t i, size_t j) const {
    const double sign = std::popcount(i & j) % 2 == 0 ? 1 : -1;
    return row[i] * sign * column[j] / 16;
  }
};

std::vector<float> rows_of(const Projections& p, size_t first, size_t count) {
  std::vector<float> weights;
  for (size_t i = first; i < first + count; ++i) {
    for (size_t j = 0; j < p.column.size(); ++j) {
      weights.push_back(static_cast<float>(p.at(i, j)));
    }
  }
  return weights;
}

// h with W h = y: rows of a Hadamard matrix are orthogonal, their squares sum to their count.
std::vector<float> solve(const Projections& p, std::vector<double> y) {
  const size_t n = y.size();
  for (size_t i = 0; i < n; ++i) y[i] *= 16 / (p.row[i] * static_cast<double>(n));
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t i = 0; i < n; ++i) {
      if (i & half) continue;
      const double low = y[i], high = y[i + half];
      y[i] = low + high;
      y[i + half] = low - high;
    }
  }
  std::vector<float> h;
  for (size_t j = 0; j < n; ++j) h.push_back(static_cast<float>(y[j] / p.column[j]));
  return h;
}

// What the conv should give before SiLU, what z, b and a should be: one token, in the order of the
// rows of W; what is left over is noise that nothing reads.
std::vector<double> wanted_of_token(const Range& range, Rng& rng,
                                    const std::vector<float>& dt_bias) {
  const Shape& s = layer_shape;
  std::vector<double> y(static_cast<size_t>(s.hidden_size));
  for (double& x : y) x = bell(rng);
  const auto conv_dim = static_cast<size_t>(s.conv_dim());
  const auto first_v = static_cast<size_t>(2 * s.k_dim());
  for (size_t i = 0; i < conv_dim; ++i) {
    if (range.range == RuleRange::a)
      y[i] = uniform(rng, i < first_v ? -1 : silu_argmin, i < first_v ? 1 : 5);
    if (range.range == RuleRange::b) y[i] = uniform(rng, 0, silu_gives_1);
    if (range.range == RuleRange::c) y[i] = rounded(range.stored, y[i]);
  }
  const auto heads = static_cast<size_t>(s.num_v_heads);
  double* const b = &y[conv_dim + static_cast<size_t>(s.v_dim())];
  double* const a = b + heads;
  for (size_t head = 0; head < heads; ++head) {
    // sigmoid(6) is 0.998; softplus(-9.21) is 1e-4, softplus(20) is 20.
    if (range.range != RuleRange::c) b[head] = uniform(rng, -6, 6);
    if (range.range == RuleRange::a) a[head] = uniform(rng, -9.21, 20) - dt_bias[head];
    if (range.range == RuleRange::c) a[head] *= 0.1;
  }
  return y;
}

// Taps of which the newest outweighs the others together, so that the conv can be undone.
std::vector<float> taps(const Rng& seed) {
  const Shape& s = layer_shape;
  std::vector<float> w = drawn(seed, "conv", s.conv_dim() * s.conv_kernel,
                               [](Rng& r) { return 0.25 * r.signed_unit(); });
  const auto ck = static_cast<size_t>(s.conv_kernel);
  for (size_t newest = ck - 1; newest < w.size(); newest += ck) w[newest] = 1;
  return w;
}

// In place of what the conv should give, what it must be given for it.
void undo_conv(std::vector<double>& y, const std::vector<float>& w,
               std::vector<std::vector<double>>& history) {
  const auto ck = static_cast<size_t>(layer_shape.conv_kernel);
  for (size_t channel = 0; channel < w.size() / ck; ++channel) {
    for (size_t back = 1; back < ck && back <= history.size(); ++back) {
      y[channel] -= w[channel * ck + ck - 1 - back] * history[history.size() - back][channel];
    }
  }
  history.push_back(y);
  if (history.size() == ck) history.erase(history.begin());
}

std::vector<float> A_log_of(const Range& range, const Rng& rng) {
  if (range.range == RuleRange::b) {
    const float ln_10 = 0x1.26bb1cp+1F;
    const float A_log = range.normaliser == 1 ? 0 : range.normaliser < 1 ? ln_10 : -ln_10;
    return std::vector<float>(static_cast<size_t>(layer_shape.num_v_heads), A_log);
  }
  return drawn(rng, "A_log", layer_shape.num_v_heads, [&](Rng& r) { return 0.1 * bell(r); });
}

std::vector<Call> whole_run(const Case& c) {
  std::vector<Call> calls = setup_calls(c);
  calls.push_back(c.tokens == 1 ? call_of(CallKind::step)
                                : call_of(CallKind::run, {{Argument::tokens, c.tokens}}));
  calls.push_back(call_of(CallKind::read, {{Argument::tensor, static_cast<int64_t>(Tensor::S)}}));
  return calls;
}

Case layer_case(const Range& range, Weights weights, int64_t tokens, uint64_t seed) {
  Case c;
  c.shape = layer_shape;
  c.weights = weights;
  c.tokens = tokens;
  c.seed = seed;
  const Shape& s = c.shape;
  const Rng rng(seed);
  Projections p;
  Rng rows = rng.stream("rows"), columns = rng.stream("columns");
  for (int64_t i = 0; i < s.hidden_size; ++i) {
    p.row.push_back(uniform(rows, 0.5, 2));
    p.column.push_back(uniform(columns, 0.5, 1));
  }
  const auto conv_dim = static_cast<size_t>(s.conv_dim()), v_dim = static_cast<size_t>(s.v_dim());
  const auto heads = static_cast<size_t>(s.num_v_heads);
  const std::vector<float> w = taps(rng);
  std::vector<float> dt_bias = drawn(rng, "dt_bias", s.num_v_heads, [&](Rng& r) {
    return range.range == RuleRange::b ? 0 : 0.1 * bell(r);
  });
  std::vector<float> h;
  std::vector<std::vector<double>> history;
  Rng of_tokens = rng.stream("tokens");
  for (int64_t t = 0; t < tokens; ++t) {
    std::vector<double> y = wanted_of_token(range, of_tokens, dt_bias);
    undo_conv(y, w, history);
    const std::vector<float> token = solve(p, y);
    h.insert(h.end(), token.begin(), token.end());
  }
  const double out_scale = 1 / std::sqrt(static_cast<double>(v_dim));
  const std::pair<const char*, std::vector<float>> arrays[] = {
      {"qkv", rows_of(p, 0, conv_dim)},
      {"z", rows_of(p, conv_dim, v_dim)},
      {"b", rows_of(p, conv_dim + v_dim, heads)},
      {"a", rows_of(p, conv_dim + v_dim + heads, heads)},
      {"out", drawn(rng, "out", s.hidden_size * s.v_dim(),
                    [&](Rng& r) { return out_scale * r.signed_unit(); })},
      {"conv", w},
      {"A_log", A_log_of(range, rng)},
      {"dt_bias", dt_bias},
      {"norm", drawn(rng, "norm", s.head_v_dim, [](Rng& r) { return 1 + 0.25 * r.signed_unit(); })},
      {"h", h}};
  for (const auto& [name, values] : arrays) c = c.with_numbers(name, values);
  return c.with_calls(whole_run(c));
}

RuledCase with_reference(std::string name, RuleRange range, Case c) {
  PlainRun right = plain_run(c);
  RuledCase ruled_case{std::move(name), range, std::move(c), {}};
  using From = WantedNumbers::From;
  if (ruled_case.content.subject == Subject::layer) {
    const size_t read = ruled_case.content.calls.size() - 1;
    ruled_case.want = {{read - 1, From::out, "", false, std::move(right.output)},
                       {read, From::read_S, "", true, std::move(right.state)}};
  } else {
    ruled_case.want = {{0, From::array, "o", false, std::move(right.output)},
                       {0, From::array, "S", true, std::move(right.state)}};
  }
  return ruled_case;
}

}  // namespace

std::vector<RuledCase> own_range_cases() {
  struct Sequence {
    Range range;
    int64_t tokens;
    bool in_layers, in_q4_layers;
    std::string name;
  };
  std::vector<Sequence> sequences;
  for (const int64_t tokens : {1, 64, 256}) {
    sequences.push_back({{RuleRange::a}, tokens, true, true, fmt::format("T {}", tokens)});
  }
  // Every length with every normaliser for the recurrence; of whole layers, which cost ten times as
  // much, each length and each normaliser once, 4-bit ones the shortest alone.
  const int64_t lengths[] = {75, 1024, 1500};
  const double normalisers[] = {0.1, 1, 10};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      sequences.push_back({{RuleRange::b, normalisers[j]},
                           lengths[i],
                           i == j,
                           i == j && i == 0,
                           fmt::format("T {}, g over {}", lengths[i], normalisers[j])});
    }
  }
  for (const int64_t tokens : {1, 256}) {
    for (const Format format : {Format::f16, Format::bf16}) {
      const char* const name = format == Format::f16 ? "f16" : "bf16";
      sequences.push_back(
          {{RuleRange::c, 1, format}, tokens, true, true, fmt::format("T {}, {}", tokens, name)});
    }
  }
  std::vector<RuledCase> cases;
  for (const Sequence& one : sequences) {
    const uint64_t seed = cases.size() + 1;
    const auto add = [&](const char* what, Case c) {
      cases.push_back(
          with_reference(fmt::format("{} {}, {}", name_of(one.range.range), what, one.name),
                         one.range.range, std::move(c)));
    };
    add("recurrence", recurrence_case(one.range, one.tokens, seed));
    if (one.in_layers) add("layer", layer_case(one.range, Weights::f32, one.tokens, seed));
    if (one.in_q4_layers) add("4-bit layer", layer_case(one.range, Weights::q4, one.tokens, seed));
  }
  return cases;
}

}  // namespace gdn
