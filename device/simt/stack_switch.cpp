// The first entry to a stack on x86-64.
#include "device/simt/stack_switch.h"

#include <cstdint>

#ifdef GDN_SIMT_OWN_SWITCH

// The first switch jumps here; the argument and the function lie on the stack. Unwinders stop here.
asm(R"(
.text
.globl gdn_simt_enter_stack
.hidden gdn_simt_enter_stack
.type gdn_simt_enter_stack, @function
gdn_simt_enter_stack:
.cfi_startproc
.cfi_undefined %rip
  popq %rdi
  popq %rax
  xorl %ebp, %ebp
  call *%rax
  ud2
.cfi_endproc
.size gdn_simt_enter_stack, .-gdn_simt_enter_stack
)");

extern "C" [[gnu::visibility("hidden")]] void gdn_simt_enter_stack();

namespace gdn::simt {

// What the first switch and gdn_simt_enter_stack pop, from the stack's end down.
void* prepared_top(void* bottom, size_t bytes, PausedStack& stack, void (*entry)(PausedStack&)) {
  const auto end = (reinterpret_cast<uintptr_t>(bottom) + bytes) & ~uintptr_t{15};
  auto* top = reinterpret_cast<void**>(end);
  *--top = nullptr;  // two words keep the stack aligned where the entry is called
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  *--top = &stack;
  *--top = reinterpret_cast<void*>(gdn_simt_enter_stack);
  return top;
}

}  // namespace gdn::simt

#endif
