// A fiber's stack, and its life from first entry to last exit.
#include "device/simt/fiber.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace gdn::simt {
namespace {

// Pages are touched as they are used; a guard page below ends a runaway recursion. ASan's red
// zones and unoptimised builds multiply the size of a frame.
constexpr size_t stack_bytes = 256 * 1024;
constexpr size_t guard_bytes = 4096;

}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument)
    : body_(body), argument_(argument), bytes_(stack_bytes) {
  mapping_ = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping_, guard_bytes, PROT_NONE);
  bottom_ = static_cast<char*>(mapping_) + guard_bytes;
  prepare_stack<enter>(*this, bottom_, bytes_);
}

// The body has returned: its owner sees to that. Entered once more, the fiber leaves for good.
Fiber::~Fiber() {
  ending_ = true;
  resume();
  munmap(mapping_, guard_bytes + stack_bytes);
}

void Fiber::enter(PausedStack& self) {
  auto& fiber = static_cast<Fiber&>(self);
  arrive_with(nullptr, &fiber.back_bottom_, &fiber.back_bytes_);
  while (!fiber.ending_) {
    fiber.body_(fiber.argument_);
    fiber.pause();
  }
  leave_for(nullptr, fiber.back_bottom_, fiber.back_bytes_);  // nullptr: nothing comes back here
  exchange_stack(fiber);
  std::abort();  // unreachable: the owner has unmapped this stack
}

}  // namespace gdn::simt
