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

// A stack that is not running: where its registers are kept.
struct PausedStack {
  void* top = nullptr;
};

#ifdef GDN_SIMT_OWN_SWITCH

extern "C" [[gnu::visibility("hidden")]] void gdn_simt_exchange_stack(void** top);
void* prepared_top(void* bottom, size_t bytes, PausedStack& stack, void (*entry)(PausedStack&));

// Goes on with the paused stack, and leaves the running one paused in its place; returns when
// somebody exchanges again.
inline void exchange_stack(PausedStack& stack) { gdn_simt_exchange_stack(&stack.top); }

// A stack that will go on with entry(stack), which must not return.
template <void (*entry)(PausedStack&)>
void prepare_stack(PausedStack& stack, void* bottom, size_t bytes) {
  stack.top = prepared_top(bottom, bytes, stack, entry);
}

#else

inline void exchange_stack(PausedStack& stack) {
  stack.top = boost::context::detail::jump_fcontext(stack.top, &stack).fctx;
}

template <void (*entry)(PausedStack&)>
void prepare_stack(PausedStack& stack, void* bottom, size_t bytes) {
  const auto arrive = [](boost::context::detail::transfer_t from) {
    auto& self = *static_cast<PausedStack*>(from.data);
    self.top = from.fctx;
    entry(self);
  };
  stack.top =
      boost::context::detail::make_fcontext(static_cast<char*>(bottom) + bytes, bytes, arrive);
}

#endif

}  // namespace gdn::simt
