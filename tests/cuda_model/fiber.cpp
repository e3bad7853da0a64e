// Stacks and switches of fibers; see fiber.h.
#include "fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define CUDA_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_MODEL_ASAN 1
#endif
#endif
#ifdef CUDA_MODEL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_model {
namespace {

constexpr size_t kGuardBytes = 1 << 20; // as large as the frame of any one function
constexpr size_t kStagger = 320;
constexpr size_t kStaggerSteps = 48;

} // namespace

#ifndef CUDA_MODEL_UCONTEXT
extern "C" void cuda_model_switch(void **save_stack_pointer, void *stack_pointer);
asm(R"(
.text
.hidden cuda_model_switch
.globl cuda_model_switch
.type cuda_model_switch,@function
cuda_model_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cuda_model_switch,.-cuda_model_switch
)");
#endif

void make_fiber(Fiber *fiber, void (*entry)(), unsigned index) {
  void *area = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED || mprotect(area, kGuardBytes, PROT_NONE) != 0) {
    perror("cuda model: stack of a fiber");
    abort();
  }
  fiber->stack = static_cast<char *>(area) + kGuardBytes;
  fiber->stack_bytes = kStackBytes;
  char *top = fiber->stack + kStackBytes - index % kStaggerSteps * kStagger;
#ifdef CUDA_MODEL_UCONTEXT
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = static_cast<size_t>(top - fiber->stack);
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, entry, 0);
#else
  // As if `entry` had just been called: six saved registers, its address, and a return address of null.
  auto frame = reinterpret_cast<void **>(top) - 8;
  for (int i = 0; i < 8; ++i)
    frame[i] = nullptr;
  frame[6] = reinterpret_cast<void *>(entry);
  fiber->stack_pointer = frame;
#endif
}

void enter_fiber(Fiber *host) {
#ifdef CUDA_MODEL_ASAN
  const void *bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (!host->stack) {
    host->stack = static_cast<char *>(const_cast<void *>(bottom));
    host->stack_bytes = size;
  }
#else
  static_cast<void>(host);
#endif
}

void switch_fiber(Fiber *from, Fiber *to) {
#ifdef CUDA_MODEL_ASAN
  __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
#endif
#ifdef CUDA_MODEL_UCONTEXT
  swapcontext(&from->context, &to->context);
#else
  cuda_model_switch(&from->stack_pointer, to->stack_pointer);
#endif
#ifdef CUDA_MODEL_ASAN
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

bool below_stack(const Fiber &fiber, const void *address) {
  auto distance = reinterpret_cast<uintptr_t>(fiber.stack) - reinterpret_cast<uintptr_t>(address);
  return distance > 0 && distance <= kGuardBytes;
}

} // namespace cuda_model
