// NAME_jax.cpp: what XLA calls. One handler for each platform; the call says by its number which C function is meant.
#include <algorithm>

#include "emit/bindings/jax.h"
#include "emit/print/spelling.h"
#include "emit/text/names.h"
#include "support/text.h"

namespace kgen {
namespace {

struct Platform {
  bool is_cuda;
  std::string_view suffix; // of the C functions
};
constexpr Platform kCpu{false, "_openmp"}, kCuda{true, "_cuda"};

class Handler {
public:
  Handler(const Signature &s, const Platform &platform) : s_(s), platform_(platform) {
    for (const char *name : {"Array", "Call", "Pointer", "Threads", "WideTable", "call", "pointer", "rows_of",
                             "stride_of", "stream", "limit"})
      names_.reserve(name);
    for (const SignatureArray &a : s.arrays)
      arrays_.push_back(names_.claim(c_name(a.name)));
    for (const SignatureArray &a : s.arrays)
      given_.push_back(names_.claim(jax_given(a)));
    for (const SignatureScalar &scalar : s.scalars)
      scalars_.push_back(names_.claim(c_name(scalar.name)));
    for (const SignatureSize &size : s.sizes)
      sizes_.push_back(names_.claim(c_name(size.name)));
  }

  JaxHandler handler(const std::string &symbol) const {
    const std::string name = platform_.is_cuda ? "on_cuda" : "on_cpu";
    return {"XLA_FFI_Error* " + name + "(const Call& call) {\n" + preparations() +
                "switch (call.number<int64_t>(\"kgen_function\")) {\n" + cases() +
                "default: return call.error(\"there is no such function\");\n}\n}\n",
            "extern \"C\" __attribute__((visibility(\"default\"))) XLA_FFI_Error* " + symbol +
                "(XLA_FFI_CallFrame* frame);\nXLA_FFI_Error* " + symbol +
                "(XLA_FFI_CallFrame* frame) { return answer(frame, " + name + "); }\n"};
  }

private:
  // What the call passes, by its names. That of an aliased input is the output's memory.
  std::string values() const {
    std::string out;
    int argument = 0, result = 0;
    for (size_t i = 0; i < s_.arrays.size(); ++i)
      if (s_.arrays[i].is_argument()) {
        if (s_.arrays[i].alias < 0)
          out += "const Array& " + arrays_[i] + " = call.argument(" + std::to_string(argument) + ");\n";
        ++argument;
      }
    for (const int i : s_.outputs())
      out += "const Array& " + arrays_[i] + " = call.result(" + std::to_string(result++) + ");\n";
    const auto add_number = [&](std::string_view type, const std::string &name, const std::string &of_call) {
      out += "const auto " + name + " = call.number<" + std::string(type) + ">(\"" + of_call + "\");\n";
    };
    for (size_t i = 0; i < s_.arrays.size(); ++i)
      if (s_.arrays[i].optional)
        add_number("bool", given_[i], jax_given(s_.arrays[i]));
    for (size_t i = 0; i < s_.scalars.size(); ++i)
      add_number(attribute_type(s_.scalars[i].type), scalars_[i], s_.scalars[i].name);
    for (size_t i = 0; i < s_.sizes.size(); ++i)
      if (is_jax_attribute(s_, s_.sizes[i]))
        add_number("int64_t", sizes_[i], s_.sizes[i].name);
    return out;
  }

  // Numbers travel as the widest of their kind: the type of a scalar may depend on the function.
  static std::string attribute_type(Type type) {
    return is_floating(type) ? "double" : type == Type::boolean ? "bool" : "int64_t";
  }

  std::string preparations() const {
    std::string out = values();
    out += platform_.is_cuda ? "void* const stream = call.stream();\n" : "const Threads limit(call);\n";
    for (size_t i = 0; i < s_.arrays.size(); ++i)
      if (is_wide_table(s_.arrays[i]))
        out += platform_.is_cuda ? "if (" + arrays_[i] + ".dtype != XLA_FFI_DataType_S64)\nreturn call.error(\"" +
                                       s_.arrays[i].name + " must be int64 on a GPU: set jax_enable_x64\");\n"
                                 : "const WideTable " + wide(i) + "(" + arrays_[i] + ");\n";
    for (size_t i = 0; i < s_.sizes.size(); ++i)
      if (!is_jax_attribute(s_, s_.sizes[i]))
        out += "const int64_t " + sizes_[i] + " = " + rows(*jax_array_of_rows(s_)) + ";\n";
    return out;
  }

