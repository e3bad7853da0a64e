// What a body sees, besides the operands, axes and grid dimensions that kgen declares for each spec.
// These declarations only give every call its type: they accept any arguments, so that kgen itself can say what is
// wrong with a call, in the user's words. Which arguments a builtin takes is in builtins.def. Names that start with
// kgen_ are out of a body's reach. Nothing here has a definition: nothing is ever run.
namespace kgen {
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long;
using uint64_t = unsigned long;

// `H = e` among the arguments of at and inside.
struct kgen_coordinate {};
// where(condition)
struct kgen_where {};
// One type per axis and per grid dimension, so that they cannot be mistaken for each other. The conversions give the
// index in a coordinate and the step of the grid; elsewhere kgen refuses the axis.
template <int Id> struct kgen_axis {
  template <class E> kgen_coordinate operator=(E) const;
  operator int64_t() const;
};
template <int Id> struct kgen_grid {
  operator int64_t() const;
};
// A function's axis parameter: any axis converts to it.
struct axis {
  template <int Id> axis(kgen_axis<Id>);
  template <class E> kgen_coordinate operator=(E) const;
  operator int64_t() const;
};
// In companions alone: several axes and where as the argument for one axis parameter.
template <class... A> axis kgen_axes(A...);
// Tables: t[i], t[i][j].
template <class T, int Rank> struct kgen_table {
  template <class I> kgen_table<T, Rank - 1> operator[](I) const;
};
template <class T> struct kgen_table<T, 1> {
  template <class I> T operator[](I) const;
};

extern const float inf;
extern const float nan;

template <bool B, class X, class Y> struct kgen_if {
  using type = X;
};
template <class X, class Y> struct kgen_if<false, X, Y> {
  using type = Y;
};
template <bool B, class X, class Y> using kgen_choose = typename kgen_if<B, X, Y>::type;

template <class T> constexpr bool kgen_is_axis = false;
template <int Id> constexpr bool kgen_is_axis<kgen_axis<Id>> = true;
template <> constexpr bool kgen_is_axis<axis> = true;
template <class T>
concept kgen_an_axis = kgen_is_axis<T>;
template <class T> constexpr bool kgen_is_float = __is_floating_point(T);
template <class T> constexpr bool kgen_is_short = sizeof(T) <= 2;
template <class T> constexpr bool kgen_is_unsigned = __is_unsigned(T) && !__is_same(T, bool);

// What an argument is as a value: an axis or a grid dimension is its index.
template <class T> using kgen_value = kgen_choose<__is_arithmetic(T), T, int64_t>;
// Maths: float, or double where an argument is one.
template <class... A> using kgen_real = kgen_choose<(false || ... || __is_same(A, double)), double, float>;
// The common type; several of one type keep it, small integers too.
template <class T, class... A> struct kgen_common {
  using type = T;
};
template <class T, class U, class... A> struct kgen_common<T, U, A...> {
  using both = kgen_choose<__is_same(T, U) && !__is_same(T, bool), T, decltype(T() + U())>;
  using type = typename kgen_common<both, A...>::type;
};
template <class... A> struct kgen_keep {
  using type = float;
};
template <class T, class... A> struct kgen_keep<T, A...> {
  using type = typename kgen_common<kgen_value<T>, kgen_value<A>...>::type;
};
// One value: its own type, but for bool.
template <class... A> struct kgen_own {
  using type = float;
};
template <class T, class... A> struct kgen_own<T, A...> {
  using type = kgen_choose<__is_same(T, bool), int, kgen_value<T>>;
};
// max and min: of two values, or of one along axes.
template <class... A> struct kgen_extreme {
  using type = float;
};
template <class T, class... A> struct kgen_extreme<T, A...> {
  using type = kgen_value<T>;
};
template <class T, class U> struct kgen_extreme<T, U> {
  using type = kgen_choose<kgen_is_axis<U> || __is_same(U, kgen_where), kgen_value<T>,
                           typename kgen_common<kgen_value<T>, kgen_value<U>>::type>;
};
// What sums are accumulated in.
template <class T>
using kgen_wide = kgen_choose<kgen_is_float<T>, T,
                              kgen_choose<kgen_is_unsigned<T>, kgen_choose<kgen_is_short<T>, uint32_t, uint64_t>,
                                          kgen_choose<kgen_is_short<T> && !__is_same(T, bool), int32_t, int64_t>>>;
template <class... A> struct kgen_sum {
  using type = float;
};
template <class T, class... A> struct kgen_sum<T, A...> {
  using type = kgen_wide<kgen_value<T>>;
};
// Of the factors of dot: the axes and where that follow them count as bool, which changes nothing.
template <class T> using kgen_factor = kgen_choose<__is_arithmetic(T), T, bool>;
template <class... T>
using kgen_product =
    kgen_choose<(false || ... || kgen_is_float<T>), kgen_real<T...>,
                kgen_choose<(true && ... && kgen_is_short<T>),
                            kgen_choose<(false || ... || kgen_is_unsigned<T>) &&
                                            (true && ... && (kgen_is_unsigned<T> || __is_same(T, bool))),
                                        uint32_t, int32_t>,
                            kgen_choose<(true && ... && (kgen_is_unsigned<T> || __is_same(T, bool))) ||
                                            (false || ... || __is_same(T, uint64_t)),
                                        uint64_t, int64_t>>>;
template <class... A> struct kgen_second {
  using type = float;
};
template <class T, class U, class... A> struct kgen_second<T, U, A...> {
  using type = kgen_value<U>;
};

// Along axes.
template <class... A> typename kgen_sum<A...>::type sum(A...);
template <class... A> typename kgen_sum<A...>::type prod(A...);
template <class... A> typename kgen_extreme<A...>::type max(A...);
template <class... A> typename kgen_extreme<A...>::type min(A...);
template <class... A> kgen_real<A...> mean(A...);
template <class... A> bool any(A...);
template <class... A> bool all(A...);
template <class... A> int64_t argmax(A...);
template <class... A> int64_t argmin(A...);
template <class... A> kgen_product<kgen_factor<A>...> dot(A...);
template <class... A> typename kgen_sum<A...>::type cumsum(A...);
template <class... A> typename kgen_sum<A...>::type cumsum_reverse(A...);
template <class... A> typename kgen_sum<A...>::type cumsum_exclusive(A...);
template <class... A> typename kgen_sum<A...>::type cumsum_reverse_exclusive(A...);
template <class... A> typename kgen_sum<A...>::type cumprod(A...);
template <class... A> typename kgen_sum<A...>::type cumprod_reverse(A...);
template <class... A> typename kgen_sum<A...>::type cumprod_exclusive(A...);
template <class... A> typename kgen_sum<A...>::type cumprod_reverse_exclusive(A...);
template <class... A> typename kgen_extreme<A...>::type cummax(A...);
template <class... A> typename kgen_extreme<A...>::type cummax_reverse(A...);
template <class... A> typename kgen_extreme<A...>::type cummax_exclusive(A...);
template <class... A> typename kgen_extreme<A...>::type cummax_reverse_exclusive(A...);
template <class... A> kgen_real<A...> linrec(A...);
template <class... A> kgen_real<A...> linrec_reverse(A...);
template <class... A> kgen_where where(A...);

// Elements and places.
template <class T, class... A> T &&at(T &&, A...);
template <class... A> bool inside(A...);
template <class... A> int64_t index(A...);
template <class... A> int64_t size(A...);
template <class... A> int64_t block(A...);
template <class... A> bool first(A...);
template <class... A> bool last(A...);
template <class... A> bool present(A...);
template <class... A> void assert(A...);
template <class... A> void print(A...);
template <class... A> void require(A...);

// One element's maths.
template <class... A> typename kgen_second<A...>::type round_like(A...);
template <class T, class... A> T bitcast(A...);
template <class... A> float random(A...);
template <class... A> uint32_t random_bits(A...);
template <class... A> typename kgen_keep<A...>::type clamp(A...);
template <class... A> typename kgen_own<A...>::type abs(A...);
template <class... A> typename kgen_own<A...>::type sign(A...);
template <class... A> typename kgen_own<A...>::type popcount(A...);
template <class... A> bool isnan(A...);
template <class... A> bool isinf(A...);
template <class... A> kgen_real<A...> exp(A...);
template <class... A> kgen_real<A...> exp2(A...);
template <class... A> kgen_real<A...> expm1(A...);
template <class... A> kgen_real<A...> log(A...);
template <class... A> kgen_real<A...> log2(A...);
template <class... A> kgen_real<A...> log1p(A...);
template <class... A> kgen_real<A...> sqrt(A...);
template <class... A> kgen_real<A...> rsqrt(A...);
template <class... A> kgen_real<A...> cbrt(A...);
template <class... A> kgen_real<A...> tanh(A...);
template <class... A> kgen_real<A...> sinh(A...);
template <class... A> kgen_real<A...> cosh(A...);
template <class... A> kgen_real<A...> sigmoid(A...);
template <class... A> kgen_real<A...> erf(A...);
template <class... A> kgen_real<A...> erfinv(A...);
template <class... A> kgen_real<A...> sin(A...);
template <class... A> kgen_real<A...> cos(A...);
template <class... A> kgen_real<A...> tan(A...);
template <class... A> kgen_real<A...> atan2(A...);
template <class... A> kgen_real<A...> pow(A...);
template <class... A> kgen_real<A...> floor(A...);
template <class... A> kgen_real<A...> ceil(A...);
template <class... A> kgen_real<A...> round(A...);
template <class... A> kgen_real<A...> trunc(A...);
template <class... A> kgen_real<A...> fma(A...);
} // namespace kgen
