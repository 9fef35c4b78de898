// The twin behind the C ABI: opening and closing, and one wrapper for every other call. Nothing is
// thrown past here.
#include <cstdio>
#include <cstring>
#include <new>

#include "device/twin/engine.h"

namespace gdn::twin {
namespace {

// gdn_engine is never defined, so that several engines can share a program.
Engine* engine_of(gdn_engine* handle) { return reinterpret_cast<Engine*>(handle); }

thread_local char open_error[256] = "";

gdn_status refuse_open(gdn_status status, const char* why) {
  std::snprintf(open_error, sizeof open_error, "%s", why);
  return status;
}

// nullptr, or what is wrong with the options.
const char* why_not_options(const gdn_options& options, const gdn_shape& shape,
                            const Sizes& sizes) {
  if (options.struct_size != sizeof options) return "options.struct_size is not that of this ABI";
  if (options.snapshots < 0) return "options.snapshots is negative";
  const bool blocks = shape.hidden_size % 32 == 0 && sizes.v_dim % 32 == 0;
  if (options.q8_activations != 0 && !blocks) {
    return "q8_activations needs hidden_size and vh vd in blocks of 32";
  }
  return nullptr;
}

void close_twin(gdn_engine* handle) {
  if (handle == nullptr) return;
  Engine* engine = engine_of(handle);
  const Gate gate = engine->gate();
  engine->~Engine();
  release_through(gate, engine, sizeof *engine);
}

const char* last_error(const gdn_engine* handle) {
  return handle == nullptr ? open_error : reinterpret_cast<const Engine*>(handle)->last_error();
}

template <auto method>
struct Call;

template <class... Arguments, gdn_status (Engine::*method)(Arguments...)>
struct Call<method> {
  static gdn_status run(gdn_engine* handle, Arguments... arguments) {
    if (handle == nullptr) return GDN_INVALID_ARGUMENT;
    Engine& engine = *engine_of(handle);
    engine.clear_error();
    try {
      return (engine.*method)(arguments...);
    } catch (const std::bad_alloc&) {
      return engine.out_of_memory();
    } catch (...) {
      return engine.refuse(GDN_INTERNAL, "an unexpected exception");
    }
  }
};

}  // namespace

gdn_status twin_open(const TwinOperators& operators, const gdn_shape* shape,
                     const gdn_options* options, gdn_engine** handle) {
  open_error[0] = '\0';
  if (shape == nullptr) return refuse_open(GDN_INVALID_ARGUMENT, "shape is null");
  if (options == nullptr) return refuse_open(GDN_INVALID_ARGUMENT, "options is null");
  if (handle == nullptr) return refuse_open(GDN_INVALID_ARGUMENT, "engine is null");
  Sizes sizes;
  if (const char* why = why_not_shape(*shape, true, &sizes)) {
    return refuse_open(GDN_INVALID_ARGUMENT, why);
  }
  if (const char* why = why_not_options(*options, *shape, sizes)) {
    return refuse_open(GDN_INVALID_ARGUMENT, why);
  }
  const Gate gate = gate_of(*options);
  void* memory = allocate_through(gate, sizeof(Engine));
  if (memory == nullptr) return refuse_open(GDN_OUT_OF_MEMORY, "the engine itself");
  try {
    *handle =
        reinterpret_cast<gdn_engine*>(new (memory) Engine(*shape, sizes, *options, operators));
    return GDN_OK;
  } catch (const std::bad_alloc&) {
    release_through(gate, memory, sizeof(Engine));
    return refuse_open(GDN_OUT_OF_MEMORY, "the state of this shape, or its working memory");
  }
}

gdn_api twin_api(const char* name, OpenFunction open) {
  return {.abi_version = GDN_ABI_VERSION,
          .struct_size = sizeof(gdn_api),
          .name = name,
          .open = open,
          .close = close_twin,
          .describe = twin_description,
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

}  // namespace gdn::twin
