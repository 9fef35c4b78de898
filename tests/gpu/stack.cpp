// A stack of layers as `forward` runs it: how rounding grows from layer to layer, with float32 and
// with 4-bit weights, and how the error of quantisation does; and what must be equal bits.
#include "tests/gpu/stack_layers.h"

#include <fmt/format.h>

#include "invariants/harness/verdict.h"
#include "reference/rng.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/distance.h"
#include "tests/gpu/exact_layer.h"

namespace gdn::gpu {
namespace {

using Rows = std::vector<std::vector<double>>;  // [tokens][hidden]

// OUT of every layer after each token of a `forward`: [tokens][layers][hidden].
using Outputs = std::vector<std::vector<std::vector<float>>>;

class Stack {
 public:
  Stack(const EngineSource& source, const Shape& shape, const Options& options, Findings& found)
      : shape_(shape),
        tokens_(options.tokens),
        coherent_(!options.independent),
        f32_(source, shape, false),
        q4_(source, shape, true),
        found_(found) {
    Rng rng = Rng(options.seed).stream("h");
    for (int64_t t = 0; t < tokens_; ++t) {
      std::vector<float>& row = h_.emplace_back();
      // Uniform in [-2, 2): of RMS 1.15.
      for (int64_t i = 0; i < shape.hidden_size; ++i) row.push_back(2 * rng.signed_unit());
    }
  }

  // The exact chains, and the weights into both engines, layer by layer: one layer's float32
  // weights are all that the host holds.
  void load(uint64_t seed) {
    Rows exact(h_.size());
    for (size_t t = 0; t < h_.size(); ++t) exact[t].assign(h_[t].begin(), h_[t].end());
    Rows decoded = exact;
    int first_exponent = 0;
    const int64_t last = shape_.num_layers - 1;
    for (int64_t l = 0; l <= last; ++l) {
      // The last layer is the first again.
      const bool again = l == last && l > 0;
      StackLayer layer = stack_layer(shape_, coherent_, seed, again ? 0 : l);
      if (again) layer.scale_norm(first_exponent);
      exact = exact_outputs(layer.f32_view(shape_), shape_, exact);
      if (!again) {
        const int exponent = -std::ilogb(rms(exact.front()));
        layer.scale_norm(exponent);
        for (std::vector<double>& row : exact) scale(row, exponent);
        if (l == 0) first_exponent = exponent;
      }
      decoded = exact_outputs(layer.q4_view(shape_), shape_, decoded);
      f32_.load(l, layer);
      q4_.load(l, layer);
      exact_.push_back(exact);
      decoded_.push_back(decoded);
    }
  }

  void measure_growth() {
    const Outputs f32 = forward_token_by_token(f32_);
    const Outputs q4 = forward_token_by_token(q4_);
    for (const std::string& why : {f32_.why(), q4_.why()}) {
      if (!why.empty()) found_.state(false, "the engine serves a stack of layers", why);
    }
    if (!f32_.why().empty() || !q4_.why().empty()) return;
    for (const size_t t : {size_t{0}, static_cast<size_t>(tokens_ - 1)}) add_growth(t, f32, q4);
    const size_t last = exact_.size() - 1;
    Distance worst;
    for (size_t t = 0; t < q4.size(); ++t) {
      const Distance here = distance(q4[t][last], decoded_[last][t]);
      if (!(here.largest <= worst.largest)) worst = here;
    }
    found_.state(
        std::isfinite(worst.largest), "the outputs of the stack are finite",
        fmt::format("rounding of 4-bit weights after {} layers: {:.3g}", last + 1, worst.largest));
  }

