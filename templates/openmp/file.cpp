{{{banner}}}
#include "{{kernel}}.h"

{{#includes}}
#include <{{name}}>
{{/includes}}

#if defined(_OPENMP)
#include <omp.h>
#define OMP(directive) _Pragma(#directive)
#else
#define OMP(directive)
#endif

namespace {

{{#helpers}}
{{{text}}}
{{/helpers}}
{{#kernels}}
{{{text}}}
{{/kernels}}
}  // namespace

{{#launchers}}
{{{text}}}
{{/launchers}}
