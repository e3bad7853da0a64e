#undef KGEN_SET_NUMBER
#define KGEN_SET_NUMBER {{number}}
#define KGEN_SET {{name}}
#define KGEN_SET_COMPILED KGEN_HAS_{{macro}}
#if KGEN_SET_COMPILED
KGEN_BEGIN_SET
#endif
{{#target}}
#if KGEN_SET_COMPILED && KGEN_GIVEN_SET < {{number}}  // its functions must be marked
#define IN_SET __attribute__((target(KGEN_{{macro}}_TARGET)))
KGEN_BEGIN_TARGET(KGEN_{{macro}}_TARGET)
#endif
{{/target}}
#if !defined(IN_SET)
#define IN_SET KGEN_AS_SET
#endif
