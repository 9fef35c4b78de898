// Stacks and switches. A switch is announced to ASan on the side that leaves and completed on the
// side that arrives; without ASan both announcements are empty.
#include "device/simt/fiber.h"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define GDN_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GDN_SIMT_ASAN 1
#endif
#endif

#ifdef GDN_SIMT_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace gdn::simt {
namespace {

// Pages are touched as they are used; a guard page below ends a runaway recursion. ASan's red
// zones and unoptimised builds multiply the size of a frame.
constexpr size_t fiber_stack_bytes = 256 * 1024;

void leave_for([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
               [[maybe_unused]] size_t bytes) {
#ifdef GDN_SIMT_ASAN
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}

void arrive_with([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom_left,
                 [[maybe_unused]] size_t* bytes_left) {
#ifdef GDN_SIMT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, bottom_left, bytes_left);
#endif
}

}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument) : body_(body), argument_(argument) {
  boost::context::protected_fixedsize_stack allocator(fiber_stack_bytes);
  const boost::context::stack_context stack = allocator.allocate();
  stack_bytes_ = stack.size;
  stack_bottom_ = static_cast<const char*>(stack.sp) - stack.size;
  inside_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), allocator,
      [this](boost::context::fiber&& back) { return enter(std::move(back)); });
}

// A body that is still paused would be unwound by an exception that ASan cannot follow, so the
// owner lets every body return first, and the stack is left by its front door.
Fiber::~Fiber() {
  ending_ = true;
  resume();
}

void Fiber::resume() {
  void* fake_stack = nullptr;
  leave_for(&fake_stack, stack_bottom_, stack_bytes_);
  inside_ = std::move(inside_).resume();
  arrive_with(fake_stack, nullptr, nullptr);
}

void Fiber::pause() {
  leave_for(&inside_fake_stack_, back_bottom_, back_bytes_);
  back_ = std::move(back_).resume();
  arrived();
}

void Fiber::arrived() { arrive_with(inside_fake_stack_, &back_bottom_, &back_bytes_); }

boost::context::fiber Fiber::enter(boost::context::fiber back) {
  back_ = std::move(back);
  arrived();
  while (!ending_) {
    body_(argument_);
    pause();
  }
  leave_for(nullptr, back_bottom_, back_bytes_);  // nullptr: this stack is not returned to
  return std::move(back_);
}

}  // namespace gdn::simt
