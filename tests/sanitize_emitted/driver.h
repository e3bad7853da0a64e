// Calls one emitted function with the arguments of recorded cases, under 1, 2 and 3 threads. Arrays start one element
// beyond an aligned address and have guard bytes around them; the address sanitizer sees the end of each as the end of
// its memory. What comes out must not depend on the number of threads.
#pragma once

#include <cstdint>
#include <type_traits>

struct Argument {
  void *pointer = nullptr;
  int64_t integer = 0;
  double number = 0;

  // Becomes whatever the parameter's type is.
  template <class T> operator T() const {
    if constexpr (std::is_pointer_v<T>)
      return static_cast<T>(pointer);
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(number);
    else
      return static_cast<T>(integer);
  }
};

struct Function {
  const char *name;
  int (*call)(const Argument *arguments, void *workspace, int64_t workspace_bytes);
  int64_t (*workspace)(const Argument *arguments); // null where the function needs none
};

// Runs all cases in the file; 0 if all is well, else 1 after a message.
int run_cases(const Function *functions, int count, const char *path);
