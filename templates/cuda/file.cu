{{{banner}}}
#include "{{kernel}}.h"

{{#includes}}
#include <{{name}}>
{{/includes}}

{{{helpers}}}

namespace {

{{#helper_namespace}}
using namespace {{name}};
{{/helper_namespace}}

{{#kernels}}
{{{text}}}
{{/kernels}}
}  // namespace

{{{launchers}}}
