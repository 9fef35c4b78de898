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

// A stack's end lies at another line of its page in each fiber: at the same one, all would share
// the few lines of the first cache that this place of a page has. What a kernel uses of it, a
// quarter of a page, lies in one page.
size_t next_color() {
  constexpr size_t line_bytes = 64, colors = 48, step = 5;  // prime to each other
  static thread_local size_t made = 0;
  return made++ * step % colors * line_bytes;
}

}  // namespace

Fiber::Fiber(Body body) : body_(body), bytes_(stack_bytes - next_color()) {
  mapping_ = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping_, guard_bytes, PROT_NONE);
  bottom_ = static_cast<char*>(mapping_) + guard_bytes;
  prepare_stack<enter>(*this, bottom_, bytes_);
}

// Entered once more, the fiber leaves for good.
Fiber::~Fiber() {
  ending_ = true;
  resume();
  munmap(mapping_, guard_bytes + stack_bytes);
}

void Fiber::enter(PausedStack& self) {
  auto& fiber = static_cast<Fiber&>(self);
  fiber.arrive();
  while (!fiber.ending_) {
    Fiber* const next = fiber.body_();
    if (next != nullptr) {
      fiber.pause_for(*next);
    } else {
      fiber.pause();
    }
  }
  leave_for(nullptr, fiber.back_bottom_, fiber.back_bytes_);  // nullptr: nothing comes back here
  exchange_stack(fiber);
  std::abort();  // unreachable: the owner has unmapped this stack
}

}  // namespace gdn::simt
