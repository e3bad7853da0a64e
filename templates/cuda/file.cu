{{{banner}}}
#include "{{kernel}}.h"

{{#includes}}
#include <{{name}}>
{{/includes}}

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
