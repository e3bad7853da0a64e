//@ BF16
struct BF16 {};  // the type of an element of 16 bits, the upper half of an f32
//@ F16
struct F16 {};  // the type of an element in half precision
//@ Stored: BF16 F16
// What memory holds of an element.
template <class T>
struct StoredAs {
  using Type = T;
};
template <>
struct StoredAs<BF16> {
  using Type = uint16_t;
};
template <>
struct StoredAs<F16> {
  using Type = uint16_t;
};
template <class T>
using Stored = typename StoredAs<T>::Type;
//@ Value: BF16 F16
// What an element is computed with.
template <class T>
using Value = std::conditional_t<std::is_same_v<T, BF16> || std::is_same_v<T, F16>, float, T>;
//@ kBytes: Stored
template <class T>
constexpr int kBytes = int(sizeof(Stored<T>));
//@ to_value: BF16 F16
// What was loaded of elements as what they are computed with.
template <class T, class Loaded>
FUNCTION auto to_value(Loaded loaded) {
  if constexpr (std::is_same_v<T, BF16>)
    return from_bf16(loaded);
  else if constexpr (std::is_same_v<T, F16>)
    return from_f16(loaded);
  else
    return loaded;
}
//@ to_stored: BF16 F16
// The other way round.
template <class T, class Computed>
FUNCTION auto to_stored(Computed value) {
  if constexpr (std::is_same_v<T, BF16>)
    return to_bf16(value);
  else if constexpr (std::is_same_v<T, F16>)
    return to_f16(value);
  else
    return value;
}
