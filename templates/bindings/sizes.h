// Sizes round down, and a division by 0 gives 0.
inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
inline int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }
