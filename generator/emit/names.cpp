#include "emit/names.h"

#include <cctype>

namespace kgen {
namespace {

// Keywords of C++ and CUDA, and macros of the headers that emitted files include.
constexpr const char *kReserved[] = {
    "alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char8_t",
    "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "const_cast",
    "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int",
    "long", "mutable", "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
    "xor", "I", "complex", "imaginary", "NAN", "INFINITY", "NULL", "EOF", "errno", "assert", "stdin", "stdout",
    "stderr", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t",
    "main", "std", "linux", "unix", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "workspace",
    "workspace_bytes", "stream", "item", "items", "status", "table_status", "lanes", "lane",
    // Functions of <cmath> and of CUDA that a variable would hide.
    "y0", "y1", "yn", "j0", "j1", "jn", "gamma", "signgam", "exp", "log", "sqrt", "floor", "ceil", "round", "trunc",
    "fma", "max", "min", "abs", "index", "maximum", "minimum", "saturate", "inside"};

} // namespace

Names::Names() {
  for (const char *name : kReserved)
    taken_.insert(name);
}

std::string Names::claim(const std::string &wish) {
  if (taken_.insert(wish).second)
    return wish;
  for (int n = 2;; ++n) {
    std::string name = wish + (n == 2 ? "_" : std::to_string(n));
    if (taken_.insert(name).second)
      return name;
  }
}

std::string lower_case(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

} // namespace kgen
