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

using namespace {{helper_namespace}};

{{#kernels}}
{{{text}}}
{{/kernels}}
}  // namespace KGEN_SET
}  // namespace
#endif
