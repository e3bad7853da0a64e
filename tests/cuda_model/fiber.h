// Fibers: stacks that a single host thread switches between. A switch saves the callee-saved registers and nothing else
// on x86-64; elsewhere (or with CUDA_MODEL_UCONTEXT) ucontext does the work, more slowly.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(CUDA_MODEL_UCONTEXT)
#define CUDA_MODEL_UCONTEXT 1
#endif
#ifdef CUDA_MODEL_UCONTEXT
#include <ucontext.h>
#endif

namespace cuda_model {

constexpr size_t kStackBytes = 256 << 10;

struct Fiber {
  char *stack = nullptr; // lowest byte; unmapped memory lies below it
  size_t stack_bytes = 0;
  void *stack_pointer = nullptr;
  void *fake_stack = nullptr; // the address sanitizer's
#ifdef CUDA_MODEL_UCONTEXT
  ucontext_t context;
#endif
};

// Gives `fiber` a stack on which the first switch enters `entry`, which never returns. `index` staggers the stacks'
// tops, which would otherwise share the same few cache lines.
void make_fiber(Fiber *fiber, void (*entry)(), unsigned index);
// To be called first thing in `entry`; `host` gets the bounds of the stack that switched here.
void enter_fiber(Fiber *host);
void switch_fiber(Fiber *from, Fiber *to);
bool below_stack(const Fiber &fiber, const void *address);

} // namespace cuda_model
