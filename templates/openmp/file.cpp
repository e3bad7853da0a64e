{{{banner}}}
#include "{{kernel}}.h"

#if !defined(KGEN_SET)
// This file includes itself: its kernels are compiled for each set of instructions; BY_SET calls the best.

{{#includes}}
#include <{{name}}>
{{/includes}}

{{{helpers}}}

{{{launchers}}}#elif KGEN_SET_COMPILED

{{{set_helpers}}}
namespace {
namespace KGEN_SET {

using namespace kgen_openmp;
{{#set_namespace}}
using namespace kgen_openmp::KGEN_SET;
{{/set_namespace}}

{{#kernels}}
{{{text}}}
{{/kernels}}
}  // namespace KGEN_SET
}  // namespace
#endif
