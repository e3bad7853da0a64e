//@ kLanesOf: kVectorBytes Value
// How many elements of a type a vector has, as they are computed with.
template <class T>
constexpr int kLanesOf = kVectorBytes / int(sizeof(Value<T>));
//@ Vector: kLanesOf Lanes
template <class T>
using Vector = Lanes<Value<T>, kLanesOf<T>>;
