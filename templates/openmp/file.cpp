{{{banner}}}
#include "{{kernel}}.h"

#if !defined(KGEN_SET)
// This file includes itself, so that its kernels are compiled for each set of instructions.

{{#includes}}
#include <{{name}}>
{{/includes}}

{{{helpers}}}
#elif KGEN_SET_COMPILED

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

#if !defined(KGEN_SET)

{{{launchers}}}

#endif
