// Small helpers over a kernel's expression pool: walking, rewriting, and making the few nodes that plans add.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Calls `visit` for every node of the expression, parents first, coordinates included. Return false to skip what is
// below.
void walk(const Kernel &kernel, ExprId id, const std::function<bool(ExprId)> &visit);

// Is it so of a node of the expression, coordinates included?
bool any_node(const Kernel &kernel, ExprId id, const std::function<bool(const Expr &)> &question);

// A copy of the expression in which `replace` has put other nodes (kNone: keep). The original where nothing changed.
ExprId replace(Kernel &kernel, ExprId id, const std::function<ExprId(ExprId)> &replace);

// Puts the other read where the node, and with `deep` those inside, read the variable; those at other places stay
// there.
void replace_reads(Kernel &kernel, PlanNode &node, VarId var, ExprId with, bool deep);

// The same for several variables: `with` says what stands for each (kNone: keep).
void replace_reads(Kernel &kernel, PlanNode &node, const std::function<ExprId(VarId)> &with, bool deep);

// Does it read the variable, at any point?
bool reads(const Kernel &kernel, ExprId id, VarId var);

// Are they the same tree, so that they have one value in one statement?
bool same(const Kernel &kernel, ExprId a, ExprId b);

// Is it a quotient or remainder of whole numbers by a number that needs no test for 0 and -1?
bool divides_by_number(const Kernel &kernel, const Expr &e);
// Can it be computed for a vector at once, as far as its own operation goes? Else it is computed lane by lane.
bool has_vector_form(const Kernel &kernel, const Expr &e);

// Is it as quickly computed again as kept?
bool is_light(const Kernel &kernel, ExprId id);

ExprId make_constant(Kernel &kernel, Type type, int64_t integer, double number);
ExprId make_read(Kernel &kernel, VarId var);
PlanNode make_assign(const Kernel &kernel, VarId target, ExprId value, const Place &place);
ExprId make_size(Kernel &kernel, AxisId axis, int64_t of); // kSizeOfAxis and the like
// Of all of them together.
ExprId make_positions(Kernel &kernel, const std::vector<AxisId> &axes, int64_t of = kSizeOfAxis);
ExprId make_cast(Kernel &kernel, ExprId value, Type type);
ExprId make_op(Kernel &kernel, Op op, Type type, std::vector<ExprId> args);
ExprId make_not(Kernel &kernel, ExprId condition);

VarId add_var(Kernel &kernel, Var var);

// The argument that tells how far apart the elements along a dimension of a strided array are: `x_stride_M`.
std::string stride_name(const Kernel &kernel, const Var &of, int array_dim);

// The coordinate along the axis, where it is another point than the current one; else null.
const Coordinate *moved(const Kernel &kernel, const std::vector<Coordinate> &coords, AxisId axis);

// What a scan repeats, and a linear one starts as.
Monoid monoid_of(ScanKind scan);

// Is this coordinate the current point itself: `H = index(H)`?
bool is_identity(const Kernel &kernel, const Coordinate &coordinate);

} // namespace kgen
