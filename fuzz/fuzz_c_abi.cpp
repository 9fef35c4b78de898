// Hostile arguments of the C interface: null pointers, arrays that end at a guard page, wrong
// counts, sizes and enumerations; never a wild pointer. Every call returns a status, no engine
// touches a byte that it was not given, and a refused call none at all.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/demand.h"
#include "fuzz/hostile_arguments.h"
#include "invariants/harness/engine.h"

namespace {

class Caller : gdn::HostileArguments {
 public:
  Caller(const gdn_api& api, gdn::ByteSource& source) : HostileArguments(source), api_(api) {}

  void run() {
    open();
    for (int calls = 0; calls < 24 && !in_.empty() && engine_ != nullptr; ++calls) one();
    gdn::demand(api_.reset(nullptr, 0) == GDN_INVALID_ARGUMENT, "a null handle is served");
    api_.close(engine_);
    api_.close(nullptr);
    gdn::demand(ledger_.held_bytes == 0, "memory is held after close");
  }

 private:
  void open() {
    shape_ = {dimension(in_.byte() % 2 == 0 ? 4 : 32),
              dimension(1),
              dimension(2),
              dimension(2),
              dimension(16),
              dimension(1 + in_.byte() % 2),
              dimension(2),
              number(),
              number()};
    if (in_.rarely(16)) make_extreme(shape_);
    gdn_options options = {};
    options.struct_size = in_.rarely(32) ? in_.byte() : sizeof options;
    options.observe = in_.byte() % 2;
    options.snapshots = static_cast<int32_t>(in_.count(in_.byte() % 3));
    options.q8_activations = in_.rarely(4) ? 1 : 0;
    options.allocation_gate = gdn::small_engines_only;
    options.allocation_context = &ledger_;
    options.fill = in_.byte() % 2;
    options.fill_pattern = 0xFFFFFFFF;
    if (in_.rarely(4)) ledger_.grants_before_refusal = in_.byte();
    const bool no_shape = in_.rarely(32);
    const bool no_options = in_.rarely(32);
    const gdn_status status =
        api_.open(no_shape ? nullptr : &shape_, no_options ? nullptr : &options,
                  in_.rarely(64) ? nullptr : &engine_);
    looked_at(status);
    gdn::demand(status != GDN_OK || engine_ != nullptr, "open was served and gave no engine");
    if (status != GDN_OK) engine_ = nullptr;
    gdn_buffer made = 0;
    if (engine_ != nullptr) looked_at(api_.buffer_create(engine_, buffer_bytes, &made));
  }

  void looked_at(gdn_status status) {
    gdn::demand(status >= GDN_OK && status <= GDN_INTERNAL, "a status that gdn.h does not have");
    const char* const words = api_.last_error(engine_);
    gdn::demand(words != nullptr, "last_error is null");
    gdn::demand(status == GDN_OK || *words != '\0', "a refusal without words");
    gdn::demand(status == GDN_OK || are_untouched(), "a refused call writes to an array");
  }

  int64_t layer() { return in_.count(in_.byte() % 2); }
  int64_t conv_dim() const { return 2 * shape_.num_k_heads * shape_.head_k_dim + v_dim(); }
  int64_t v_dim() const { return shape_.num_v_heads * shape_.head_v_dim; }

  void load() {
    gdn_layer_weights w = {};
    w.struct_size = in_.rarely(32) ? in_.byte() : sizeof w;
    const int64_t hidden = shape_.hidden_size;
    const bool large = in_.byte() % 2 == 0;
    w.qkv = large ? array<float>(conv_dim() * hidden) : nullptr;
    w.z = large ? array<float>(v_dim() * hidden) : nullptr;
    w.out = large ? array<float>(v_dim() * hidden) : nullptr;
    w.b = array<float>(shape_.num_v_heads * hidden);
    w.a = array<float>(shape_.num_v_heads * hidden);
    w.conv = array<float>(conv_dim() * shape_.conv_kernel);
    w.A_log = array<float>(shape_.num_v_heads);
    w.dt_bias = array<float>(shape_.num_v_heads);
    w.norm = array<float>(shape_.head_v_dim);
    looked_at(api_.load_layer_f32(engine_, layer(), in_.rarely(32) ? nullptr : &w));
  }

  static bool are_few(int64_t rows, int64_t cols) {
    return rows >= 0 && cols >= 0 && rows <= 256 && cols <= 256;
  }

