#include "ir/conversions.h"

#include "ir/kernel.h"

namespace kgen {

bool holds_all(Type type, Type of) {
  const Bounds all = bounds_of(type), own = bounds_of(of);
  return bytes_of(of) < 8 && all.low <= own.low && own.high <= all.high && (is_unsigned(of) || !is_unsigned(type));
}

} // namespace kgen
