#include "{{header}}"
static_assert({{macro}} == {{revision}}, KGEN_OTHER_REVISION);
{{#sets}}
#include "{{file}}"
#include "{{header}}"
{{/sets}}