  // Tiles of the size that rows and cols claim exist only where they are few, or where that size
  // leaves 64 bits: no engine may then read even one byte.
  uint8_t* tiles_of(int64_t rows, int64_t cols) {
    if (are_few(rows, cols)) return array<uint8_t>(rows * cols * 18 / 32);
    int64_t weights = 0;
    return __builtin_mul_overflow(rows, cols, &weights) ? array<uint8_t>(1) : nullptr;
  }

  void pool() {
    switch (in_.byte() % 5) {
      case 0:
        return looked_at(api_.pool_init(engine_, static_cast<uint64_t>(in_.count(4096))));
      case 1: {
        const int64_t hidden = shape_.hidden_size;
        const int64_t sides[][2] = {
            {4, 32}, {conv_dim(), hidden}, {v_dim(), hidden}, {hidden, v_dim()}};
        const auto& [rows_right, cols_right] = sides[in_.byte() % std::size(sides)];
        const int64_t rows = dimension(rows_right);
        const int64_t cols = dimension(cols_right);
        const void* const tiles = tiles_of(rows, cols);
        return looked_at(api_.pool_put(engine_, in_.byte() % 4, rows, cols, tiles));
      }
      case 2: {
        const int64_t capacity = room(in_.byte() % 2 == 0 ? 72 : 1024);
        uint64_t size = 0;
        void* const dst = in_.rarely(4) ? nullptr : array<uint8_t>(capacity);
        return looked_at(api_.pool_get(engine_, in_.byte() % 4, dst,
                                       static_cast<uint64_t>(capacity < 0 ? 0 : capacity),
                                       in_.rarely(8) ? nullptr : &size));
      }
      case 3:
        return looked_at(
            api_.bind_q4(engine_, layer(), in_.byte() % 4, in_.byte() % 4, in_.byte() % 4));
      default:
        return looked_at(api_.pool_clear(engine_));
    }
  }

  void feed() {
    const int64_t hidden = shape_.hidden_size;
    if (in_.byte() % 2 == 0) {
      const float* const h = array<float>(hidden);
      return looked_at(api_.step(engine_, layer(), h, array<float>(hidden)));
    }
    const int64_t tokens = room(in_.byte() % 4);
    const bool few = tokens <= 8;
    const int64_t count = few && tokens > 0 ? tokens * hidden : 0;
    const float* const h = few ? array<float>(count) : nullptr;
    float* const out = few ? array<float>(count) : nullptr;
    if (in_.byte() % 2 == 0) return looked_at(api_.run(engine_, layer(), tokens, h, out));
    looked_at(api_.forward(engine_, tokens, h, out));
  }

  void state() {
    switch (in_.byte() % 7) {
      case 0:
        return looked_at(api_.reset(engine_, layer()));
      case 1: {
        const auto tensor = static_cast<gdn_tensor>(in_.count(in_.byte() % GDN_TENSOR_COUNT));
        const int64_t capacity = room(64);
        int64_t count = 0;
        float* const dst = in_.rarely(4) ? nullptr : array<float>(capacity);
        return looked_at(
            api_.read(engine_, layer(), tensor, dst, capacity, in_.rarely(8) ? nullptr : &count));
      }
      case 2: {
        const int64_t capacity = room(512);
        uint64_t size = 0;
        void* const dst = in_.rarely(4) ? nullptr : array<uint8_t>(capacity);
        return looked_at(api_.state_export(engine_, layer(), dst,
                                           static_cast<uint64_t>(capacity < 0 ? 0 : capacity),
                                           in_.rarely(8) ? nullptr : &size));
      }
      case 3:
        return import();
      case 4: {
        uint64_t id = 0;
        return looked_at(api_.snapshot(engine_, layer(), in_.rarely(16) ? nullptr : &id));
      }
      case 5:
        return looked_at(api_.rollback(engine_, static_cast<uint64_t>(in_.count(1))));
      default:
        return looked_at(api_.unload_layer(engine_, layer()));
    }
  }

  // What this engine exports, with a byte of it changed now and then, or any bytes.
  void import() {
    uint64_t size = 0;
    const int64_t from = in_.byte() % 2;
    const bool is_own = in_.byte() % 4 != 0 &&
                        api_.state_export(engine_, from, nullptr, 0, &size) == GDN_OK &&
                        size <= count_max;
    const int64_t bytes = is_own ? static_cast<int64_t>(size) : room(512);
    uint8_t* const src = array<uint8_t>(bytes);
    if (is_own && src != nullptr) {
      looked_at(api_.state_export(engine_, from, src, size, nullptr));
      // The header's 56 bytes say what the rest is.
      constexpr uint64_t header_bytes = 56;
      if (in_.rarely(3)) src[in_.byte() % header_bytes] ^= in_.byte();
      take_as_they_are();
    }
    looked_at(
        api_.state_import(engine_, layer(), src, static_cast<uint64_t>(bytes < 0 ? 0 : bytes)));
  }

