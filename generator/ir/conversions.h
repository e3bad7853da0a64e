// Which conversions between whole numbers keep every value.
#pragma once

#include "support/types.h"

namespace kgen {

// Has the type all values of the other one?
bool holds_all(Type type, Type of);

} // namespace kgen
