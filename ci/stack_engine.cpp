// The calls of the ABI, and what a sound engine does in them.
#include "ci/stack_engine.h"

#include <fmt/format.h>

#include <utility>

#include "invariants/harness/guarded.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// Three large projections a layer.
uint64_t first_key(int64_t layer) { return static_cast<uint64_t>(3 * layer) + 1; }

// Of a partial engine a part of the table is null.
std::optional<Engine> opened_if_it_serves(const EngineSource& source, const Shape& shape,
                                          Verdict* why) {
  for (const char* call : {"pool_init", "pool_put", "load_layer_f32", "bind_q4", "step", "read"}) {
    if (source.description.calls.contains(call)) continue;
    *why = refusal(GDN_UNSUPPORTED, fmt::format("the engine has no {}", call));
    return std::nullopt;
  }
  return Engine::open(source, shape, default_options(), why);
}

}  // namespace

StackEngine::StackEngine(const EngineSource& source, const Shape& shape)
    : shape_(shape), engine_(opened_if_it_serves(source, shape, &conduct_)) {
  if (!engine_) return;
  conduct_.outcome = Outcome::holds;
  const int64_t bytes = q4_bytes(shape.conv_dim(), shape.hidden_size) +
                        q4_bytes(shape.v_dim(), shape.hidden_size) +
                        q4_bytes(shape.hidden_size, shape.v_dim());
  const auto all = static_cast<uint64_t>(bytes * shape.num_layers);
  accept(engine_->api().pool_init(engine_->handle(), all), "pool_init");
}

bool StackEngine::accept(gdn_status status, const std::string& what) {
  if (status == GDN_OK) return true;
  conduct_ = both(
      std::move(conduct_),
      refusal(status, fmt::format("{}: {}: {}", what, name_of(status), engine_->last_error())));
  return false;
}

void StackEngine::expect(bool true_of_a_sound_engine, const std::string& otherwise) {
  if (true_of_a_sound_engine) return;
  conduct_ = both(std::move(conduct_), claim(false, otherwise));
}

void StackEngine::load(int64_t layer, const LayerNumbers& n) {
  if (!serves()) return;
  const gdn_api& api = engine_->api();
  const std::string where = fmt::format("of layer {}", layer);
  const LayerWeights weights = view_of(n, shape_);
  const gdn_layer_weights w = c_weights(weights);
  if (!accept(api.load_layer_f32(engine_->handle(), layer, &w), "load_layer_f32 " + where)) return;
  const uint64_t key = first_key(layer);
  const auto put = [&](uint64_t which, int64_t rows, int64_t cols,
                       const std::vector<uint8_t>& tiles) {
    return accept(api.pool_put(engine_->handle(), which, rows, cols, tiles.data()),
                  "pool_put " + where);
  };
  if (!put(key, shape_.conv_dim(), shape_.hidden_size, n.qkv_tiles)) return;
  if (!put(key + 1, shape_.v_dim(), shape_.hidden_size, n.z_tiles)) return;
  if (!put(key + 2, shape_.hidden_size, shape_.v_dim(), n.out_tiles)) return;
  accept(api.bind_q4(engine_->handle(), layer, key, key + 1, key + 2), "bind_q4 " + where);
}

std::optional<std::vector<float>> StackEngine::read(int64_t layer, Tensor tensor,
                                                    const std::string& where) {
  std::vector<float> values(static_cast<size_t>(element_count(tensor, shape_)));
  int64_t count = 0;
  const gdn_status status =
      engine_->api().read(engine_->handle(), layer, static_cast<gdn_tensor>(tensor), values.data(),
                          static_cast<int64_t>(values.size()), &count);
  const std::string reading = fmt::format("{}: read of {}", where, name_of(tensor));
  if (!accept(status, reading)) return std::nullopt;
  expect(count == static_cast<int64_t>(values.size()),
         reading + ": another number of elements than the shape's");
  return values;
}

std::optional<TokenTensors> StackEngine::step(int64_t token, int64_t layer,
                                              const std::vector<float>& h) {
  if (!serves()) return std::nullopt;
  const std::string where = fmt::format("step of token {}, layer {}", token, layer);
  const Guarded<float> given{std::span<const float>(h)};
  Guarded<float> out(h.size());
  const gdn_status status = engine_->api().step(engine_->handle(), layer, given.data(), out.data());
  if (!accept(status, where)) return std::nullopt;
  expect(given.holds(h), where + ": it wrote into h");
  expect(out.intact(), where + ": it wrote outside out");
  TokenTensors seen;
  for (int i = 0; i < tensor_count; ++i) {
    const auto tensor = static_cast<Tensor>(i);
    if (element_count(tensor, shape_) == 0) continue;
    std::optional<std::vector<float>> values = read(layer, tensor, where);
    if (!values) return std::nullopt;
    seen.emplace(tensor, *std::move(values));
  }
  const Verdict same =
      same_bits(where + ": out against OUT as read back", out.content(), seen[Tensor::OUT]);
  expect(same.holds(), same.detail);
  return seen;
}

}  // namespace gdn