  // The product of the extents that `...` stands for.
  std::string rows(const SignatureArray &a) const {
    return "rows_of(" + buffer(a) + ", " + std::to_string(a.rest) + ", " +
           std::to_string(a.dims.size() - 1 - static_cast<size_t>(a.rest)) + ")";
  }

  std::string wide(size_t i) const { return arrays_[i] + "_wide"; }
  size_t index_of(const SignatureArray &array) const { return static_cast<size_t>(&array - s_.arrays.data()); }
  const std::string &buffer(const SignatureArray &array) const {
    return arrays_[array.is_argument() && array.alias >= 0 ? static_cast<size_t>(array.alias) : index_of(array)];
  }

  std::string cases() const {
    std::string out;
    for (size_t f = 0; f < s_.functions.size(); ++f)
      out += "case " + std::to_string(f) + ": return " + call(s_.functions[f]) + ";\n";
    return out;
  }

  std::string call(const CFunction &f) const {
    std::vector<std::string> arguments, sizes;
    for (const CArgument &a : s_.c_arguments) {
      arguments.push_back(argument(f, a));
      if (a.kind == CArgument::Kind::size)
        sizes.push_back(sizes_[a.index]);
    }
    if (platform_.is_cuda && f.table_status)
      arguments.emplace_back("nullptr");
    const std::string name = f.stem + std::string(platform_.suffix);
    if (!platform_.is_cuda) {
      if (f.openmp_workspace) // XLA lends none on the CPU: the function allocates
        arguments.insert(arguments.end(), {"nullptr", "0"});
      return "call.ended(" + name + "(" + join(arguments, ", ") + "))";
    }
    if (!f.cuda_workspace)
      return "call.ended(" + name + "(" + join(arguments, ", ") + ", stream))";
    return "call.with_workspace(" + name + "_workspace(" + join(sizes, ", ") +
           "), [&](void* workspace, int64_t bytes) { return " + name + "(" + join(arguments, ", ") +
           ", workspace, bytes, stream); })";
  }

  std::string argument(const CFunction &f, const CArgument &a) const {
    switch (a.kind) {
    case CArgument::Kind::array:
      if (is_wide_table(s_.arrays[a.index]) && !platform_.is_cuda)
        return wide(a.index) + ".data()";
      return "pointer(" + arrays_[a.index] + (s_.arrays[a.index].optional ? ", " + given_[a.index] : "") + ")";
    case CArgument::Kind::scalar:
      return scalar(f.scalar_types[a.index], a.index);
    case CArgument::Kind::size:
      return sizes_[a.index];
    case CArgument::Kind::stride:
      break;
    }
    const SignatureArray &array = s_.arrays[a.index];
    return "stride_of(" + buffer(array) + ", " + std::to_string(array.dims.size() - 1 - static_cast<size_t>(a.dim)) +
           ")";
  }

  std::string scalar(Type type, int i) const {
    const std::string wanted = type == Type::bf16 || type == Type::f16 ? "float" : std::string(type_row(type).c_type);
    return wanted == attribute_type(s_.scalars[i].type) ? scalars_[i]
                                                        : "static_cast<" + wanted + ">(" + scalars_[i] + ")";
  }

  const Signature &s_;
  const Platform &platform_;
  Names names_;
  std::vector<std::string> arrays_, given_, scalars_, sizes_; // as the handler calls them
};

} // namespace

bool is_wide_table(const SignatureArray &array) {
  return array.role == SignatureArray::Role::table && array.element.type == Type::i64;
}

const SignatureArray *jax_array_of_rows(const Signature &s) {
  const SignatureArray *found = nullptr;
  for (const SignatureArray &a : s.arrays)
    if (a.rest >= 0 && !a.optional && (found == nullptr || (a.is_argument() && !found->is_argument())))
      found = &a;
  return found;
}

bool is_jax_attribute(const Signature &s, const SignatureSize &size) {
  return size.name != kRestAxis || jax_array_of_rows(s) == nullptr;
}

std::string jax_given(const SignatureArray &array) { return "given_" + array.name; }

JaxHandler jax_handler(const Signature &signature, bool is_cuda, const std::string &symbol) {
  return Handler(signature, is_cuda ? kCuda : kCpu).handler(symbol);
}

} // namespace kgen