  void buffers() {
    const auto offset = static_cast<uint64_t>(in_.count(0));
    const int64_t bytes = room(in_.byte() % 4 == 0 ? 0 : 256);
    const auto size = static_cast<uint64_t>(bytes < 0 ? 0 : bytes);
    const auto which = static_cast<gdn_buffer>(in_.byte() % 4);
    switch (in_.byte() % 4) {
      case 0: {
        gdn_buffer made = 0;
        return looked_at(api_.buffer_create(engine_, static_cast<uint64_t>(in_.count(1024)),
                                            in_.rarely(16) ? nullptr : &made));
      }
      case 1:
        return looked_at(api_.buffer_write(engine_, which, offset, array<uint8_t>(bytes), size));
      case 2:
        return looked_at(api_.buffer_read(engine_, which, offset, array<uint8_t>(bytes), size));
      default:
        return looked_at(api_.buffer_release(engine_, which));
    }
  }

  void apply() {
    gdn_shape shape = shape_;
    if (in_.rarely(8)) shape.hidden_size = dimension(shape.hidden_size);
    if (in_.rarely(8)) shape.num_v_heads = dimension(shape.num_v_heads);
    const int64_t vh = shape_.num_v_heads;
    const int64_t k = shape_.num_k_heads * shape_.head_k_dim;
    const int64_t v = v_dim();
    const int64_t c = conv_dim();
    const int64_t past = (shape_.conv_kernel - 1) * c;
    const int64_t state = v * shape_.head_k_dim;
    const int64_t rows = dimension(4);
    const int64_t cols = dimension(32);
    const bool few = are_few(rows, cols);
    const int64_t number = in_.count(in_.byte() % 7);
    std::vector<gdn_array> in, out;
    switch (number) {
      case GDN_GATES:
        in = arrays_of({{"a", vh}, {"b", vh}, {"A_log", vh}, {"dt_bias", vh}});
        out = arrays_of({{"beta", vh}, {"g", vh}});
        break;
      case GDN_CONV_SILU:
        in = arrays_of({{"x", c}, {"hist", past}, {"weight", past + c}});
        out = arrays_of({{"y", c}, {"hist", past}});
        // The history may be the input's own array.
        if (in.size() == 3 && out.size() == 2 && in_.rarely(4)) out[1] = in[1];
        break;
      case GDN_QK_NORM:
        in = arrays_of({{"q", k}, {"k", k}});
        out = arrays_of({{"q", k}, {"k", k}});
        break;
      case GDN_DELTA_RULE:
        in = arrays_of({{"q", k}, {"k", k}, {"v", v}, {"beta", vh}, {"S", state}});
        if (in_.byte() % 3 != 0) in.push_back({"g", GDN_F32, array<float>(vh), vh});
        if (in_.byte() % 3 == 0) {
          const int64_t count = vh * shape_.head_k_dim;
          in.push_back({"gk", GDN_F32, array<float>(count), count});
        }
        out = arrays_of({{"S", state}, {"o", v}});
        break;
      case GDN_GATED_NORM:
        in = arrays_of({{"o", v}, {"z", v}, {"weight", shape_.head_v_dim}});
        out = arrays_of({{"y", v}});
        break;
      default:
        in = arrays_of({{"x", cols}});
        if (!in_.rarely(8)) {
          const int64_t count = few ? rows * cols : rows;
          const auto format = in_.byte() % 2 == 0 ? GDN_F32 : GDN_Q4_TILE;
          // Room for float32 is enough for tiles.
          in.push_back({"weight", format, few ? array<float>(count) : nullptr, count});
        }
        out = arrays_of({{"y", rows}});
    }
    // An empty list is no null pointer.
    in.reserve(1);
    out.reserve(1);
    looked_at(api_.apply(engine_, static_cast<gdn_operator>(number),
                         in_.rarely(32) ? nullptr : &shape, in_.rarely(64) ? nullptr : in.data(),
                         in.size(), in_.rarely(64) ? nullptr : out.data(), out.size()));
  }

