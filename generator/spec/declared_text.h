// Declarations of arrays and tables as a spec has them.
#pragma once

#include <string>

#include "spec/spec.h"

namespace kgen {

std::string type_text(const TypeName &type);
std::string dim_text(const DimDecl &dim);              // N=M
std::string declared_text(const OperandDecl &operand); // f32[N=M]
std::string declared_text(const TableDecl &table);

} // namespace kgen
