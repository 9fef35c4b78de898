// Engines behind the C ABI.
#include "invariants/harness/engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "invariants/harness/kernel_mutants.h"
#include "invariants/harness/safetensors.h"
#include "invariants/harness/stand_in.h"
#include "reference/layer.h"

namespace gdn {
namespace {

constexpr std::string_view mutant_prefix = "mutant:";
constexpr const char* no_reason = "no reason given";

std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }

// An engine's words on one line. Its texts may come from a path or a driver: longer than a name.
std::string words(const char* text, const char* otherwise) {
  constexpr size_t longest = 400;
  return printable(text_or(text, otherwise), longest);
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".so");
}

// The library stays loaded for the life of the process, as the texts that describe returns do.
const gdn_api* load_plugin(const std::string& path, std::string* why) {
  // Without a slash dlopen searches the system's folders and not this one.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  // Loading runs what the library has to be run before its first call.
  const InCall now(path, "loading");
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *why = printable_path(path) + ": cannot be loaded: " + words(dlerror(), no_reason);
    return nullptr;
  }
  void* const symbol = dlsym(library, GDN_ENGINE_API_SYMBOL);
  if (!symbol) {
    *why = printable_path(path) + ": exports no " GDN_ENGINE_API_SYMBOL
                                  ", expected a function of device/gdn.h";
    return nullptr;
  }
  gdn_engine_api_function api = nullptr;
  std::memcpy(&api, &symbol, sizeof api);
  const gdn_api* const table = api();
  if (!table)
    *why = printable_path(path) + ": " GDN_ENGINE_API_SYMBOL " returned null, expected a table";
  return table;
}

const gdn_api* built_in(std::string_view name) {
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    const gdn_api* api = gdn_builtin(i);
    if (api && api->name && name == api->name) return api;
  }
  return nullptr;
}

// `ascend_sim:v_step=32`; null without words where no built-in engine is named.
const gdn_api* built_in_with(std::string_view name, std::string* why) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos || !built_in(name.substr(0, colon))) return nullptr;
  const char* words = "";
  const gdn_api* const found =
      gdn_builtin_with(std::string(name.substr(0, colon)).c_str(),
                       std::string(name.substr(colon + 1)).c_str(), &words);
  if (!found) *why = "engine " + std::string(name) + ": " + words;
  return found;
}

const gdn_api* mutant(std::string_view name) {
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant* m = gdn_mutant_at(i);
    if (m && name == m->name) return m->api;
  }
  return nullptr;
}

// Null where there is no such edit; null, and *why, where it is not built.
const gdn_api* kernel_mutant(const std::string& name, std::string* why) {
  const std::vector<std::string> names = kernel_mutant_names();
  if (!std::binary_search(names.begin(), names.end(), name)) return nullptr;
  *why = why_kernel_mutant_not_built(name);
  return why->empty() ? load_plugin(kernel_mutant_library(name), why) : nullptr;
}

const char* description_of(const std::string& name, const gdn_api& api) {
  const InCall now(name, "describe");
  return api.describe();
}

const gdn_api* (*table_in_use)(const gdn_api*) = nullptr;

}  // namespace

void stand_in_for_tables(const gdn_api* (*stand_in)(const gdn_api*)) { table_in_use = stand_in; }

std::string_view name_of(gdn_status status) {
  switch (status) {
    case GDN_OK:
      return "GDN_OK";
    case GDN_INVALID_ARGUMENT:
      return "GDN_INVALID_ARGUMENT";
    case GDN_UNSUPPORTED:
      return "GDN_UNSUPPORTED";
    case GDN_NOT_LOADED:
      return "GDN_NOT_LOADED";
    case GDN_ALREADY_LOADED:
      return "GDN_ALREADY_LOADED";
    case GDN_NOT_FOUND:
      return "GDN_NOT_FOUND";
    case GDN_OUT_OF_MEMORY:
      return "GDN_OUT_OF_MEMORY";
    case GDN_TOO_SMALL:
      return "GDN_TOO_SMALL";
    case GDN_NO_TOKEN:
      return "GDN_NO_TOKEN";
    case GDN_NOT_AVAILABLE:
      return "GDN_NOT_AVAILABLE";
    case GDN_LOST:
      return "GDN_LOST";
    case GDN_INTERNAL:
      return "GDN_INTERNAL";
  }
  return "a status that device/gdn.h does not have";
}

Verdict refusal(gdn_status status, std::string detail) {
  Verdict v;
  v.outcome = status == GDN_UNSUPPORTED ? Outcome::not_applicable : Outcome::engine_error;
  v.detail = std::move(detail);
  return v;
}

std::string why_unusable(const gdn_api* api) {
  if (!api) return "no table";
  if (api->abi_version != GDN_ABI_VERSION) {
    return "interface version " + std::to_string(api->abi_version) + ", expected " +
           std::to_string(GDN_ABI_VERSION) + " (abi_version)";
  }
  if (api->struct_size != sizeof(gdn_api)) {
    return "a table of " + std::to_string(api->struct_size) + " bytes, expected " +
           std::to_string(sizeof(gdn_api)) + " (struct_size)";
  }
  const std::string_view name = api->name ? api->name : "";
  const bool well_named = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!well_named) return "a name that is not of a-z, 0-9 and _";
  for (const char* entry : {"open", "close", "describe", "last_error"}) {
    if (!has_call(*api, entry)) return std::string("no ") + entry + ", which every engine needs";
  }
  return "";
}

