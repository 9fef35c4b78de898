// Engines behind the C ABI: finding them, checking their tables, and owning an open one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/gdn.h"
#include "invariants/harness/call_in_progress.h"
#include "invariants/harness/description.h"
#include "invariants/harness/verdict.h"
#include "reference/shape.h"

namespace gdn {

struct LayerWeights;  // reference/layer.h

std::string_view name_of(gdn_status status);
// The statuses of device/gdn.h that say what is wrong with a call. Those behind them say that the
// engine cannot run, is lost or is at fault itself: one that breaks on a call has not refused it.
constexpr bool is_refusal(gdn_status status) {
  return status >= GDN_INVALID_ARGUMENT && status <= GDN_NO_TOKEN;
}
// What a call that was not served says of its engine: GDN_UNSUPPORTED is how it answers a valid
// request beyond what it serves, and so not_applicable; all else is engine_error.
Verdict refusal(gdn_status status, std::string detail);

// An engine that can be opened, and what it says of itself.
struct EngineSource {
  std::string name;  // as it was asked for: "twin", "mutant:error_before_decay", "./lib.so"
  const gdn_api* api = nullptr;
  Description description;
};

// A built-in engine by its name, a mutant as `mutant:NAME`, built in or one of the kernels, or a
// shared library by its path (it holds a slash or ends in .so). On failure *why says what was
// looked for and what there is.
std::optional<EngineSource> find_engine(std::string_view name_or_path, std::string* why);
// The same for a table in hand.
std::optional<EngineSource> use_engine(std::string name, const gdn_api* api, std::string* why);
// Why it cannot run here at all (GDN_NOT_AVAILABLE: no device, no driver), in its own words; empty
// if it can. Opens the smallest layer there is.
std::string why_not_available(const EngineSource& engine);
// The status of `open` for a shape as the C ABI takes it, and the engine's words where it refuses.
std::pair<gdn_status, std::string> opened(const EngineSource& engine, const Shape& shape);
std::vector<std::string> engine_names();  // built-in ones, then mutants, as find_engine takes them

// What is wrong with a table: version, size, name, a missing entry that all need; empty if nothing.
std::string why_unusable(const gdn_api* api);

gdn_shape c_shape(const Shape& shape);
// The float32 arrays, absent projections null; valid as long as `weights`.
gdn_layer_weights c_weights(const LayerWeights& weights);
gdn_options default_options();  // observe on, no snapshots, nothing optional

// An open engine; closed when it goes out of scope.
class Engine {
 public:
  // Nothing on failure; *why is a refusal with the status and the engine's own words.
  static std::optional<Engine> open(const EngineSource& engine, const Shape& shape,
                                    const gdn_options& options, Verdict* why);
  ~Engine();
  Engine(Engine&& other) noexcept;
  Engine& operator=(Engine&&) = delete;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // A table and a handle that belong together, and to nothing else: the calls are shown.
  const gdn_api& api() const { return open_->api; }
  gdn_engine* handle() const { return reinterpret_cast<gdn_engine*>(&open_->handle); }
  std::string last_error() const;  // made safe to print, as all that comes from an engine

 private:
  struct Open {
    ShownHandle handle;
    gdn_api api;
  };
  explicit Engine(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open_;
};

}  // namespace gdn
