// forward over all layers, and the cost of round trips: T steps against run(T).
#include "tests/bench/gpu_engine.h"

#include <cstring>
#include <string>
#include <vector>

#include "device/gdn.h"
#include "tests/bench/gpu_arrays.h"
#include "tests/bench/gpu_timing.cuh"

namespace gdn::gpu {
namespace {

const gdn_api* cuda_engine() {
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    if (std::strcmp(gdn_builtin(i)->name, "cuda") == 0) return gdn_builtin(i);
  }
  return nullptr;
}

template <class T>
std::vector<T> on_host(const T* from, uint64_t count) {
  std::vector<T> values(count);
  require(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "read");
  return values;
}

class Resident {
 public:
  Resident(const gdn_api& api, const Shape& s) : api_(api), s_(s) {
    const gdn_shape shape = {s.hidden_size, s.num_k_heads,  s.head_k_dim,
                             s.num_v_heads, s.head_v_dim,   s.conv_kernel,
                             s.num_layers,  s.rms_norm_eps, s.l2norm_eps};
    gdn_options options = {};
    options.struct_size = sizeof options;
    must(api.open(&shape, &options, &engine_), "open");
    if (!why_.empty()) return;
    const uint64_t bytes = tile_bytes(s.conv_dim(), s.hidden_size) +
                           tile_bytes(s.v_dim(), s.hidden_size) +
                           tile_bytes(s.hidden_size, s.v_dim());
    must(api.pool_init(engine_, bytes * static_cast<uint64_t>(s.num_layers)), "pool_init");
    for (int64_t l = 0; l < s.num_layers && why_.empty(); ++l) load(l);
  }
  ~Resident() {
    if (engine_ != nullptr) api_.close(engine_);
  }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  const std::string& why() const { return why_; }
  void forward(int64_t tokens, const float* h, float* out) {
    must(api_.forward(engine_, tokens, h, out), "forward");
  }
  void run(int64_t layer, int64_t tokens, const float* h, float* out) {
    must(api_.run(engine_, layer, tokens, h, out), "run");
  }
  void steps(int64_t layer, int64_t tokens, const float* h, float* out) {
    for (int64_t t = 0; t < tokens; ++t) {
      must(api_.step(engine_, layer, h + t * s_.hidden_size, out + t * s_.hidden_size), "step");
    }
  }

 private:
  void must(gdn_status status, const char* what) {
    if (status == GDN_OK || !why_.empty()) return;
    why_ = std::string(what) + ": " + api_.last_error(engine_);
  }

  // Numbers are made on the GPU, fetched and handed over; the GPU's copies go again.
  void load(int64_t layer) {
    const LayerArrays arrays = layer_arrays(s_, static_cast<uint64_t>(layer));
    const auto floats = [](const float* from, int64_t count) {
      return on_host(from, static_cast<uint64_t>(count));
    };
    const auto b = floats(arrays.b, s_.num_v_heads * s_.hidden_size);
    const auto a = floats(arrays.a, s_.num_v_heads * s_.hidden_size);
    const auto conv = floats(arrays.conv, s_.conv_dim() * s_.conv_kernel);
    const auto A_log = floats(arrays.A_log, s_.num_v_heads);
    const auto dt_bias = floats(arrays.dt_bias, s_.num_v_heads);
    const auto norm = floats(arrays.norm, s_.head_v_dim);
    gdn_layer_weights w = {};
    w.struct_size = sizeof w;
    w.b = b.data();
    w.a = a.data();
    w.conv = conv.data();
    w.A_log = A_log.data();
    w.dt_bias = dt_bias.data();
    w.norm = norm.data();
    must(api_.load_layer_f32(engine_, layer, &w), "load_layer_f32");
    const auto key = static_cast<uint64_t>(3 * layer);
    const auto put = [&](uint64_t which, const uint8_t* from, int64_t rows, int64_t cols) {
      const auto tiles = on_host(from, tile_bytes(rows, cols));
      must(api_.pool_put(engine_, which, rows, cols, tiles.data()), "pool_put");
    };
    put(key, arrays.qkv, s_.conv_dim(), s_.hidden_size);
    put(key + 1, arrays.z, s_.v_dim(), s_.hidden_size);
    put(key + 2, arrays.out, s_.hidden_size, s_.v_dim());
    must(api_.bind_q4(engine_, layer, key, key + 1, key + 2), "bind_q4");
    free_layer(arrays);
  }

  const gdn_api& api_;
  Shape s_;
  gdn_engine* engine_ = nullptr;
  std::string why_;
};

constexpr int64_t tokens = 32;

template <class Call>
Times per_token_and_layer(const Timer& timer, int repeats, double layers, const Call& call) {
  std::vector<double> all;
  for (int i = 0; i < repeats; ++i) {
    all.push_back(timer.time([&] { call(i); }) / (static_cast<double>(tokens) * layers));
  }
  return times_of(std::move(all));
}

}  // namespace

void time_engine(const Shape& shape, const Timer& timer, int repeats, double floor_us,
                 double layer_bytes, Findings& found) {
  const gdn_api* const api = cuda_engine();
  if (api == nullptr) return found.state(false, "there is an engine cuda");
  Resident engine(*api, shape);
  const auto count = static_cast<uint64_t>(tokens * shape.hidden_size);
  const std::vector<float> h = on_host(random_floats(tokens * shape.hidden_size, 99), count);
  std::vector<float> out(count);
  const auto layers = static_cast<double>(shape.num_layers);
  engine.forward(tokens, h.data(), out.data());
  const Times forward = per_token_and_layer(
      timer, repeats, layers, [&](int) { engine.forward(tokens, h.data(), out.data()); });
  const Times one = per_token_and_layer(timer, repeats, layers, [&](int) {
    for (int64_t t = 0; t < tokens; ++t) engine.forward(1, h.data(), out.data());
  });
  // A layer of 65 MB fits an L2 of 60 MB nearly: each measurement takes the next layer.
  const auto layer_of = [&](int i) { return i % shape.num_layers; };
  const Times run = per_token_and_layer(
      timer, repeats, 1, [&](int i) { engine.run(layer_of(i), tokens, h.data(), out.data()); });
  const Times steps = per_token_and_layer(
      timer, repeats, 1, [&](int i) { engine.steps(layer_of(i), tokens, h.data(), out.data()); });
  found.state(engine.why().empty(), "the engine serves every timed call", engine.why());
  if (!engine.why().empty()) return;
  FiguresTable table{"The engine, " + std::to_string(shape.num_layers) +
                         " layers of 4-bit weights resident, in µs a token and layer",
                     {"call", "median", "fastest", "slowest", "GB/s", "of the byte floor"},
                     {}};
  const auto add = [&](const std::string& name, const Times& t) {
    table.rows.push_back(
        {name, t.median, t.fastest, t.slowest, layer_bytes / t.median * 1e-3, t.median / floor_us});
  };
  add("forward(32)", forward);
  add("32 × forward(1)", one);
  add("run(32), one layer", run);
  add("32 × step, one layer", steps);
  found.tables.push_back(std::move(table));
  // The first mark: a layer takes at most three times what reading its bytes takes.
  constexpr double floors_max = 3;
  found.state(forward.median <= floors_max * floor_us,
              "a layer of forward takes at most 3 times its byte floor",
              std::to_string(forward.median) + " µs, the floor is " + std::to_string(floor_us));
}

}  // namespace gdn::gpu
