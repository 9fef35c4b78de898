// Hostile arguments of the C interface: null pointers, arrays that end at a guard page, wrong
// counts, sizes and enumerations; never a wild pointer. Every call returns a status and no engine
// touches a byte that it was not given.
#include <cstdint>
#include <cstdlib>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/byte_source.h"
#include "fuzz/demand.h"
#include "fuzz/guard_page.h"
#include "invariants/harness/engine.h"

namespace {

// No more memory than a small engine needs, whatever the shape says.
int gate(void* context, uint64_t bytes, int release) {
  constexpr uint64_t bytes_max = uint64_t{64} << 20;
  auto& held = *static_cast<uint64_t*>(context);
  if (release != 0) {
    held -= bytes;
    return 0;
  }
  if (bytes > bytes_max || held + bytes > bytes_max) return 1;
  held += bytes;
  return 0;
}

class Caller {
 public:
  Caller(const gdn_api& api, gdn::ByteSource& source) : api_(api), in_(source) {}

  void run() {
    open();
    for (int calls = 0; calls < 24 && !in_.empty() && engine_ != nullptr; ++calls) one();
    api_.close(engine_);
    gdn::demand(held_ == 0, "memory is held after close");
  }

 private:
  void open() {
    shape_ = {in_.count(4), in_.count(1), in_.count(2), in_.count(2), in_.count(16),
              in_.count(2), in_.count(2), 1e-6F,        1e-6F};
    gdn_options options = {};
    options.struct_size = in_.rarely(32) ? in_.byte() : sizeof options;
    options.observe = in_.byte() % 2;
    options.snapshots = static_cast<int32_t>(in_.count(2));
    options.allocation_gate = gate;
    options.allocation_context = &held_;
    options.fill = 1;
    options.fill_pattern = 0xFFFFFFFF;
    const bool no_shape = in_.rarely(32);
    const bool no_options = in_.rarely(32);
    const gdn_status status =
        api_.open(no_shape ? nullptr : &shape_, no_options ? nullptr : &options,
                  in_.rarely(64) ? nullptr : &engine_);
    looked_at(status);
    gdn::demand(status != GDN_OK || engine_ != nullptr, "open was served and gave no engine");
    if (status != GDN_OK) engine_ = nullptr;
  }

  void looked_at(gdn_status status) {
    gdn::demand(status >= GDN_OK && status <= GDN_INTERNAL, "a status that gdn.h does not have");
    const char* const words = api_.last_error(engine_);
    gdn::demand(words != nullptr, "last_error is null");
    gdn::demand(status == GDN_OK || *words != '\0', "a refusal without words");
  }

