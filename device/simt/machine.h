// A simulated GPU: memory, copies and launches, one after the other on the calling thread. What is
// wrong comes back as a fault, and the machine with its memory stays usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "device/kernels/launch_shape.h"
#include "device/simt/fault.h"
#include "device/simt/options.h"

namespace gdn::simt {

// What platform.h's runs_by_steps and next_begins_with_it say of a kernel.
struct KernelTraits {
  bool by_steps = false;
  bool next_begins_with_it = false;
};

class Machine {
 public:
  explicit Machine(const Options& options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Poisoned memory that counts as never written, aligned to 4096; nullptr where the system has no
  // more. The name stands in faults.
  void* allocate(size_t bytes, std::string_view name = "");
  [[nodiscard]] std::optional<Fault> release(void* memory);
  size_t allocation_count() const;  // not yet released
  size_t allocated_bytes() const;

  // Copies between the host and the machine, and within it. Reading to the host does not ask
  // whether the bytes were written.
  [[nodiscard]] std::optional<Fault> write(void* to, const void* from_host, size_t bytes);
  [[nodiscard]] std::optional<Fault> read(void* to_host, const void* from, size_t bytes);
  [[nodiscard]] std::optional<Fault> copy(void* to, const void* from, size_t bytes);
  // A pattern of 32 bits, repeated from `to` on.
  [[nodiscard]] std::optional<Fault> fill(void* to, uint32_t pattern, size_t bytes);
  // Poison again: the bytes count as never written.
  [[nodiscard]] std::optional<Fault> poison(void* to, size_t bytes);

  // body(params) runs once a thread, or, `by_steps`, once a block. platform.h's
  // launch<kernel>(machine, ...) calls this. Throws std::bad_alloc where the system has no memory
  // for stacks or records.
  [[nodiscard]] std::optional<Fault> run(std::string_view kernel, void (*body)(const void*),
                                         const void* params, const LaunchShape& shape,
                                         const KernelTraits& traits = {});
  // The host has waited for all launches: no later one overlaps them.
  void synchronise();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gdn::simt
