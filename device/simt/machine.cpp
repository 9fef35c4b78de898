// Launches: every block in turn, in rising or in a drawn order.
#include "device/simt/machine.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "device/simt/block.h"
#include "device/simt/memory.h"
#include "device/simt/random_order.h"

namespace gdn::simt {
namespace {

// What compute capability 9.0 and 12.0 take.
constexpr unsigned threads_max = 1024;
constexpr unsigned blocks_max = 0x7fffffff;
constexpr unsigned blocks_y_max = 65535;

Fault host_fault(const char* what, size_t bytes) {
  Fault fault;
  fault.kind = FaultKind::bad_host_access;
  fault.detail = std::string(what) + " " + std::to_string(bytes) + " bytes outside live memory";
  return fault;
}

std::string why_not(const LaunchShape& shape, const Options& options) {
  const auto between = [](const char* what, unsigned value, unsigned most) {
    if (value >= 1 && value <= most) return std::string();
    return std::to_string(value) + " " + what + ", but 1 to " + std::to_string(most) + " are taken";
  };
  std::string why = between("threads a block", shape.threads, threads_max);
  if (why.empty()) why = between("blocks", shape.blocks, blocks_max);
  if (why.empty()) why = between("blocks along y", shape.blocks_y, blocks_y_max);
  if (why.empty() && shape.shared_bytes > options.shared_bytes_max) {
    why = std::to_string(shape.shared_bytes) + " bytes of shared memory, but at most " +
          std::to_string(options.shared_bytes_max) + " are granted";
  }
  if (why.empty() && uint64_t{shape.blocks} * shape.blocks_y > blocks_max) {
    why = "more blocks than the simulator can number";
  }
  return why;
}

}  // namespace

struct Machine::Parts {
  explicit Parts(const Options& given) : options(given), memory(options), block(options, memory) {}
  Options options;
  Memory memory;
  Block block;
  uint32_t next_run = 1;
  uint32_t first_queued_run = 1;  // since the host last waited or touched memory
  uint32_t next_may_overlap = 1;  // runs from this one on, if the host does not wait

  Allocation* host_finds(const void* from, size_t bytes) {
    first_queued_run = next_run;
    return memory.find_live(from, bytes);
  }
};

Machine::Machine(const Options& options) : parts_(std::make_unique<Parts>(options)) {}
Machine::~Machine() = default;

void* Machine::allocate(size_t bytes, std::string_view name) {
  return parts_->memory.allocate(bytes, name);
}

std::optional<Fault> Machine::release(void* memory) {
  if (parts_->memory.release(memory)) return std::nullopt;
  Fault fault;
  fault.kind = FaultKind::bad_host_access;
  fault.detail = "release of what is no live allocation";
  return fault;
}

size_t Machine::allocation_count() const { return parts_->memory.live_count(); }
size_t Machine::allocated_bytes() const { return parts_->memory.live_bytes(); }

std::optional<Fault> Machine::write(void* to, const void* from_host, size_t bytes) {
  if (bytes == 0) return std::nullopt;
  Allocation* const target = parts_->host_finds(to, bytes);
  if (target == nullptr) return host_fault("write of", bytes);
  std::memcpy(to, from_host, bytes);
  if (parts_->options.checks) {
    target->shadow.mark_written(target->offset_of(to), bytes, true);
  }
  return std::nullopt;
}

std::optional<Fault> Machine::read(void* to_host, const void* from, size_t bytes) {
  if (bytes == 0) return std::nullopt;
  if (parts_->host_finds(from, bytes) == nullptr) return host_fault("read of", bytes);
  std::memcpy(to_host, from, bytes);
  return std::nullopt;
}

std::optional<Fault> Machine::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return std::nullopt;
  const Allocation* const source = parts_->host_finds(from, bytes);
  if (source == nullptr) return host_fault("copy from", bytes);
  Allocation* const target = parts_->host_finds(to, bytes);
  if (target == nullptr) return host_fault("copy to", bytes);
  std::memmove(to, from, bytes);
  if (parts_->options.checks) {
    target->shadow.copy_written(target->offset_of(to), source->shadow, source->offset_of(from),
                                bytes);
  }
  return std::nullopt;
}

std::optional<Fault> Machine::fill(void* to, uint32_t pattern, size_t bytes) {
  if (bytes == 0) return std::nullopt;
  Allocation* const target = parts_->host_finds(to, bytes);
  if (target == nullptr) return host_fault("fill of", bytes);
  Memory::fill(to, bytes, pattern);
  if (parts_->options.checks) {
    target->shadow.mark_written(target->offset_of(to), bytes, true);
  }
  return std::nullopt;
}

std::optional<Fault> Machine::poison(void* to, size_t bytes) {
  if (auto fault = fill(to, parts_->options.poison, bytes)) return fault;
  if (bytes > 0 && parts_->options.checks) {
    Allocation* const target = parts_->host_finds(to, bytes);
    target->shadow.mark_written(target->offset_of(to), bytes, false);
  }
  return std::nullopt;
}

void Machine::synchronise() { parts_->first_queued_run = parts_->next_run; }

std::optional<Fault> Machine::run(std::string_view kernel, void (*body)(const void*),
                                  const void* params, const LaunchShape& shape,
                                  const KernelTraits& traits) {
  const std::string why = why_not(shape, parts_->options);
  if (!why.empty()) {
    return Fault{FaultKind::bad_launch, std::string(kernel), std::nullopt, std::nullopt, why};
  }
  const uint32_t blocks = shape.blocks * shape.blocks_y;
  if (parts_->next_run > UINT32_MAX - blocks) {
    parts_->memory.forget_accesses();
    parts_->block.forget_accesses();
    parts_->next_run = 1;
    parts_->first_queued_run = 1;
    parts_->next_may_overlap = 1;
  }
  // A launch begins once each block of the one before has waited for those before that one, or
  // with it.
  const Launch launch{
      .kernel = kernel,
      .body = body,
      .params = params,
      .shape = shape,
      .by_steps = traits.by_steps,
      .first_run = parts_->next_run,
      .first_queued_run = parts_->first_queued_run,
      .first_overlapped_run = std::max(parts_->first_queued_run, parts_->next_may_overlap)};
  parts_->next_may_overlap =
      traits.next_begins_with_it ? launch.first_overlapped_run : launch.first_run;
  parts_->next_run += blocks;

  const uint64_t seed = parts_->options.order_seed;
  if (seed == 0) {
    for (uint32_t i = 0; i < blocks; ++i) {
      if (auto fault = parts_->block.run(launch, i, 0)) return fault;
    }
    return std::nullopt;
  }
  std::vector<uint32_t> turn(blocks);
  std::iota(turn.begin(), turn.end(), 0U);
  RandomOrder(seed ^ launch.first_run).shuffle(turn);
  for (const uint32_t i : turn) {
    if (auto fault = parts_->block.run(launch, i, seed)) return fault;
  }
  return std::nullopt;
}

}  // namespace gdn::simt
