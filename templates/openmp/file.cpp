{{{banner}}}
#include "{{kernel}}.h"

#if !defined(KGEN_SET)
// This file includes itself: kernels are compiled for each set of instructions, and BY_SET calls the best ones.

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
