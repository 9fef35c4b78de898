// Tables of the ABI, one for each setting: its functions carry no context but the handle, so that
// each open is a function of its own. Nothing is thrown past here.
#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <utility>

#include "device/ascend_sim/engine.h"
#include "device/host/sizes.h"
#include "device/host/status.h"

namespace gdn::ascend {
namespace {

struct Table {
  Setting setting;
  gdn_api api = {};
};

std::array<Table, settings_max>& tables() {
  static std::array<Table, settings_max> all;
  return all;
}

thread_local std::string open_error;

// gdn_engine is never defined, so that several engines can share a program.
Engine* engine_of(gdn_engine* handle) { return reinterpret_cast<Engine*>(handle); }

// The status of what was thrown; called while it is being handled.
gdn_status status_of_exception(std::string* text) {
  try {
    throw;
  } catch (const host::Failed& failed) {
    *text = failed.status.text;
    return failed.status.code;
  } catch (const Fault& fault) {
    *text = fault.text;
    return GDN_INTERNAL;
  } catch (const std::bad_alloc&) {
    *text = "there is not so much memory";
    return GDN_OUT_OF_MEMORY;
  } catch (const std::length_error&) {
    *text = "there is not so much memory";
    return GDN_OUT_OF_MEMORY;
  }
}

gdn_status open(const Setting& setting, const gdn_shape* shape, const gdn_options* options,
                gdn_engine** engine) {
  open_error.clear();
  try {
    if (shape == nullptr) host::refuse(GDN_INVALID_ARGUMENT, "shape is null");
    if (options == nullptr) host::refuse(GDN_INVALID_ARGUMENT, "options is null");
    if (engine == nullptr) host::refuse(GDN_INVALID_ARGUMENT, "engine is null");
    host::Sizes sizes;
    if (const char* why = host::why_not_shape(*shape, true, &sizes)) {
      host::refuse(GDN_INVALID_ARGUMENT, "%s", why);
    }
    if (options->struct_size != sizeof *options) {
      host::refuse(GDN_INVALID_ARGUMENT, "options.struct_size is not that of this ABI");
    }
    if (options->snapshots < 0) host::refuse(GDN_INVALID_ARGUMENT, "options.snapshots is negative");
    *engine = reinterpret_cast<gdn_engine*>(new Engine(setting, *options));
    return GDN_OK;
  } catch (...) {
    return status_of_exception(&open_error);
  }
}

template <size_t place>
gdn_status open_at(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  return open(tables()[place].setting, shape, options, engine);
}

using Open = gdn_status (*)(const gdn_shape*, const gdn_options*, gdn_engine**);

template <size_t... places>
constexpr std::array<Open, sizeof...(places)> opens(std::index_sequence<places...>) {
  return {open_at<places>...};
}

template <auto method>
struct Call;

template <class... Arguments, void (Engine::*method)(Arguments...)>
struct Call<method> {
  static gdn_status run(gdn_engine* handle, Arguments... arguments) {
    if (handle == nullptr) return GDN_INVALID_ARGUMENT;
    Engine& engine = *engine_of(handle);
    engine.last_error.clear();
    try {
      (engine.*method)(arguments...);
      return GDN_OK;
    } catch (...) {
      return status_of_exception(&engine.last_error);
    }
  }
};

}  // namespace

const gdn_api* api_of(const char* name, const Setting& setting) {
  static constexpr std::array<Open, settings_max> open_functions =
      opens(std::make_index_sequence<settings_max>());
  static std::atomic<size_t> used = 0;
  const size_t place = used++;
  if (place >= settings_max) return nullptr;
  Table& table = tables()[place];
  table.setting = setting;
  table.api.abi_version = GDN_ABI_VERSION;
  table.api.struct_size = sizeof(gdn_api);
  table.api.name = name;
  table.api.open = open_functions[place];
  table.api.close = [](gdn_engine* handle) { delete engine_of(handle); };
  table.api.describe = description;
  table.api.last_error = [](const gdn_engine* handle) {
    return handle == nullptr ? open_error.c_str()
                             : reinterpret_cast<const Engine*>(handle)->last_error.c_str();
  };
  table.api.buffer_create = Call<&Engine::buffer_create>::run;
  table.api.buffer_write = Call<&Engine::buffer_write>::run;
  table.api.buffer_read = Call<&Engine::buffer_read>::run;
  table.api.buffer_release = Call<&Engine::buffer_release>::run;
  table.api.recurrent = Call<&Engine::recurrent>::run;
  return &table.api;
}

}  // namespace gdn::ascend
