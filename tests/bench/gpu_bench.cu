// Times the kernels of a layer of Qwen3.5-27B with 4-bit weights on a GPU, each in a graph over all
// layers, beside a plain read of the same bytes in a graph of the same run; then the engine itself.
//   gpu_bench [--layers N] [--repeats N] [--json FILE]
#include <cstring>
#include <map>
#include <string>

#include "ci/files.h"
#include "ci/stopwatch.h"
#include "tests/bench/gpu_cublas.h"
#include "tests/bench/gpu_engine.h"
#include "tests/bench/gpu_kernels.cuh"
#include "tests/bench/gpu_plain.cuh"
#include "tests/bench/gpu_recurrent.h"
#include "tests/gpu/findings.h"

namespace gdn::gpu {
namespace {

struct BenchOptions {
  int64_t layers = 48;
  int repeats = 30;
  std::string json;
};

Shape qwen_layer(int64_t layers) {
  Shape s;
  s.hidden_size = 5120;
  s.num_k_heads = 16;
  s.head_k_dim = 128;
  s.num_v_heads = 48;
  s.head_v_dim = 128;
  s.conv_kernel = 4;
  s.num_layers = layers;
  return s;
}

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options), shape_(qwen_layer(options.layers)), token_(token_arrays(shape_)) {
    for (int64_t l = 0; l < options.layers; ++l) {
      layers_.push_back(layer_arrays(shape_, static_cast<uint64_t>(l)));
    }
    never_ = fresh<unsigned>(1);
    require(cudaDeviceSynchronize(), "filling");
    int device = 0;
    require(cudaGetDevice(&device), "device");
    require(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device), "device");
    tiles_bytes_ = tile_bytes(shape_.conv_dim(), shape_.hidden_size);
  }

  Findings run() {
    time_q4_projections();
    time_kernels();
    time_float32_projections();
    time_layers();
    free_all();
    const double state_us = time_recurrent(shape_, timer_, options_.repeats, processors_, found_);
    compare_layer(state_us);
    time_engine(shape_, timer_, options_.repeats, floor_us_, layer_bytes_, found_);
    return std::move(found_);
  }

 private:
  // A read of `bytes` of each layer's weights: the yardstick.
  template <class From>
  Times time_read(size_t layers, uint64_t bytes, const From& from) const {
    return time_plain<plain_read>(timer_, options_.repeats, processors_, layers, [&](size_t l) {
      const auto* const first = reinterpret_cast<const uint4*>(from(l));
      return PlainRead{{first}, bytes / sizeof(uint4), {never_}};
    });
  }
  Times time_read_of_tiles(uint64_t bytes) const {
    return time_read(layers_.size(), bytes, [&](size_t l) { return layers_[l].qkv; });
  }

  void add_row(FiguresTable& table, const std::string& name, uint64_t bytes, size_t layers,
               const Times& kernel, const Times& read) {
    const auto count = static_cast<double>(layers);
    const double us = kernel.median / count;
    table.rows.push_back({name, static_cast<double>(bytes) * 1e-6, us, kernel.fastest / count,
                          kernel.slowest / count, static_cast<double>(bytes) / us * 1e-3,
                          read.median / count, read.median / kernel.median});
  }

  // A row is named by what its first column is called and says.
  static FiguresTable kernel_table(std::string title, const char* rows) {
    return {std::move(title),
            {rows, "MB", "µs, median", "fastest", "slowest", "GB/s", "plain read, µs",
             "of the plain read"},
            {}};
  }

  void state_projection(const std::string& name, double share_min, const Times& kernel,
                        const Times& read) {
    const double share = read.median / kernel.median;
    char text[128];
    std::snprintf(text, sizeof text, "%s reaches at least %.2f of a plain read", name.c_str(),
                  share_min);
    found_.state(share >= share_min, text, std::to_string(share));
  }

  Times time_kernel(const TimedKernel& kernel) const {
    return timer_.time_graph(options_.repeats, [&](cudaStream_t stream) {
      for (const LayerArrays& l : layers_) kernel.queue({shape_, l, token_, stream});
    });
  }

  // The mark is 0.85; what is stated is what no change may fall behind.
  void time_q4_projections() {
    constexpr double kept_share = 0.7;
    FiguresTable table = kernel_table(
        "4-bit projections, each in a graph over " + std::to_string(layers_.size()) + " layers",
        "projection");
    table.header.insert(table.header.end(),
                        {"cuBLAS bf16, µs", "MB of bf16", "GB/s of bf16", "cuBLAS / ours"});
    CublasBf16 cublas;
    for (const auto& [kernel, rows, cols] : q4_projections(shape_)) {
      const Times time = time_kernel(kernel);
      const Times read = time_read_of_tiles(kernel.bytes);
      add_row(table, kernel.name, kernel.bytes, layers_.size(), time, read);
      const double us = cublas.present() ? cublas.time(rows, cols, timer_, options_.repeats) : 0;
      const double bytes = 2.0 * static_cast<double>(rows * cols);
      const double ours = time.median / static_cast<double>(layers_.size());
      auto& row = table.rows.back();
      if (us > 0) {
        row.insert(row.end(), {us, bytes * 1e-6, bytes / us * 1e-3, us / ours});
      } else {
        row.insert(row.end(), {std::string("-"), bytes * 1e-6, std::string("-"), std::string("-")});
      }
      state_projection(kernel.name, kept_share, time, read);
    }
    if (!cublas.why_not().empty()) found_.notes.push_back("cuBLAS: " + cublas.why_not());
    found_.tables.push_back(std::move(table));
  }

  void time_kernels() {
    FiguresTable table = kernel_table(
        "Launches of a layer, each in a graph over " + std::to_string(layers_.size()) + " layers",
        "launch");
    for (const TimedKernel& kernel : layer_kernels(shape_)) {
      const Times read = time_read_of_tiles(kernel.bytes);
      add_row(table, kernel.name, kernel.bytes, layers_.size(), time_kernel(kernel), read);
      layer_bytes_ += static_cast<double>(kernel.bytes);
    }
    found_.tables.push_back(std::move(table));
    for (const uint64_t bytes :
         {in_proj_bytes(shape_), projection_bytes(shape_.hidden_size, shape_.v_dim())}) {
      projections_us_ += time_read_of_tiles(bytes).median / static_cast<double>(layers_.size());
    }
    found_.notes.push_back(
        "What several layers' arrays of a kernel take together must exceed the L2 cache for its "
        "figure to be one of cold data: true of the projections and of delta_rule_norm.");
  }

  void time_float32_projections() {
    constexpr size_t float32_layers = 6;
    struct Projection {
      const char* name;
      int64_t rows, cols;
      const float* x;
      float* y;
    };
    const Projection projections[] = {
        {"gemv_f32 qkv", shape_.conv_dim(), shape_.hidden_size, token_.h, token_.qkv},
        {"gemv_f32 z", shape_.v_dim(), shape_.hidden_size, token_.h, token_.z},
        {"gemv_f32 out", shape_.hidden_size, shape_.v_dim(), token_.normed, token_.out}};
    FiguresTable table = kernel_table(
        "Float32 projections, each in a graph over " + std::to_string(float32_layers) + " layers",
        "projection");
    for (const Projection& p : projections) {
      std::vector<float*> weights;
      for (size_t l = 0; l < float32_layers; ++l) {
        weights.push_back(random_floats(p.rows * p.cols, 4000 + l, 0x1p-5F));
      }
      require(cudaDeviceSynchronize(), "filling");
      const uint64_t bytes = static_cast<uint64_t>(p.rows * p.cols) * sizeof(float);
      const Times time = timer_.time_graph(options_.repeats, [&](cudaStream_t stream) {
        for (size_t l = 0; l < float32_layers; ++l) {
          const Work work = {shape_, layers_[0], token_, stream};
          work.gemv_f32(weights[l], p.x, p.y, p.rows, p.cols);
        }
      });
      const Times read = time_read(float32_layers, bytes, [&](size_t l) { return weights[l]; });
      add_row(table, p.name, bytes, float32_layers, time, read);
      state_projection(p.name, 0.5, time, read);
      for (float* const w : weights) require(cudaFree(w), "cudaFree");
    }
    found_.tables.push_back(std::move(table));
  }

  // All kernels of all layers in one graph, as forward has them; and the floor of a layer: its
  // bytes at the speed at which this GPU reads them where nothing else is asked of it.
  void time_layers() {
    const auto layers = static_cast<double>(layers_.size());
    const Times whole = timer_.time_graph(options_.repeats, [&](cudaStream_t stream) {
      for (const LayerArrays& l : layers_) {
        for (const TimedKernel& kernel : layer_kernels(shape_)) {
          kernel.queue({shape_, l, token_, stream});
        }
      }
    });
    const Times read = time_read_of_tiles(tiles_bytes_);
    const double bytes_a_us = static_cast<double>(tiles_bytes_) * layers / read.median;
    floor_us_ = layer_bytes_ / bytes_a_us;
    FiguresTable table{"A layer, all kernels of all layers one after the other in one graph",
                       {"what", "MB", "µs a layer", "GB/s", "of the byte floor"},
                       {}};
    layer_us_ = whole.median / layers;
    const double us = layer_us_;
    table.rows.push_back({std::string("all kernels"), layer_bytes_ * 1e-6, us,
                          layer_bytes_ / us * 1e-3, us / floor_us_});
    table.rows.push_back({std::string("byte floor: plain reads"), layer_bytes_ * 1e-6, floor_us_,
                          bytes_a_us * 1e-3, 1.0});
    found_.tables.push_back(std::move(table));
  }

  // Against plain reads of its large launches: the projections, and the state read and written.
  void compare_layer(double state_us) {
    const double sum = projections_us_ + state_us;
    found_.tables.push_back(
        {"A layer against plain launches of what it must move",
         {"what", "µs", "a layer is so many times that"},
         {{std::string("in_proj and out_proj, read"), projections_us_, layer_us_ / projections_us_},
          {std::string("the state, read and written"), state_us, layer_us_ / state_us},
          {std::string("both"), sum, layer_us_ / sum},
          {std::string("a layer"), layer_us_, 1.0}}});
  }

  void free_all() {
    for (const LayerArrays& l : layers_) free_layer(l);
    layers_.clear();
  }

  BenchOptions options_;
  Shape shape_;
  Timer timer_;
  TokenArrays token_;
  std::vector<LayerArrays> layers_;
  unsigned* never_ = nullptr;
  int processors_ = 0;
  uint64_t tiles_bytes_ = 0;
  double layer_bytes_ = 0, floor_us_ = 0, layer_us_ = 0, projections_us_ = 0;
  Findings found_;
};

int run(int count, char** arguments) {
  BenchOptions options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--layers") options.layers = std::atoll(arguments[i + 1]);
    if (name == "--repeats") options.repeats = std::atoi(arguments[i + 1]);
    if (name == "--json") options.json = arguments[i + 1];
  }
  if (count % 2 == 0 || options.layers < 1 || options.repeats < 1) {
    std::fprintf(stderr, "usage: gpu_bench [--layers N] [--repeats N] [--json FILE]\n");
    return 2;
  }
  int devices = 0;
  require(cudaGetDeviceCount(&devices), "no GPU");
  const Stopwatch watch;
  Findings found = Bench(options).run();
  found.name = "bench";
  found.engine = "cuda";
  found.seconds = watch.seconds();
  std::printf("%s", as_text(found).c_str());
  if (!options.json.empty()) {
    const std::string why = write_whole(options.json, as_json(found));
    if (!why.empty()) std::fprintf(stderr, "gpu_bench: %s\n", why.c_str());
    if (!why.empty()) return 5;
  }
  return found.all_hold() ? 0 : 1;
}

}  // namespace
}  // namespace gdn::gpu

int main(int count, char** arguments) { return gdn::gpu::run(count, arguments); }