  // Of the first buffer, a part of its own for every view.
  gdn_view view(int format, int64_t part, std::initializer_list<int64_t> strides) {
    constexpr int64_t part_elements = 128;
    gdn_view made = {};
    made.buffer = in_.rarely(32) ? in_.byte() % 3u : 1;
    made.format = static_cast<gdn_format>(in_.rarely(16) ? in_.byte() % 8 : format);
    made.offset = in_.count(part * part_elements);
    size_t d = 0;
    for (const int64_t stride : strides)
      made.stride[d++] = in_.rarely(16) ? -stride : in_.count(stride);
    return made;
  }
  gdn_view optional(int format, int64_t part, std::initializer_list<int64_t> strides) {
    return in_.rarely(2) ? view(format, part, strides) : gdn_view{};
  }

  void recurrent() {
    constexpr int64_t kd = 2;
    constexpr int64_t vd = 2;
    const int numbers = in_.byte() % 3;  // float32, bf16 or f16
    gdn_recurrent_args a = {};
    a.struct_size = in_.rarely(32) ? in_.byte() : sizeof a;
    a.num_sequences = dimension(1);
    a.num_tokens = in_.count(in_.byte() % 4);
    a.num_k_heads = dimension(1);
    a.head_k_dim = dimension(kd);
    a.num_v_heads = dimension(1);
    a.head_v_dim = dimension(vd);
    a.num_slots = in_.count(1);
    a.q = view(numbers, 0, {kd, kd, 1});
    a.k = view(numbers, 1, {kd, kd, 1});
    a.v = view(numbers, 2, {vd, vd, 1});
    a.beta = view(numbers, 3, {1, 1});
    a.o = view(numbers, 4, {vd, vd, 1});
    a.state = view(numbers, 5, {kd * vd, kd * vd, vd, 1});
    a.g = optional(GDN_F32, 6, {1, 1});
    a.gk = optional(GDN_F32, 7, {kd, kd, 1});
    if (in_.rarely(4)) {
      a.snapshots = optional(numbers, 8, {kd * vd, kd * vd, vd, 1});
      a.sequences = optional(GDN_I32, 9, {1});
      a.slots = optional(GDN_I32, 10, {1});
      a.accepted = optional(GDN_I32, 11, {1});
      a.sequence_coding = static_cast<gdn_sequence_coding>(in_.count(in_.byte() % 3));
      a.state_writes = static_cast<gdn_state_writes>(in_.count(in_.byte() % 3));
      a.padding = static_cast<gdn_padding>(in_.count(in_.byte() % 5));
      a.num_snapshots = dimension(0);
    }
    a.from_zero = optional(GDN_I32, 12, {1});
    a.qk_norm = static_cast<gdn_qk_norm_form>(in_.count(in_.byte() % 4));
    a.qk_norm_eps = number();
    a.scale_is_given = in_.byte() % 2;
    a.scale = number();
    a.scale_on_output = in_.byte() % 2;
    a.state_is_vk = in_.byte() % 2;
    a.head_map_tiled = in_.byte() % 2;
    a.g_is_linear = in_.byte() % 2;
    if (in_.rarely(8)) stand_still(a);
    looked_at(api_.recurrent(engine_, in_.rarely(32) ? nullptr : &a));
  }

  void dequant() {
    const int64_t rows = dimension(4);
    const int64_t cols = dimension(32);
    const void* const tiles = tiles_of(rows, cols);
    const int64_t count = are_few(rows, cols) ? rows * cols : 1;
    looked_at(api_.dequant(engine_, rows, cols, tiles, array<float>(count)));
  }

  void one() {
    release_arrays();
    switch (in_.byte() % 12) {
      case 0:
        return load();
      case 1:
      case 2:
        return pool();
      case 3:
      case 4:
      case 5:
        return feed();
      case 6:
      case 7:
        return state();
      case 8:
        return buffers();
      case 9:
        return apply();
      case 10:
        return recurrent();
      default:
        return dequant();
    }
  }

  static constexpr uint64_t buffer_bytes = 8192;  // of the first buffer, which open makes

  const gdn_api& api_;
  gdn_shape shape_ = {};
  gdn_engine* engine_ = nullptr;
  gdn::MemoryLedger ledger_;
};

}  // namespace

// The engine cuda opens nowhere but on a machine with a GPU, and says so.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gdn::ByteSource source({data, size});
  constexpr std::string_view names[] = {"twin", "simt", "twin", "simt", "twin", "simt", "cuda"};
  const uint8_t choice = source.byte();
  const std::string_view wanted = names[choice % std::size(names)];
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    if (wanted != gdn_builtin(i)->name) continue;
    if (choice >= 252) gdn::open_without_gate(*gdn_builtin(i));
    Caller(*gdn_builtin(i), source).run();
  }
  return 0;
}