std::optional<EngineSource> use_engine(std::string name, const gdn_api* api, std::string* why) {
  *why = why_unusable(api);
  if (!why->empty()) {
    *why = "engine " + printable_path(name) + ": " + *why;
    return std::nullopt;
  }
  const char* const text = description_of(name, *api);
  std::optional<Description> description;
  if (text) description = parse_description(text, why);
  if (!text) *why = "describe returned null, expected JSON";
  if (description) *why = why_inconsistent(*description, *api);
  if (!why->empty()) {
    *why = "engine " + printable_path(name) + ": " + *why;
    return std::nullopt;
  }
  if (table_in_use != nullptr) api = table_in_use(api);
  return EngineSource{std::move(name), api, *std::move(description)};
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < gdn_builtin_count(); ++i) names.emplace_back(gdn_builtin(i)->name);
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    names.push_back(std::string(mutant_prefix) + gdn_mutant_at(i)->name);
  }
  return names;
}

std::optional<EngineSource> find_engine(std::string_view name, std::string* why) {
  why->clear();
  const std::string asked(name);
  const gdn_api* api = nullptr;
  if (is_path(name)) {
    api = load_plugin(asked, why);
  } else if (name.starts_with(mutant_prefix)) {
    name.remove_prefix(mutant_prefix.size());
    api = mutant(name);
    if (!api) api = kernel_mutant(std::string(name), why);
  } else {
    api = built_in(name);
    if (!api) api = built_in_with(name, why);
  }
  if (api) return use_engine(asked, api, why);
  if (why->empty()) {
    *why = "no engine \"" + printable_path(asked) +
           "\", expected a path to a shared library or one of:";
    // Some hundreds of mutants would bury the few engines.
    const bool of_mutants = asked.starts_with(mutant_prefix);
    for (const std::string& known : engine_names()) {
      if (known.starts_with(mutant_prefix) == of_mutants) *why += " " + known;
    }
    for (const std::string& edit : kernel_mutant_names()) {
      if (of_mutants) *why += " mutant:" + edit;
    }
    if (!of_mutants) *why += " mutant:NAME (deltaproof list mutants)";
  }
  return std::nullopt;
}

gdn_shape c_shape(const Shape& s) {
  return {s.hidden_size, s.num_k_heads, s.head_k_dim,   s.num_v_heads, s.head_v_dim,
          s.conv_kernel, s.num_layers,  s.rms_norm_eps, s.l2norm_eps};
}

gdn_layer_weights c_weights(const LayerWeights& weights) {
  gdn_layer_weights w = {};
  w.struct_size = sizeof w;
  w.qkv = weights.qkv.f32;
  w.z = weights.z.f32;
  w.out = weights.out.f32;
  w.b = weights.b.f32;
  w.a = weights.a.f32;
  w.conv = weights.conv.data();
  w.A_log = weights.A_log.data();
  w.dt_bias = weights.dt_bias.data();
  w.norm = weights.norm.data();
  return w;
}

gdn_options default_options() {
  gdn_options options = {};
  options.struct_size = sizeof options;
  options.observe = 1;
  return options;
}

namespace {

gdn_status open_handle(const EngineSource& engine, const Shape& shape, const gdn_options& options,
                       gdn_engine*& handle) {
  const gdn_shape c = c_shape(shape);
  const InCall now(engine.name, "open");
  return engine.api->open(&c, &options, &handle);
}

std::string words_after_open(const EngineSource& engine, const char* otherwise) {
  const InCall now(engine.name, "last_error");
  return words(engine.api->last_error(nullptr), otherwise);
}

void close_handle(const EngineSource& engine, gdn_engine* handle) {
  const InCall now(engine.name, "close");
  engine.api->close(handle);
}

}  // namespace

std::optional<Engine> Engine::open(const EngineSource& engine, const Shape& shape,
                                   const gdn_options& options, Verdict* why) {
  gdn_engine* handle = nullptr;
  const gdn_status status = open_handle(engine, shape, options, handle);
  if (status == GDN_OK && handle) {
    return Engine(
        std::make_unique<Open>(Open{{engine.name, engine.api, handle}, shown_calls(*engine.api)}));
  }
  *why = refusal(
      status, "open: " + std::string(name_of(status)) + ": " + words_after_open(engine, no_reason));
  return std::nullopt;
}

std::string why_not_available(const EngineSource& engine) {
  const Shape smallest{.hidden_size = 1,
                       .num_k_heads = 1,
                       .head_k_dim = 1,
                       .num_v_heads = 1,
                       .head_v_dim = 1,
                       .conv_kernel = 1};
  gdn_engine* handle = nullptr;
  const gdn_status status = open_handle(engine, smallest, default_options(), handle);
  if (status == GDN_OK && handle) close_handle(engine, handle);
  return status == GDN_NOT_AVAILABLE ? words_after_open(engine, no_reason) : "";
}

std::pair<gdn_status, std::string> opened(const EngineSource& engine, const Shape& shape) {
  gdn_engine* handle = nullptr;
  const gdn_status status = open_handle(engine, shape, default_options(), handle);
  const std::string text = status == GDN_OK ? "" : words_after_open(engine, "");
  if (handle) close_handle(engine, handle);
  return {status, text};
}

Engine::Engine(std::unique_ptr<Open> open) : open_(std::move(open)) {}

Engine::~Engine() {
  if (open_) open_->api.close(handle());
}

Engine::Engine(Engine&& other) noexcept = default;

std::string Engine::last_error() const { return words(open_->api.last_error(handle()), ""); }

}  // namespace gdn
