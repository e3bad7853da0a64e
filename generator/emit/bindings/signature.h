// How a framework calls a kernel. All bindings share this contract: which parameters a function has and in which order,
// where types, sizes and shapes come from, and which C function serves a call.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/interface/interface.h"
#include "emit/target_file.h"

namespace kgen {

// `types.T`, or a list under `params`: what callers choose by name.
struct ChoiceParameter {
  std::string name;                 // in the spec
  std::string parameter;            // as callers write it
  std::vector<std::string> choices; // "f32"; "relu"; "128"
  bool is_type = false;
  bool is_number = false;        // of whole numbers, which sizes may mention as Size::Op::param
  bool is_parameter = true;      // callers pass it; else arrays or types.only tell
  bool first_always_fits = true; // the default is the first choice; else, by types.only, the first that fits the arrays
};

// An element type as the spec has it. What it is in each function: CFunction::array_types.
struct ElementType {
  enum class Kind { fixed, parameter, real };
  Kind kind = Kind::fixed;
  Type type = Type::f32; // fixed
  int choice = -1;       // parameter: which of Signature::choices
};

struct SignatureArray {
  enum class Role { input, table, output };
  Role role = Role::input;
  std::string name;      // in the spec, which messages of the C functions have, too
  std::string parameter; // as callers write it
  ElementType element;
  // Extents over sizes (Size::Op::axis) and whole numbers that are chosen (Size::Op::param).
  std::vector<Size> dims;
  int rest =
      -1; // the one that stands for any number of dimensions, of which `rows` is the product: in all arrays alike
  bool optional = false;
  bool partial = false; // an output that may be left unwritten in places; new ones begin with zeros
  bool strided = false; // the C function takes strides in elements, one for each of `dims`
  int alias = -1;       // output: the input whose memory it is; input: that output
  bool in_place() const { return role == Role::output && alias >= 0; }
  bool is_argument() const { return role != Role::output; }
};

struct SignatureScalar {
  std::string name, parameter;
  Type type = Type::f32; // that of the first function
};

// The extent of an array's dimension, counted from 0, in expressions: Size::Op::table with the array's name and the
// number. That of the rest is the product of those that it stands for.
Size extent_of(const SignatureArray &array, size_t dim);

// An argument of the C functions that counts elements.
struct SignatureSize {
  std::string name;      // in the spec, `rows` for a leading `...`
  std::string parameter; // as callers write it
  int array = -1;        // an array that gives it, in dimension `dim`; -1: it is a parameter
  int dim = 0;
  Size value; // over extent_of(array, dim) and sizes that are found before it
  std::vector<int64_t> one_of;
  int64_t multiple_of = 1;
};

// An array's dimension whose extent others have told already.
struct ExtentCheck {
  int array = -1, dim = 0;
  Size expected;
  std::vector<int> given_by; // arrays that gave the sizes in `expected`
};

// Of the Python function or of the operator, in order.
struct SignatureParameter {
  enum class Kind { array, scalar, choice, size };
  Kind kind;
  int index; // in Signature::arrays, scalars, choices, sizes
  bool keyword_only = false;
  bool has_default = false; // None of an optional array, the first that fits of choices
};

// Of the C functions, in order, without what follows the strides (status, workspace, stream).
struct CArgument {
  enum class Kind { array, scalar, size, stride };
  Kind kind;
  int index;   // in Signature::arrays, scalars, sizes; stride: in arrays
  int dim = 0; // stride
};

// The C functions of one choice of types and list parameters.
struct CFunction {
  std::string stem;                                      // softmax_f32: softmax_f32_openmp, softmax_f32_cuda
  std::vector<std::string> choices;                      // by Signature::choices
  std::vector<Type> array_types;                         // by Signature::arrays
  std::vector<Type> scalar_types;                        // by Signature::scalars; halves are passed as float
  bool openmp_workspace = false, cuda_workspace = false; // stem_openmp_workspace(sizes)
  bool table_status = false;                             // of the CUDA function
};

struct Signature {
  std::string kernel;    // of files and of `kernel_error`, the C function that explains statuses
  std::string function;  // as callers write it
  std::string file_name; // of the spec
  std::string doc, license;
  std::string backward_of;
  std::vector<ChoiceParameter> choices; // list parameters, then types
  std::vector<SignatureArray> arrays;   // inputs, outputs and tables in file order
  std::vector<SignatureScalar> scalars;
  std::vector<SignatureSize> sizes; // C order
  std::vector<int> size_order;      // in which sizes that arrays give can be found
  std::vector<ExtentCheck> checks;  // once they are
  std::vector<SignatureParameter> parameters;
  std::vector<CArgument> c_arguments;
  std::vector<CFunction> functions; // the first that agrees with all that is given serves a call
  bool has_openmp = false, has_cuda = false;

  std::vector<int> outputs() const; // in file order
  const SignatureSize *find_size(const std::string &name) const;
};

// `targets` are those that are emitted: openmp, cuda.
Signature signature_of(const Spec &spec, const std::vector<Function> &functions,
                       const std::map<std::string, const TargetSource *> &targets);

Signature signature_of(const Spec &spec, const std::vector<Variation> &variations, const EmitOptions &options);

// For people and tests: one line for each parameter, output, size, check and C function.
std::string print(const Signature &signature);

} // namespace kgen
