// What a layer loses to its formats, operator by operator: to rounding, against the exact layer
// with the weights that the engine has; and to 4-bit weights and q8_0 activations, apart.
#include <fmt/format.h>

#include "invariants/harness/capture.h"
#include "invariants/harness/judge.h"
#include "invariants/harness/lab.h"
#include "reference/formats.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/distance.h"

namespace gdn::gpu {
namespace {

// The large projections of a layer as tiles; what LayerInputs points into.
struct Quantised {
  std::vector<uint8_t> qkv, z, out;
};

std::optional<std::vector<uint8_t>> tiles_of(const Matrix& m, std::string* why) {
  const auto count = static_cast<size_t>(m.rows * m.cols);
  return q4_tile_quantise({m.f32, count}, m.rows, m.cols, why);
}

// `inputs` with the tiles in place of the float32 rows.
std::optional<LayerInputs> quantised(const LayerInputs& inputs, Quantised& tiles,
                                     std::string* why) {
  LayerInputs q4 = inputs;
  const auto put = [&](Matrix& m, std::vector<uint8_t>& to) {
    std::optional<std::vector<uint8_t>> made = tiles_of(m, why);
    if (!made) return false;
    to = *std::move(made);
    m.tiles = to.data();
    m.f32 = nullptr;
    return true;
  };
  LayerWeights& w = q4.weights;
  if (!put(w.qkv, tiles.qkv) || !put(w.z, tiles.z) || !put(w.out, tiles.out)) return std::nullopt;
  return q4;
}

constexpr Tensor shown[] = {Tensor::QKV, Tensor::Z,     Tensor::B,  Tensor::A, Tensor::BETA,
                            Tensor::G,   Tensor::CONV,  Tensor::Q,  Tensor::K, Tensor::S,
                            Tensor::O,   Tensor::ONORM, Tensor::OUT};

const std::vector<std::string> header = {
    "operator", "tensor", "first token, largest", "first, RMS", "last token, largest", "last, RMS"};

template <class DistanceOf>
FiguresTable table_of(std::string title, size_t tokens, DistanceOf distance_of) {
  FiguresTable table{std::move(title), header, {}};
  for (const Tensor tensor : shown) {
    const Distance first = distance_of(size_t{0}, tensor);
    const Distance last = distance_of(tokens - 1, tensor);
    table.rows.push_back({std::string(name_of(operator_of(tensor))), std::string(name_of(tensor)),
                          first.largest, first.rms, last.largest, last.rms});
  }
  return table;
}

void state_judged(Findings& found, const std::string& text, const LayerRun& run,
                  const std::vector<TokenExpectation>& want) {
  const Verdict verdict = both(run.conduct, verdict_of(judge(run.seen, want)));
  found.state(verdict.holds(), text,
              verdict.holds() ? fmt::format("worst error/bound {:.3g} of {} numbers",
                                            verdict.worst_ratio, verdict.elements)
                              : fmt::format("{}: {}", name_of(verdict.outcome), verdict.detail));
}

class Formats {
 public:
  Formats(const Lab& lab, const LayerInputs& f32, const LayerInputs& q4, Findings& found)
      : lab_(lab), f32_(f32), q4_(q4), found_(found), tokens_(f32.h.size()) {}

  void measure_weights() {
    const LayerRun run = lab_.run_layer(q4_);
    exact_q4_ = expect_global(q4_, lab_.contract());
    state_judged(found_,
                 lab_.engine() +
                     " with 4-bit weights is within the bound of the exact layer with "
                     "the decoded weights",
                 run, exact_q4_);
    if (run.seen.size() != tokens_) return;
    found_.tables.push_back(
        table_of("4-bit weights, rounding: the engine against the exact layer with the decoded "
                 "weights",
                 tokens_, [&](size_t t, Tensor tensor) {
                   return distance(run.seen[t].at(tensor), exact_q4_[t].at(tensor).value);
                 }));
    const std::vector<TokenExpectation> exact = expect_global(f32_, lab_.contract());
    found_.tables.push_back(
        table_of("4-bit weights, quantisation: the engine against the exact layer with the "
                 "float32 weights",
                 tokens_, [&](size_t t, Tensor tensor) {
                   return distance(run.seen[t].at(tensor), exact[t].at(tensor).value);
                 }));
  }

  void measure_activations() {
    LayerInputs q8 = q4_;
    q8.dialect.activation = Dialect::Activation::q8_0;
    const LayerRun run = lab_.run_layer(q8);
    state_judged(found_,
                 lab_.engine() +
                     " with 4-bit weights and q8_0 activations is within the bound, "
                     "operator by operator",
                 run, expect_local(q8, run.seen, lab_.contract()));
    if (run.seen.size() != tokens_) return;
    found_.tables.push_back(
        table_of("q8_0 activations, 4-bit weights: the engine against the exact layer with the "
                 "decoded weights and float32 activations",
                 tokens_, [&](size_t t, Tensor tensor) {
                   return distance(run.seen[t].at(tensor), exact_q4_[t].at(tensor).value);
                 }));
  }

 private:
  const Lab& lab_;
  const LayerInputs &f32_, &q4_;
  Findings& found_;
  size_t tokens_;
  std::vector<TokenExpectation> exact_q4_;
};

}  // namespace

Findings measure_formats(const Options& options) {
  Findings found;
  std::string why;
  const auto capture = options.paths.empty() ? std::nullopt : read_capture(options.paths[0], &why);
  const auto* const layer = capture ? std::get_if<LayerCapture>(&capture->content) : nullptr;
  Quantised tiles;
  std::optional<LayerInputs> q4;
  const Lab lab(engine_or_exit(options.engine));
  LayerInputs f32;
  if (layer != nullptr) {
    f32 = layer->inputs;
    f32.dialect = lab.description().dialect;
    f32.calls.clear();
    q4 = quantised(f32, tiles, &why);
  }
  found.state(q4.has_value(), "a capture of a layer was read and its projections quantised", why);
  if (!q4) return found;
  Formats formats(lab, f32, *q4, found);
  formats.measure_weights();
  formats.measure_activations();
  return found;
}

}  // namespace gdn::gpu
