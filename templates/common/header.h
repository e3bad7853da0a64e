{{{banner}}}
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

// All functions return 0, or a status that {{kernel}}_error explains. Arrays are dense and row-major unless strides are
// given, and need no alignment.{{{workspace_note}}}
{{{functions}}}
{{{sizes}}}
// What a status means.
const char* {{kernel}}_error(int status);

#if defined(__cplusplus)
}
#endif
