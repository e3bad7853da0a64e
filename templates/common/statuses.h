// A status is 0, or says what is wrong. It is the same for all kernels: bits 0 to 7 are one of these kinds; bits 8 to 17
// the argument that it is about, counted from 1 (0: none); bits 18 to 27 a second one, where two arrays overlap.
#ifndef KGEN_STATUSES
#define KGEN_STATUSES
{{#kinds}}
#define {{name}} {{number}}  // {{{text}}}
{{/kinds}}
#endif
