// Derivatives of operations and of library functions, from the tables that say them in the body language.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

// By argument `which`; `result` is the value of the operation. kNoNode: 0.
NodeId derivative_of(Graph &graph, Op op, const std::vector<NodeId> &args, NodeId result, size_t which);

// Of a library function with a row of its own; kNoNode: it has none.
NodeId library_derivative(Graph &graph, std::string_view function, const std::vector<NodeId> &args, NodeId result,
                          size_t which);
const std::set<std::string> &library_rows();

// The rows themselves, for the docs; derivatives by each argument with semicolons between.
struct DerivativeRow {
  std::string_view name, derivatives;
};
std::vector<DerivativeRow> operation_derivatives();
std::vector<DerivativeRow> library_derivatives();

} // namespace kgen::grad
