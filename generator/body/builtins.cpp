// Lookup in the two closed lists of the body language: what it adds to C++ and what it leaves out.
#include "body/builtins.h"

#include <algorithm>
#include <iterator>

namespace kgen::body {
namespace {

constexpr BuiltinRow kBuiltins[] = {
#define KGEN_BUILTIN(name, kind, values, takes) {#name, BuiltinKind::kind, values, takes},
#include "body/builtins.def"
#undef KGEN_BUILTIN
};

constexpr std::string_view kNoMemory = "use a local, a fixed-size local array or scratch";
constexpr std::string_view kNoExceptions = "nothing throws in a body; `assert(condition)` counts in the interpreter";
constexpr std::string_view kNoTypes = "a body computes with the arithmetic types only";
constexpr std::string_view kNoNames = "declare functions in `functions`; the names of the body need no scope";
constexpr std::string_view kNoStorage = "a value that lives across steps of the grid is `scratch`";
constexpr std::string_view kNoFlow = "use `if`, `for`, `while`, `break` and `continue`";
constexpr std::string_view kNoCast = "write `float(x)`; to keep the bits, `bitcast<int>(x)`";
constexpr std::string_view kNoMeta = "write the type, or `auto`";

constexpr RefusedWord kRefused[] = {
    {"new", kNoMemory},
    {"delete", kNoMemory},
    {"nullptr", kNoMemory},
    {"throw", kNoExceptions},
    {"try", kNoExceptions},
    {"noexcept", kNoExceptions},
    {"static_assert", kNoExceptions},
    {"class", kNoTypes},
    {"struct", kNoTypes},
    {"union", kNoTypes},
    {"enum", kNoTypes},
    {"typedef", kNoTypes},
    {"this", kNoTypes},
    {"virtual", kNoTypes},
    {"explicit", kNoTypes},
    {"friend", kNoTypes},
    {"private", kNoTypes},
    {"protected", kNoTypes},
    {"public", kNoTypes},
    {"operator", kNoTypes},
    {"wchar_t", kNoTypes},
    {"char8_t", kNoTypes},
    {"char16_t", kNoTypes},
    {"char32_t", kNoTypes},
    {"char", "write `int8_t` or `uint8_t`"},
    {"namespace", kNoNames},
    {"using", kNoNames},
    {"import", kNoNames},
    {"export", kNoNames},
    {"::", kNoNames},
    {"static", kNoStorage},
    {"thread_local", kNoStorage},
    {"extern", kNoStorage},
    {"register", kNoStorage},
    {"volatile", kNoStorage},
    {"mutable", kNoStorage},
    {"constinit", kNoStorage},
    {"goto", kNoFlow},
    {"switch", kNoFlow},
    {"do", "write `while (true) { ...; if (!condition) break; }`, or repeat the statements before a `while`"},
    {"co_await", kNoFlow},
    {"co_return", kNoFlow},
    {"co_yield", kNoFlow},
    {"asm", "every operation has a name: see the list of builtins"},
    {"reinterpret_cast", kNoCast},
    {"const_cast", kNoCast},
    {"dynamic_cast", kNoCast},
    {"sizeof", "`size(A)` is the size of an axis"},
    {"alignof", kNoMeta},
    {"alignas", kNoMeta},
    {"decltype", kNoMeta},
    {"typeid", kNoMeta},
    {"typename", "write `template <class V>`"},
    {"requires", kNoMeta},
    {"concept", kNoMeta},
    {"consteval", kNoMeta},
    {"...", "write each parameter"},
};

} // namespace

std::span<const BuiltinRow> builtins() { return kBuiltins; }

const BuiltinRow *find_builtin(std::string_view name) {
  const auto *found = std::ranges::find(kBuiltins, name, &BuiltinRow::name);
  return found == std::end(kBuiltins) ? nullptr : found;
}

const RefusedWord *find_refused_word(std::string_view word) {
  const auto *found = std::ranges::find(kRefused, word, &RefusedWord::word);
  return found == std::end(kRefused) ? nullptr : found;
}

} // namespace kgen::body
