#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "NaN, infinities, -0 and the order of sums count here: compile without -ffast-math and what it stands for"
#endif
#if defined(__clang__)
#pragma float_control(precise, on)  // for the parts of -ffast-math that no macro tells of
#endif
