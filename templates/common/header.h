{{{banner}}}
#pragma once

#include <stdbool.h>
#include <stdint.h>

{{{contract}}}
{{{statuses}}}
#if defined(__cplusplus)
extern "C" {
#endif

{{{functions}}}
{{{sizes}}}
#if defined(__cplusplus)
}

// The arguments by name, so that no two sizes are swapped. Their overloads hide no C function.
{{{structs}}}
#endif

// What a status means.
static inline const char* {{kernel}}_error(int status) {
{{#kinds}}
  {{{text}}}
{{/kinds}}
  switch (status) {
    case 0: return "success";
{{#messages}}
    case {{{label}}}: return "{{{text}}}";
{{/messages}}
    default: return "unknown status";
  }
}
