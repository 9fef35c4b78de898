// A stack of its own that runs one function at a time and can pause inside it. The caller of
// `resume` gets control back when the function pauses or returns; the next `resume` continues or
// starts afresh. All on one operating system thread; ASan is told of every switch.
#pragma once

#include <cstddef>

#include "device/simt/stack_switch.h"

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

// A switch is announced to ASan on the side that leaves and completed on the side that arrives;
// without ASan both announcements are empty.
inline void leave_for([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                      [[maybe_unused]] size_t bytes) {
#ifdef GDN_SIMT_ASAN
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}
inline void arrive_with([[maybe_unused]] void* fake_stack,
                        [[maybe_unused]] const void** bottom_left,
                        [[maybe_unused]] size_t* bytes_left) {
#ifdef GDN_SIMT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, bottom_left, bytes_left);
#endif
}

class Fiber : private PausedStack {
 public:
  // body(argument) runs once per start; it lets no exception out.
  Fiber(void (*body)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Both inline: after a switch the processor mispredicts each return of the frames that led to
  // it, so there should be few.
  void resume() {
    void* fake_stack = nullptr;
    leave_for(&fake_stack, bottom_, bytes_);
    exchange_stack(*this);
    arrive_with(fake_stack, nullptr, nullptr);
  }
  // From inside the body.
  void pause() {
    leave_for(&fake_stack_, back_bottom_, back_bytes_);
    exchange_stack(*this);
    arrive_with(fake_stack_, &back_bottom_, &back_bytes_);
  }

 private:
  static void enter(PausedStack& self);

  void (*body_)(void*);
  void* argument_;
  bool ending_ = false;
  void* mapping_;  // a guard page, then the stack
  void* bottom_;
  size_t bytes_;

  // What ASan keeps: of this stack while it is paused, and of the one that resumed it.
  void* fake_stack_ = nullptr;
  const void* back_bottom_ = nullptr;
  size_t back_bytes_ = 0;
};

}  // namespace gdn::simt
