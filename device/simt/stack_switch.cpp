// The exchange of stacks on x86-64, and the first entry to one.
#include "device/simt/stack_switch.h"

#include <cstdint>

#ifdef GDN_SIMT_OWN_SWITCH

// System V: a callee keeps rbx, rbp and r12 to r15. The first exchange returns into
// gdn_simt_enter_stack with the argument in r12 and the function in r13; unwinders stop there.
asm(R"(
.text
.globl gdn_simt_exchange_stack
.hidden gdn_simt_exchange_stack
.type gdn_simt_exchange_stack, @function
gdn_simt_exchange_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, %rax
  movq (%rdi), %rsp
  movq %rax, (%rdi)
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gdn_simt_exchange_stack, .-gdn_simt_exchange_stack

.globl gdn_simt_enter_stack
.hidden gdn_simt_enter_stack
.type gdn_simt_enter_stack, @function
gdn_simt_enter_stack:
.cfi_startproc
.cfi_undefined %rip
  movq %r12, %rdi
  call *%r13
  ud2
.cfi_endproc
.size gdn_simt_enter_stack, .-gdn_simt_enter_stack
)");

extern "C" [[gnu::visibility("hidden")]] void gdn_simt_enter_stack();

namespace gdn::simt {

// What the first exchange pops, from the stack's end down.
void* prepared_top(void* bottom, size_t bytes, PausedStack& stack, void (*entry)(PausedStack&)) {
  const auto end = (reinterpret_cast<uintptr_t>(bottom) + bytes) & ~uintptr_t{15};
  auto* top = reinterpret_cast<void**>(end);
  *--top = nullptr;  // two words keep the stack aligned where gdn_simt_enter_stack begins
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(gdn_simt_enter_stack);
  *--top = nullptr;                         // rbp
  *--top = nullptr;                         // rbx
  *--top = &stack;                          // r12
  *--top = reinterpret_cast<void*>(entry);  // r13
  *--top = nullptr;                         // r14
  *--top = nullptr;                         // r15
  return top;
}

}  // namespace gdn::simt

#endif
