// A spec as written, checked for form: plain structs, every value with its place. Types and lists are still open here;
// a Variant picks one choice of each. What is refused here: unknown keys, malformed strings, names that clash, wrong
// values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/decisions.h"
#include "spec/size.h"
#include "support/diagnostics.h"
#include "support/types.h"

namespace kgen {

struct Text {
  std::string text;
  Place place; // of the first character of the content; literal strings, so columns agree line by line
  bool given() const { return place.line > 0; }
};

using ParamValue = std::variant<int64_t, double, std::string>; // string: names a function

struct TypeParam {
  std::string name;
  std::vector<Type> choices;
  Place place;
};

struct Param {
  std::string name;
  std::vector<ParamValue> choices;
  bool is_list = false; // a list makes one set of functions per choice, even a list of one
  Place place;
  Place value_place; // of what it is: in the spec, or on the command line

  bool is_given() const { return value_place.file == kCommandLine; } // so it is this choice alone
};

// `real` as an element type: what floating-point operands are calculated in, which each variant decides.
inline constexpr std::string_view kRealType = "real";

// An element type as written: a type, a type parameter, or `real`.
struct TypeName {
  std::string param; // or kRealType; empty: `type` counts
  Type type = Type::f32;
  Place place;
};

struct Scalar {
  std::string name;
  TypeName type;
  Place place;
};

struct AxisDecl {
  std::string name;
  std::vector<int64_t> fixed; // one: constant; several: one specialisation each, dispatched by the launcher
  int64_t multiple_of = 1;
  std::optional<Size> equals; // also `axes.D = "2 * bm"`
  std::string ragged;         // table of row starts; empty: not ragged
  std::string over;
  Place place;
  Place ragged_place, over_place; // of the names
};

// The axis of a leading `...`, as its size is called in the C interface.
inline constexpr std::string_view kRestAxis = "rows";

// One dimension of an array as written between the brackets.
struct DimDecl {
  enum class Kind { one, axes, rest }; // `1`; an axis or `(G C)`; a leading `...`
  Kind kind = Kind::axes;
  std::vector<std::string> axes; // of `...`: kRestAxis; two or more: split
  std::optional<Size> extent;    // `X=e`
  Place place;
};

struct WindowDecl {
  enum class Kind { block, squeeze, whole };
  struct Dim {
    Kind kind = Kind::whole;
    Size block; // for kind block; an expression is max(e, 1)
    Place place;
  };
  std::vector<Dim> block;                  // one per dimension (per axis for a split dimension)
  std::optional<std::vector<Size>> index;  // which block
  std::optional<std::vector<Size>> offset; // or: which element
  Place place;
};

enum class Role { input, output, scratch };

struct OperandDecl {
  std::string name;
  Role role = Role::input;
  TypeName type;
  std::vector<DimDecl> dims;
  std::optional<double> outside; // default 0
  Place outside_place;
  bool strided = false;
  bool optional = false;
  std::string alias;
  Place alias_place;
  bool partial = false; // implied by alias
  bool overwrite = false;
  bool atomic = false;
  std::optional<WindowDecl> window;
  Place place;      // of the name
  Place type_place; // of the string
};

bool has_rest(const OperandDecl &operand); // a leading `...`

struct TableDecl {
  std::string name;
  Type type = Type::i32;
  std::vector<Size> dims; // "i32[B + 1, 2]"
  bool sorted = false;
  bool unique = false;
  std::optional<Size> range; // 0 <= v < range
  bool on_host = false;      // where = "host"
  Place place;
};

enum class Semantics { parallel, arbitrary };

struct GridDecl {
  std::string name;
  std::string axis;         // or empty, with `size`
  std::vector<Size> blocks; // with `axis`: any of them is right, the first is the meaning; expressions are max(e, 1)
  std::optional<Size> size;
  std::optional<Size> at_most;
  std::optional<Semantics> semantics; // as stated
  Place place;
  Place semantics_place;
  Place axis_place;
};

struct BatchDecl {
  std::string axis;
  std::vector<std::string> operands; // as listed, then the other outputs
  Place place;
  std::vector<Place> operand_places;
};

// schedule.openmp / schedule.cuda / schedule.cuda.sm_90: pinned plan choices, read by plan.
struct ScheduleEntry {
  std::string target; // "openmp", "cuda", "cuda.sm_90"
  std::string key;
  ParamValue value;
  Place place;
};

// The C arguments in file order (before the sizes). Without scratch, and without inputs that are an output's memory.
struct ArgumentRef {
  enum class Kind { operand, scalar, table };
  Kind kind;
  int index;
};

struct Spec {
  std::string path;      // as given on the command line
  std::string file_name; // last component, for the banner
  std::string kernel;
  Place kernel_place;
  std::string doc;
  std::string license;
  std::string backward_of; // the kernel whose gradient this is; else empty
  std::string backward;    // the spec of its gradients, as a path from this one's folder; else empty
  Place backward_place;
  std::string functions_from; // the file that holds the functions, as written; else empty
  std::vector<TypeParam> types;
  std::vector<std::vector<Type>> only; // types.only; empty: the cross product
  std::vector<Param> params;
  std::vector<Scalar> scalars;
  std::vector<AxisDecl> axes;        // declared ones; others exist by being named
  std::vector<OperandDecl> operands; // inputs, outputs, scratch, in file order
  std::vector<TableDecl> tables;
  std::vector<GridDecl> grid; // outermost first
  std::vector<BatchDecl> batch;
  std::vector<ScheduleEntry> schedule;
  std::vector<Pin> pins;
  std::vector<ArgumentRef> arguments;
  // Every axis in order of first mention: operand and table brackets, then declarations (body-only axes).
  // With the rest axis; without batch axes.
  std::vector<std::string> axis_order;
  Text body;
  Text functions;
};

// One choice of every open list: what one set of emitted functions is made for.
struct Variant {
  std::map<std::string, Type> types;
  std::map<std::string, ParamValue> params;
  std::map<std::string, int64_t> axes; // the sizes of specialised axes (those with several)
  Type real = Type::f32;               // f64 where any operand is, but those of type `real`
  // "relu_bf16_f32": list params first, then types, in file order. Axis choices do not show: the launcher dispatches.
  std::string suffix;
};

struct LoadOptions {
  std::vector<std::pair<std::string, std::string>> defines; // -D name=value: fixes a param or a type parameter
  bool for_those_that_declare = false;                      // -D of another name is for another spec
  std::vector<std::pair<std::string, std::string>> batch;   // --batch B=x,z
  std::vector<Pin> decisions;                               // --decide
  std::vector<std::string> include_roots;                   // where functions_from may be, besides the spec's folder
};

// Reads and checks one spec. Adds `text` to the sources of `diags` under `path`.
std::optional<Spec> load_spec(const std::string &path, const std::string &text, const LoadOptions &options,
                              Diagnostics &diags);

// The cross product (or types.only) of types and list params; per such choice every choice of specialised axes.
std::vector<Variant> variants_of(const Spec &spec);

// The options that choose the one and not the other: "-D form=cumsum". Types and functions; numbers are left out.
std::string defines_of(const Variant &variant, const Variant &other);

Type type_of(const TypeName &name, const Variant &variant);

// `spec` as text, for --stop-after spec.
std::string print(const Spec &spec);

} // namespace kgen
