// Leaving one stack for another. On x86-64 by hand: Boost.Context also keeps the floating-point
// control words, which waits for every operation under way and costs more than all the rest, and
// all stacks here run under the same words. Elsewhere, or if asked for, by Boost.Context.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && !defined(GDN_SIMT_BOOST_CONTEXT)
#define GDN_SIMT_OWN_SWITCH 1
#else
#include <boost/context/detail/fcontext.hpp>
#endif

namespace gdn::simt {

// A stack that is not running: where its registers are kept. While it runs, those of whoever goes
// on when it pauses. What a switch touches lies in one line of a cache.
struct alignas(64) PausedStack {
  void* top = nullptr;
};

#ifdef GDN_SIMT_OWN_SWITCH

void* prepared_top(void* bottom, size_t bytes, PausedStack& stack, void (*entry)(PausedStack&));

// Leaves the running stack, whose place goes to *left, for the one at `top`; returns when somebody
// goes on with it. In line, and by a jump: a call that is left on one stack and a return that is
// made on another put the processor's own stack of return addresses out of step, and each return
// after it is mispredicted. The compiler is told that all registers are lost, so that it keeps what
// it needs; below the stack's end lies its red zone.
[[gnu::always_inline]] inline void switch_stacks(void** left, void* top) {
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rsi, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(left), "+S"(top)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

// A stack that will go on with entry(stack), which must not return.
template <void (*entry)(PausedStack&)>
void prepare_stack(PausedStack& stack, void* bottom, size_t bytes) {
  stack.top = prepared_top(bottom, bytes, stack, entry);
}

#else

// Whoever is gone on with is told where the place of the one who left goes.
inline void switch_stacks(void** left, void* top) {
  const auto from = boost::context::detail::jump_fcontext(top, left);
  *static_cast<void**>(from.data) = from.fctx;
}

// Entered once at once, to be told which stack it is.
template <void (*entry)(PausedStack&)>
void prepare_stack(PausedStack& stack, void* bottom, size_t bytes) {
  const auto arrive = [](boost::context::detail::transfer_t from) {
    auto& self = *static_cast<PausedStack*>(from.data);
    from = boost::context::detail::jump_fcontext(from.fctx, nullptr);
    *static_cast<void**>(from.data) = from.fctx;
    entry(self);
  };
  void* const fresh =
      boost::context::detail::make_fcontext(static_cast<char*>(bottom) + bytes, bytes, arrive);
  stack.top = boost::context::detail::jump_fcontext(fresh, &stack).fctx;
}

#endif

// Goes on with the paused stack, and leaves the running one paused in its place; returns when
// somebody exchanges again.
[[gnu::always_inline]] inline void exchange_stack(PausedStack& stack) {
  switch_stacks(&stack.top, stack.top);
}

// The running stack, `self`, pauses and `next` goes on; who would have gone on after `self` does so
// when `next` pauses.
[[gnu::always_inline]] inline void hand_over(PausedStack& self, PausedStack& next) {
  void* const top = next.top;
  next.top = self.top;
  switch_stacks(&self.top, top);
}

}  // namespace gdn::simt