  // Of exactly so many elements; null now and then, and where they are too many to have.
  template <class T>
  T* array(int64_t count) {
    constexpr int64_t count_max = 1 << 16;
    if (in_.rarely(24) || count > count_max) return nullptr;
    const int64_t real = count < 0 ? 0 : count;
    gdn::GuardedBytes& bytes = arrays_.emplace_back(static_cast<size_t>(real) * sizeof(T));
    const uint8_t pattern = in_.byte();
    for (size_t i = 0; i < bytes.bytes().size(); ++i) {
      bytes.data()[i] = static_cast<uint8_t>(pattern * (i % 7));
    }
    return reinterpret_cast<T*>(bytes.data());
  }
  // A count that an array of ours really has.
  int64_t room(int64_t right) {
    const int64_t count = in_.count(right);
    constexpr int64_t count_max = 1 << 16;
    return count > count_max ? right : count;
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

  void pool() {
    switch (in_.byte() % 5) {
      case 0:
        return looked_at(api_.pool_init(engine_, static_cast<uint64_t>(in_.count(4096))));
      case 1: {
        const int64_t rows = in_.count(4 * (1 + in_.byte() % 4));
        const int64_t cols = in_.count(32);
        // Tiles of the size that rows and cols claim exist only where they are few.
        const bool few = rows >= 0 && cols >= 0 && rows <= 256 && cols <= 256;
        const void* const tiles = few ? array<uint8_t>(rows * cols * 18 / 32) : nullptr;
        return looked_at(api_.pool_put(engine_, in_.byte() % 4, rows, cols, tiles));
      }
      case 2: {
        const int64_t capacity = room(72);
        uint64_t size = 0;
        void* const dst = array<uint8_t>(capacity);
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
    const bool few = tokens <= 64;
    const int64_t count = few ? tokens * hidden : 0;
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
        float* const dst = array<float>(capacity);
        return looked_at(
            api_.read(engine_, layer(), tensor, dst, capacity, in_.rarely(8) ? nullptr : &count));
      }
      case 2: {
        const int64_t capacity = room(512);
        uint64_t size = 0;
        void* const dst = array<uint8_t>(capacity);
        return looked_at(api_.state_export(engine_, layer(), dst,
                                           static_cast<uint64_t>(capacity < 0 ? 0 : capacity),
                                           in_.rarely(8) ? nullptr : &size));
      }
      case 3: {
        const int64_t size = room(512);
        const void* const src = array<uint8_t>(size);
        return looked_at(
            api_.state_import(engine_, layer(), src, static_cast<uint64_t>(size < 0 ? 0 : size)));
      }
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

  void buffers() {
    const auto offset = static_cast<uint64_t>(in_.count(0));
    const int64_t bytes = room(256);
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
    static constexpr const char* names[] = {"x",    "weight", "hist", "q",     "k",       "v",
                                            "g",    "o",      "z",    "gk",    "S",       "a",
                                            "beta", "b",      "y",    "A_log", "dt_bias", ""};
    std::vector<gdn_array> arrays[2];
    for (std::vector<gdn_array>& list : arrays) {
      for (int count = in_.byte() % 8; count > 0; --count) {
        const int64_t elements = room(in_.byte() % 33);
        const char* const name = in_.rarely(32) ? nullptr : names[in_.byte() % std::size(names)];
        list.push_back({name, static_cast<gdn_format>(in_.count(in_.byte() % 2 * 3)),
                        array<float>(elements), elements});
      }
    }
    gdn_shape shape = shape_;
    shape.hidden_size = in_.count(shape.hidden_size);
    shape.num_v_heads = in_.count(shape.num_v_heads);
    const auto op = static_cast<gdn_operator>(in_.count(in_.byte() % 7));
    looked_at(api_.apply(engine_, op, in_.rarely(32) ? nullptr : &shape, arrays[0].data(),
                         arrays[0].size(), arrays[1].data(), arrays[1].size()));
  }

  gdn_view view(int format) {
    return {in_.byte() % 4u,
            static_cast<gdn_format>(in_.count(format)),
            in_.count(0),
            {in_.count(8), in_.count(4), in_.count(1), in_.count(1)}};
  }

  void recurrent() {
    gdn_recurrent_args a = {};
    a.struct_size = in_.rarely(32) ? in_.byte() : sizeof a;
    a.num_sequences = in_.count(1);
    a.num_tokens = in_.count(in_.byte() % 4);
    a.num_k_heads = in_.count(1);
    a.head_k_dim = in_.count(2);
    a.num_v_heads = in_.count(1);
    a.head_v_dim = in_.count(2);
    a.num_slots = in_.count(1);
    for (gdn_view* v : {&a.q, &a.k, &a.v, &a.g, &a.gk, &a.beta, &a.o, &a.state, &a.snapshots}) {
      *v = view(GDN_F32);
    }
    for (gdn_view* v : {&a.sequences, &a.slots, &a.accepted, &a.from_zero}) *v = view(GDN_I32);
    a.sequence_coding = static_cast<gdn_sequence_coding>(in_.count(in_.byte() % 3));
    a.state_writes = static_cast<gdn_state_writes>(in_.count(in_.byte() % 3));
    a.padding = static_cast<gdn_padding>(in_.count(in_.byte() % 5));
    a.qk_norm = static_cast<gdn_qk_norm_form>(in_.count(in_.byte() % 4));
    a.num_snapshots = in_.count(0);
    a.state_is_vk = in_.byte() % 2;
    a.head_map_tiled = in_.byte() % 2;
    a.g_is_linear = in_.byte() % 2;
    looked_at(api_.recurrent(engine_, in_.rarely(32) ? nullptr : &a));
  }

  void dequant() {
    const int64_t rows = in_.count(4);
    const int64_t cols = in_.count(32);
    const bool few = rows >= 0 && cols >= 0 && rows <= 64 && cols <= 256;
    const void* const tiles = few ? array<uint8_t>(rows * cols * 18 / 32) : nullptr;
    looked_at(api_.dequant(engine_, rows, cols, tiles, few ? array<float>(rows * cols) : nullptr));
  }

  void one() {
    arrays_.clear();
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

  const gdn_api& api_;
  gdn::ByteSource& in_;
  gdn_shape shape_ = {};
  gdn_engine* engine_ = nullptr;
  uint64_t held_ = 0;
  std::list<gdn::GuardedBytes> arrays_;  // of the call in hand
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gdn::ByteSource source({data, size});
  const std::string_view wanted = source.byte() % 2 == 0 ? "twin" : "simt";
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    if (wanted == gdn_builtin(i)->name) Caller(*gdn_builtin(i), source).run();
  }
  return 0;
}
