#include "{{header}}"
{{#sets}}
#include "{{file}}"
#include "{{header}}"
{{/sets}}

#if {{macro}} != {{revision}}
#error "{{name}} is not of this file's revision: write all kernels of its folder anew, by one run of kgen"
#endif