  // On the engine with 4-bit weights.
  void compare_bits() {
    if (!q4_.why().empty()) return;
    const std::vector<std::vector<float>> whole = q4_.forward(h_);
    same("forward(T) equals T forwards of one token", whole, last_of_each_);
    std::vector<std::vector<float>> stepped;
    q4_.reset();
    for (const std::vector<float>& row : h_) {
      std::vector<float> x = row;
      for (int64_t l = 0; l < shape_.num_layers; ++l) x = q4_.step(l, x);
      stepped.push_back(std::move(x));
    }
    same("forward equals a step of each layer in turn", whole, stepped);
    same("forward after a reset equals the one before it", q4_.forward(h_), whole);
    if (shape_.num_layers < 2) return;
    q4_.reset();
    std::vector<std::vector<float>> first;
    std::vector<std::vector<float>> last;
    for (const std::vector<float>& row : h_) {
      first.push_back(q4_.step(0, row));
      last.push_back(q4_.step(shape_.num_layers - 1, row));
    }
    first.push_back(q4_.read(0, GDN_S));
    last.push_back(q4_.read(shape_.num_layers - 1, GDN_S));
    same(fmt::format("layer 0 equals layer {} of equal weights", shape_.num_layers - 1), last,
         first);
  }

 private:
  static double rms(const std::vector<double>& row) {
    double sum = 0;
    for (const double x : row) sum += x * x;
    return std::sqrt(sum / static_cast<double>(row.size()));
  }
  static void scale(std::vector<double>& row, int exponent) {
    for (double& x : row) x = std::ldexp(x, exponent);
  }

  Outputs forward_token_by_token(StackEngine& engine) {
    Outputs all;
    last_of_each_.clear();
    engine.reset();
    for (const std::vector<float>& row : h_) {
      last_of_each_.push_back(engine.forward_one(row));
      std::vector<std::vector<float>>& layers = all.emplace_back();
      for (int64_t l = 0; l < shape_.num_layers; ++l) layers.push_back(engine.read(l, GDN_OUT));
    }
    return all;
  }

  void add_growth(size_t t, const Outputs& f32, const Outputs& q4) {
    FiguresTable table{fmt::format("OUT through the layers of forward, token {}, {} rows", t,
                                   coherent_ ? "coherent" : "independent"),
                       {"layers", "rounding, f32: largest", "RMS", "rounding, 4-bit: largest",
                        "RMS", "quantisation: largest", "RMS"},
                       {}};
    const size_t layers = exact_.size();
    for (size_t l = 0; l < layers; ++l) {
      const size_t count = l + 1;
      if (count != 1 && count != 2 && count != 4 && count % 8 != 0 && count != layers) continue;
      const Distance a = distance(f32[t][l], exact_[l][t]);
      const Distance b = distance(q4[t][l], decoded_[l][t]);
      const Distance c = distance(q4[t][l], exact_[l][t]);
      table.rows.push_back(
          {static_cast<int64_t>(count), a.largest, a.rms, b.largest, b.rms, c.largest, c.rms});
    }
    found_.tables.push_back(std::move(table));
  }

  void same(const std::string& text, const std::vector<std::vector<float>>& got,
            const std::vector<std::vector<float>>& want) {
    Verdict all = claim(!want.empty() && got.size() == want.size(), "another number of rows");
    for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
      all = both(std::move(all), same_bits(fmt::format("row {}", i), got[i], want[i]));
    }
    found_.state(all.holds() && q4_.why().empty(), text + " bit for bit",
                 all.holds() ? fmt::format("{} numbers", all.elements) : all.detail + q4_.why());
  }

  Shape shape_;
  int64_t tokens_;
  bool coherent_;
  StackEngine f32_, q4_;
  Findings& found_;
  std::vector<std::vector<float>> h_;
  std::vector<Rows> exact_, decoded_;  // of each layer
  std::vector<std::vector<float>> last_of_each_;
};

}  // namespace

Findings measure_stack(const Options& options) {
  Findings found;
  const Shape shape =
      options.whole_shape ? qwen_shape(options.layers) : small_shape(options.layers);
  const EngineSource source = engine_or_exit(options.engine);
  Stack stack(source, shape, options, found);
  stack.load(options.seed);
  stack.measure_growth();
  stack.compare_bits();
  return found;
}

}  // namespace gdn::gpu
