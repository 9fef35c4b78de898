// The engine over simulated GPUs. A fault that the simulator finds stops the call as GDN_INTERNAL
// with its text; the simulated device goes on, and the engine puts the state back.
#include "device/engines/simt.h"

#include <cinttypes>
#include <cstring>
#include <new>
#include <variant>
#include <vector>

#include "device/engines/registry.h"
#include "device/host/api.h"
#include "device/host/kernel_table.h"
#include "device/host/memory.h"
#include "device/simt/machine.h"

namespace gdn::host {
namespace {

using simt::Fault;
using simt::Machine;

struct Kernel {
  std::optional<Fault> (*launch)(Machine&, const LaunchShape&, const void* params) = nullptr;
  size_t params_bytes = 0;
};

template <auto kernel>
struct SimulatedKernel {
  static std::optional<Fault> run(Machine& machine, const LaunchShape& shape, const void* params) {
    return launch<kernel>(machine, shape, *static_cast<const Params<kernel>*>(params));
  }
  static constexpr Kernel value = {run, sizeof(Params<kernel>)};
};
constexpr auto kernels_by_id = kernel_table<Kernel, SimulatedKernel>();

// The largest params struct, and its alignment.
constexpr size_t params_bytes_max = 384;

struct Launch {
  const Kernel* kernel;
  LaunchShape shape;
  alignas(16) unsigned char params[params_bytes_max];
};
struct Copy {
  void* to;
  const void* from;
  uint64_t bytes;
};
struct Zero {
  void* to;
  uint64_t bytes;
};
using Work = std::variant<Launch, Copy, Zero>;

struct Recorded final : Graph {
  std::vector<Work> work;
};

Status status_of(const std::optional<Fault>& fault) {
  return fault ? failure(GDN_INTERNAL, "%s", fault->text().c_str()) : Status{};
}

simt::Options machine_options(const BackendOptions& options, bool checks) {
  simt::Options wanted;
  wanted.checks = checks;
  if (options.fill) {
    wanted.poison = options.fill_pattern;
    wanted.poison_bytes_max = SIZE_MAX;
  }
  return wanted;
}

class SimtBackend final : public Backend {
 public:
  SimtBackend(const BackendOptions& options, bool checks)
      : machine_(machine_options(options, checks)) {}

  Status allocate(uint64_t bytes, Use use, const char* name, void** memory) override;
  Status release(void* memory) override;
  Status write(void* to, const void* from_host, uint64_t bytes) override {
    return status_of(machine_.write(to, from_host, bytes));
  }
  Status read(void* to_host, const void* from, uint64_t bytes) override {
    return status_of(machine_.read(to_host, from, bytes));
  }
  Status copy(void* to, const void* from, uint64_t bytes) override {
    return run_or_record(Copy{to, from, bytes});
  }
  Status zero(void* to, uint64_t bytes) override { return run_or_record(Zero{to, bytes}); }
  Status launch(KernelId id, const LaunchShape& shape, const void* params,
                size_t params_bytes) override;
  Status synchronise() override {
    machine_.synchronise();
    return {};
  }

  Status begin_capture() override;
  Status end_capture(std::unique_ptr<Graph>* graph) override;
  Status replay(const Graph& graph) override;
  bool replay_is_atomic() const override { return false; }

 private:
  Status run_or_record(const Work& work);
  Status run(const Work& work);

  Machine machine_;
  std::unique_ptr<Recorded> recording_;
};

// What is written whole must fit into this machine: Linux grants more and kills the process once
// it is touched.
Status SimtBackend::allocate(uint64_t bytes, Use use, const char* name, void** memory) {
  const uint64_t held = machine_.allocated_bytes();
  const bool fits =
      bytes <= physical_bytes() && (use == Use::sparse || held <= physical_bytes() - bytes);
  *memory = fits ? machine_.allocate(bytes, name) : nullptr;
  if (*memory != nullptr) return {};
  return failure(GDN_OUT_OF_MEMORY,
                 "%s: the simulated device has no %" PRIu64 " bytes beside the %" PRIu64
                 " it holds",
                 name, bytes, held);
}

Status SimtBackend::release(void* memory) { return status_of(machine_.release(memory)); }

Status SimtBackend::launch(KernelId id, const LaunchShape& shape, const void* params,
                           size_t params_bytes) {
  const Kernel& kernel = kernels_by_id[static_cast<size_t>(id)];
  if (params_bytes != kernel.params_bytes || params_bytes > params_bytes_max) {
    return failure(GDN_INTERNAL, "kernel %d takes %zu bytes of parameters, got %zu",
                   static_cast<int>(id), kernel.params_bytes, params_bytes);
  }
  Launch made = {&kernel, shape, {}};
  std::memcpy(made.params, params, params_bytes);
  return run_or_record(made);
}

Status SimtBackend::run_or_record(const Work& work) {
  if (recording_ == nullptr) return run(work);
  recording_->work.push_back(work);
  return {};
}

Status SimtBackend::run(const Work& work) {
  if (const auto* const made = std::get_if<Launch>(&work)) {
    return status_of(made->kernel->launch(machine_, made->shape, made->params));
  }
  if (const auto* const made = std::get_if<Copy>(&work)) {
    return status_of(machine_.copy(made->to, made->from, made->bytes));
  }
  const Zero& made = std::get<Zero>(work);
  return status_of(machine_.fill(made.to, 0, made.bytes));
}

Status SimtBackend::begin_capture() {
  recording_ = std::make_unique<Recorded>();
  return {};
}

Status SimtBackend::end_capture(std::unique_ptr<Graph>* graph) {
  *graph = std::move(recording_);
  return {};
}

Status SimtBackend::replay(const Graph& graph) {
  for (const Work& work : static_cast<const Recorded&>(graph).work) {
    const Status status = run(work);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status make_simt(const BackendOptions& options, std::unique_ptr<Backend>* backend) {
  *backend = std::make_unique<SimtBackend>(options, false);
  return {};
}

Status make_simt_checked(const BackendOptions& options, std::unique_ptr<Backend>* backend) {
  *backend = std::make_unique<SimtBackend>(options, true);
  return {};
}

namespace {

constexpr char simt_name[] = "simt";
constexpr char simt_checked_name[] = "simt_checked";
const EngineRegistrar registered{host_engine<simt_name, make_simt>()};
const EngineRegistrar registered_checked{host_engine<simt_checked_name, make_simt_checked>()};

}  // namespace
}  // namespace gdn::host
