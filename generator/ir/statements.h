// Statements, with those in their blocks.
#pragma once

namespace kgen {

// Calls visit(statement) for all statements, outer before inner, in order.
template <class Statements, class Visit> void for_each(Statements &statements, const Visit &visit) {
  for (auto &statement : statements) {
    visit(statement);
    for_each(statement.body, visit);
    for_each(statement.otherwise, visit);
    for_each(statement.step, visit);
  }
}

} // namespace kgen
