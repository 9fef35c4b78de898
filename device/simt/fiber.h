// A stack of its own that runs one function at a time and can pause inside it. The caller of
// `resume` gets control back when the function pauses or returns; the next `resume` continues or
// starts afresh. All on one operating system thread; ASan is told of every switch.
#pragma once

#include <cstddef>
#include <memory>

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
  // Runs once per start; lets no exception out. At its end the fiber that it gives goes on, or,
  // where it gives none, whoever resumed last.
  using Body = Fiber* (*)();

  explicit Fiber(Body body);
  ~Fiber();  // its body has returned
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // All inline: after a switch the processor mispredicts each return of the frames that led to it,
  // so there should be few.
  [[gnu::always_inline]] void resume() {
    void* fake_stack = nullptr;
    is_resumed_ = true;
    leave_for(&fake_stack, bottom_, bytes_);
    exchange_stack(*this);
    arrive_with(fake_stack, nullptr, nullptr);
  }
  // From inside the body.
  [[gnu::always_inline]] void pause() {
    leave_for(&fake_stack_, back_bottom_, back_bytes_);
    exchange_stack(*this);
    arrive();
  }
  // Pauses, and `next` goes on in its place: when that pauses, whoever resumed this one does.
  [[gnu::always_inline]] void pause_for(Fiber& next) {
#ifdef GDN_SIMT_ASAN
    next.is_resumed_ = false;
    next.back_bottom_ = back_bottom_;
    next.back_bytes_ = back_bytes_;
#endif
    leave_for(&fake_stack_, next.bottom_, next.bytes_);
    hand_over(*this, next);
    arrive();
  }

 private:
  static void enter(PausedStack& self);

  void arrive() {
#ifdef GDN_SIMT_ASAN
    const void* left_bottom = back_bottom_;
    size_t left_bytes = back_bytes_;
    arrive_with(fake_stack_, &left_bottom, &left_bytes);
    if (!is_resumed_) return;
    back_bottom_ = left_bottom;
    back_bytes_ = left_bytes;
#endif
  }

  Body body_;
  bool ending_ = false;
  bool is_resumed_ = false;  // rather than handed over to
  void* mapping_;            // a guard page, then the stack
  void* bottom_;
  size_t bytes_;

  // What ASan keeps: of this stack while it is paused, and of the one that goes on when it pauses.
  void* fake_stack_ = nullptr;
  const void* back_bottom_ = nullptr;
  size_t back_bytes_ = 0;
};

}  // namespace gdn::simt
