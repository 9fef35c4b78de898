// A capture's layer through `step`: 115 million weights at the largest shape, so nothing is copied
// but what the engine itself copies.
#include <bit>

#include "invariants/harness/guarded.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/lab_runner.h"
#include "reference/formats.h"

namespace gdn {
namespace {

class LayerRunner {
 public:
  LayerRunner(Engine& engine, const LayerInputs& inputs) : engine_(engine), in_(inputs) {}

  LayerRun run() && {
    run_.conduct.outcome = Outcome::holds;
    if (!load()) return std::move(run_);
    for (size_t t = 0; t < in_.h.size(); ++t) {
      if (!step(t)) break;
    }
    return std::move(run_);
  }

 private:
  bool accept(gdn_status status, const std::string& what) {
    if (status == GDN_OK) return true;
    run_.conduct = both(
        std::move(run_.conduct),
        refusal(status, what + ": " + std::string(name_of(status)) + ": " + engine_.last_error()));
    return false;
  }

  void expect(bool true_for_a_sound_engine, const std::string& otherwise) {
    if (true_for_a_sound_engine) return;
    run_.conduct = both(std::move(run_.conduct), claim(false, otherwise));
  }

  bool load() {
    const LayerWeights& weights = in_.weights;
    const gdn_layer_weights w = c_weights(weights);
    if (!accept(engine_.api().load_layer_f32(engine_.handle(), 0, &w), "load_layer_f32")) {
      return false;
    }
    if (!weights.qkv.tiles) return true;
    const Matrix* const matrices[] = {&weights.qkv, &weights.z, &weights.out};
    uint64_t bytes = 0;
    for (const Matrix* m : matrices) bytes += static_cast<uint64_t>(q4_bytes(m->rows, m->cols));
    const gdn_api& api = engine_.api();
    if (!accept(api.pool_init(engine_.handle(), bytes), "pool_init")) return false;
    for (uint64_t key = 1; key <= 3; ++key) {
      const Matrix& m = *matrices[key - 1];
      const gdn_status put = api.pool_put(engine_.handle(), key, m.rows, m.cols, m.tiles);
      if (!accept(put, "pool_put")) return false;
    }
    return accept(api.bind_q4(engine_.handle(), 0, 1, 2, 3), "bind_q4");
  }

  bool step(size_t t) {
    const std::string where = "step of token " + std::to_string(t);
    Guarded<float> h{std::span<const float>(in_.h[t])};
    Guarded<float> out(in_.h[t].size());
    if (!accept(engine_.api().step(engine_.handle(), 0, h.data(), out.data()), where)) return false;
    expect(h.holds(in_.h[t]), where + ": it wrote into h");
    expect(out.intact(), where + ": it wrote outside out");
    TokenTensors& seen = run_.seen.emplace_back();
    for (int i = 0; i < tensor_count; ++i) {
      const Tensor tensor = static_cast<Tensor>(i);
      const std::string reading = where + ": read of " + std::string(name_of(tensor));
      const int64_t room = element_count(tensor, in_.shape);
      if (room == 0) continue;
      Guarded<float> values(static_cast<size_t>(room));
      int64_t count = 0;
      const gdn_status status = engine_.api().read(engine_.handle(), 0, static_cast<gdn_tensor>(i),
                                                   values.data(), room, &count);
      if (!accept(status, reading)) return false;
      expect(values.intact(), reading + ": it wrote outside the destination");
      expect(count == room, reading + ": another number of elements than the shape's");
      seen[tensor] = values.content();
    }
    const std::vector<float> given = out.content();
    const Verdict same =
        same_bits(where + ": out against OUT as read back", given, seen[Tensor::OUT]);
    expect(same.holds(), same.detail);
    return true;
  }

  Engine& engine_;
  const LayerInputs& in_;
  LayerRun run_;
};

LayerRun could_not_run(Verdict why) {
  LayerRun run;
  run.conduct = std::move(why);
  return run;
}

}  // namespace

LayerRun Lab::run_layer(const LayerInputs& inputs) const {
  Case likewise;
  likewise.shape = inputs.shape;
  likewise.dialect = inputs.dialect;
  std::string why = why_not(likewise);
  if (!why.empty()) return could_not_run(refusal(GDN_UNSUPPORTED, why));
  gdn_options options = default_options();
  options.q8_activations = inputs.dialect.activation == Dialect::Activation::q8_0 &&
                           description().dialect.activation != Dialect::Activation::q8_0;
  Verdict closed;
  std::optional<Engine> engine = Engine::open(engine_, inputs.shape, options, &closed);
  if (!engine) return could_not_run(closed);
  return LayerRunner(*engine, inputs).run();
}

}  // namespace gdn
