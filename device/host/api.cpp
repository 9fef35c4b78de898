// The engine behind the C ABI: opening and closing, and one wrapper for every other call. Nothing
// is thrown past here.
#include "device/host/api.h"

#include <cstdlib>
#include <exception>
#include <new>

#include "device/host/engine.h"

namespace gdn::host {
namespace {

// gdn_engine is never defined, so that several engines can share a program.
Engine* engine_of(gdn_engine* handle) { return reinterpret_cast<Engine*>(handle); }

thread_local Status open_error;

void check_options(const gdn_options& options, const gdn_shape& shape, const Sizes& sizes) {
  if (options.struct_size != sizeof options) {
    refuse(GDN_INVALID_ARGUMENT, "options.struct_size is not that of this ABI");
  }
  if (options.snapshots < 0) refuse(GDN_INVALID_ARGUMENT, "options.snapshots is negative");
  const bool blocks = shape.hidden_size % 32 == 0 && sizes.v_dim % 32 == 0;
  if (options.q8_activations != 0 && !blocks) {
    refuse(GDN_INVALID_ARGUMENT, "q8_activations needs hidden_size and vh vd in blocks of 32");
  }
}

// Memory for the engine's own object, given back where its construction fails.
class EngineRoom {
 public:
  explicit EngineRoom(const Gate& gate) : gate_(gate) {
    if (!gate_.grants(sizeof(Engine))) refuse(GDN_OUT_OF_MEMORY, "the engine itself was refused");
    memory_ = std::malloc(sizeof(Engine));
    if (memory_ != nullptr) return;
    gate_.released(sizeof(Engine));
    refuse(GDN_OUT_OF_MEMORY, "the host has no memory for the engine itself");
  }
  ~EngineRoom() {
    if (memory_ == nullptr) return;
    std::free(memory_);
    gate_.released(sizeof(Engine));
  }
  EngineRoom(const EngineRoom&) = delete;
  EngineRoom& operator=(const EngineRoom&) = delete;
  void* memory() { return memory_; }
  void hand_over() { memory_ = nullptr; }

 private:
  Gate gate_;
  void* memory_ = nullptr;
};

gdn_engine* opened(MakeBackend make, const gdn_shape* shape, const gdn_options* options) {
  if (shape == nullptr) refuse(GDN_INVALID_ARGUMENT, "shape is null");
  if (options == nullptr) refuse(GDN_INVALID_ARGUMENT, "options is null");
  Sizes sizes;
  if (const char* why = why_not_shape(*shape, true, &sizes)) {
    refuse(GDN_INVALID_ARGUMENT, "%s", why);
  }
  check_options(*options, *shape, sizes);
  std::unique_ptr<Backend> backend;
  must(make({options->fill != 0, options->fill_pattern}, &backend));
  EngineRoom room(gate_of(*options));
  auto* const engine = new (room.memory()) Engine(*shape, sizes, *options, std::move(backend));
  room.hand_over();
  return reinterpret_cast<gdn_engine*>(engine);
}

void close_engine(gdn_engine* handle) {
  if (handle == nullptr) return;
  Engine* const engine = engine_of(handle);
  const Gate gate = engine->gate();
  engine->~Engine();
  std::free(engine);
  gate.released(sizeof(Engine));
}

const char* last_error(const gdn_engine* handle) {
  return handle == nullptr ? open_error.text
                           : reinterpret_cast<const Engine*>(handle)->last_error();
}

// The status of what was thrown; called while it is being handled.
Status status_of_exception() {
  try {
    throw;
  } catch (const Failed& failed) {
    return failed.status;
  } catch (const std::bad_alloc&) {
    return failure(GDN_OUT_OF_MEMORY, "the host has no memory for the device's records");
  } catch (const std::exception& exception) {
    return failure(GDN_INTERNAL, "an unexpected exception: %s", exception.what());
  } catch (...) {
    return failure(GDN_INTERNAL, "an unexpected exception");
  }
}

template <auto method>
struct Call;

template <class... Arguments, void (Engine::*method)(Arguments...)>
struct Call<method> {
  static gdn_status run(gdn_engine* handle, Arguments... arguments) {
    if (handle == nullptr) return GDN_INVALID_ARGUMENT;
    Engine& engine = *engine_of(handle);
    if (engine.is_lost()) return GDN_LOST;
    try {
      (engine.*method)(arguments...);
      return engine.conclude({});
    } catch (...) {
      return engine.conclude(status_of_exception());
    }
  }
};

}  // namespace

gdn_status host_open(MakeBackend make, const gdn_shape* shape, const gdn_options* options,
                     gdn_engine** engine) {
  open_error = {};
  try {
    if (engine == nullptr) refuse(GDN_INVALID_ARGUMENT, "engine is null");
    *engine = opened(make, shape, options);
  } catch (...) {
    open_error = status_of_exception();
  }
  return open_error.code;
}

gdn_api host_api(const char* name, OpenFunction open, DescribeFunction describe) {
  return {.abi_version = GDN_ABI_VERSION,
          .struct_size = sizeof(gdn_api),
          .name = name,
          .open = open,
          .close = close_engine,
          .describe = describe,
          .last_error = last_error,
          .buffer_create = Call<&Engine::buffer_create>::run,
          .buffer_write = Call<&Engine::buffer_write>::run,
          .buffer_read = Call<&Engine::buffer_read>::run,
          .buffer_release = Call<&Engine::buffer_release>::run,
          .apply = Call<&Engine::apply>::run,
          .dequant = Call<&Engine::dequant>::run,
          .load_layer_f32 = Call<&Engine::load_layer_f32>::run,
          .unload_layer = Call<&Engine::unload_layer>::run,
          .pool_init = Call<&Engine::pool_init>::run,
          .pool_put = Call<&Engine::pool_put>::run,
          .pool_get = Call<&Engine::pool_get>::run,
          .pool_clear = Call<&Engine::pool_clear>::run,
          .bind_q4 = Call<&Engine::bind_q4>::run,
          .step = Call<&Engine::step>::run,
          .run = Call<&Engine::run>::run,
          .forward = Call<&Engine::forward>::run,
          .reset = Call<&Engine::reset>::run,
          .read = Call<&Engine::read>::run,
          .state_export = Call<&Engine::state_export>::run,
          .state_import = Call<&Engine::state_import>::run,
          .snapshot = Call<&Engine::snapshot>::run,
          .rollback = Call<&Engine::rollback>::run,
          .recurrent = Call<&Engine::recurrent>::run};
}

}  // namespace gdn::host
