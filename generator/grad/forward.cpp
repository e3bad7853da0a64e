// The spec's own text is edited, so that comments and whatever else the gradient does not know of stay.
#include "grad/forward.h"

#include <algorithm>
#include <map>
#include <set>

#include "spec/document.h"
#include "spec/format_document.h"
#include "support/text.h"

namespace kgen {
namespace {

struct Edit {
  size_t at, length;
  std::string text;
};

// What stands at a place of a document; npos: it is another file's.
size_t offset_of(const std::string &source, const Place &place) {
  size_t at = 0;
  for (int line = 1; line < place.line; ++line) {
    at = source.find('\n', at);
    if (at == std::string::npos)
      return at;
    ++at;
  }
  return place.line == 0 ? std::string::npos : at + static_cast<size_t>(place.column) - 1;
}

// The end of the last line of a key and its value.
size_t end_of_entry(const std::string &source, size_t at) {
  int depth = 0;
  while (at < source.size() && (source[at] != '\n' || depth > 0)) {
    const char c = source[at];
    if (c == '"' || c == '\'') {
      at = skip_string(source, at);
      continue;
    }
    if (c == '#')
      at = std::min(source.find('\n', at), source.size()) - 1;
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    ++at;
  }
  return at;
}

bool is_output(const Spec &spec, const std::string &name) {
  return std::any_of(spec.operands.begin(), spec.operands.end(),
                     [&](const OperandDecl &operand) { return operand.role == Role::output && operand.name == name; });
}

class Forward {
public:
  Forward(const Spec &spec, const std::string &source, const std::vector<body::Body> &bodies,
          const std::vector<Kernel> &kernels, const SaveOptions &options, Diagnostics &diags)
      : spec_(spec), source_(source), bodies_(bodies), kernels_(kernels), options_(options), diags_(diags) {}

  std::optional<std::string> run() {
    const size_t errors = diags_.error_count();
    for (const std::string &name : saved_locals(spec_, options_))
      save(name);
    if (diags_.error_count() == errors)
      change_keys();
    if (diags_.error_count() != errors)
      return std::nullopt;
    std::sort(edits_.begin(), edits_.end(), [](const Edit &a, const Edit &b) { return a.at > b.at; });
    std::string out = source_;
    for (const Edit &edit : edits_)
      out.replace(edit.at, edit.length, edit.text);
    return format_document(out);
  }

private:
  void refuse(const std::string &name, const std::string &why, const Place &place, const std::string &help) {
    diags_.add(DiagId::grad_not_saved, place, {name, why}).help = help;
  }

  void save(const std::string &name) {
    const body::Local *local = local_of(bodies_[0], name);
    if (local == nullptr)
      return unknown(name);
    const size_t at = offset_of(source_, local->place);
    if (local->place.file != spec_.body.place.file || at == std::string::npos ||
        source_.compare(at, name.size(), name) != 0)
      return refuse(name, "it is declared elsewhere", spec_.kernel_place, "declare it in the body");
    if (!is_outermost(name))
      return refuse(name, "it is declared within a block", local->place, "declare it outside of loops and branches");
    if (!local->dims.empty())
      return refuse(name, "it is a local array", local->place, "make the array an axis of the kernel");
    if (is_set_in_loop(bodies_[0].statements, name, false))
      return refuse(name, "a loop sets it", local->place,
                    "copy it behind the loop, as `real " + name + "_behind = " + name + ";`, and save that");
    if (!kernels_[0].grid.empty())
      return refuse(name, "each step of the grid has its own", local->place,
                    "write the kernel over whole axes, without the grid");
    size_t begin = at;
    while (begin > 0 && (is_word(source_[begin - 1]) || source_[begin - 1] == ' '))
      --begin;
    while (source_[begin] == ' ')
      ++begin;
    const std::string declared(trim(source_.substr(begin, at - begin)));
    const std::string type = type_text(name, declared);
    if (declared.empty() || declares_more(at) || type.empty())
      return refuse(name, "its declaration is not that of one name with one type", local->place,
                    "declare it by a statement of its own, as `real " + name + " = ...;`");
    edits_.push_back({begin, at - begin, ""});
    outputs_.push_back({name, type + brackets(name)});
  }

  void unknown(const std::string &name) {
    std::vector<std::string> names;
    for (const OperandDecl &operand : spec_.operands)
      if (operand.role == Role::output)
        names.push_back(operand.name);
    for (const body::Local &local : bodies_[0].locals)
      names.push_back(local.name);
    const std::string meant = did_you_mean(name, names);
    diags_.add(DiagId::grad_unknown, spec_.kernel_place, {"--save", name, "an output, or of a local of the body"})
        .help = meant.empty() ? "name one of " + enumerate(names) : meant;
  }

  static const body::Local *local_of(const body::Body &body, const std::string &name) {
    const auto found = std::find_if(body.locals.begin(), body.locals.end(),
                                    [&](const body::Local &local) { return local.name == name; });
    return found == body.locals.end() ? nullptr : &*found;
  }

  bool is_outermost(const std::string &name) const {
    const std::vector<body::Stmt> &list = bodies_[0].statements;
    return std::any_of(list.begin(), list.end(), [&](const body::Stmt &stmt) {
      return stmt.kind == body::Stmt::Kind::declare && bodies_[0].locals[static_cast<size_t>(stmt.local)].name == name;
    });
  }

  bool is_set_in_loop(const std::vector<body::Stmt> &list, const std::string &name, bool in_loop) const {
    return std::ranges::any_of(list, [&](const body::Stmt &stmt) {
      const bool loops = in_loop || stmt.kind == body::Stmt::Kind::loop;
      const bool sets = stmt.kind == body::Stmt::Kind::assign && stmt.target.kind == body::Expr::Kind::local &&
                        bodies_[0].locals[static_cast<size_t>(stmt.target.local)].name == name;
      return (in_loop && sets) || is_set_in_loop(stmt.step, name, loops) || is_set_in_loop(stmt.body, name, loops) ||
             is_set_in_loop(stmt.otherwise, name, in_loop);
    });
  }

  // real a = ..., b = ...;
  bool declares_more(size_t at) const {
    int depth = 0;
    for (; at < source_.size() && source_[at] != ';'; ++at) {
      const char c = source_[at];
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      if (c == ',' && depth == 0)
        return true;
    }
    return false;
  }

  // `real` and type parameters as they were written, others by what they are for all choices.
  std::string type_text(const std::string &name, std::string declared) const {
    if (declared.starts_with("const "))
      declared = declared.substr(6);
    const bool parameter = std::any_of(spec_.types.begin(), spec_.types.end(),
                                       [&](const TypeParam &type) { return type.name == declared; });
    if (parameter || declared == kRealType)
      return declared;
    const Type type = local_of(bodies_[0], name)->type;
    const bool same = std::all_of(bodies_.begin(), bodies_.end(),
                                  [&](const body::Body &body) { return local_of(body, name)->type == type; });
    return same ? std::string(type_row(type).name) : "";
  }

  std::string brackets(const std::string &name) const {
    const Kernel &kernel = kernels_[0];
    const Place &declared = local_of(bodies_[0], name)->place; // functions may have locals of that name, too
    const auto var = std::find_if(kernel.vars.begin(), kernel.vars.end(), [&](const Var &v) {
      return v.kind == Var::Kind::local && begin_alike(v.place, declared);
    });
    std::map<std::string, const Axis *> along;
    if (var != kernel.vars.end())
      for (AxisId axis : var->axes.list())
        along[kernel.axes[static_cast<size_t>(axis)].name] = &kernel.axes[static_cast<size_t>(axis)];
    std::vector<std::string> dims;
    if (along.count(std::string(kRestAxis)) != 0)
      dims.push_back("...");
    for (const std::string &axis : spec_.axis_order) // without batches, which all outputs have
      if (along.count(axis) != 0 && axis != kRestAxis)
        dims.push_back(axis + extent_of(*along.at(axis)));
    return "[" + join(dims, ", ") + "]";
  }

  // As the arrays say it, where no key does: K=N.
  std::string extent_of(const Axis &axis) const {
    const bool declared =
        std::any_of(spec_.axes.begin(), spec_.axes.end(), [&](const AxisDecl &decl) { return decl.name == axis.name; });
    return declared || axis.size == Size::axis(axis.name) ? "" : "=" + to_string(axis.size);
  }

  void change_keys() {
    Diagnostics known; // it was read before
    const std::optional<Node> root = read_document(spec_.path, source_, known);
    if (!root)
      return;
    for (const Entry &entry : root->entries) {
      const size_t at = offset_of(source_, entry.place), end = end_of_entry(source_, at);
      if (entry.key == "kernel")
        edits_.push_back({at, end - at, "kernel = \"" + spec_.kernel + "_forward\""});
      else if (entry.key == "backward" || entry.key == "backward_of")
        edits_.push_back({at, end - at + 1, ""});
      else if (entry.key == "functions_from" && !options_.functions_from_stay)
        edits_.push_back({at, end - at, "functions = '''\n" + std::string(trim(spec_.functions.text)) + "\n'''"});
      else if (entry.key == "outputs" && !outputs_.empty())
        add_outputs(entry.value.entries.back());
    }
  }

  // After the last one, spelled as it is.
  void add_outputs(const Entry &last) {
    size_t at = offset_of(source_, last.place), line = at == 0 ? 0 : source_.rfind('\n', at - 1) + 1;
    const std::string before(trim(source_.substr(line, at - line)));
    if (before != "outputs." && !before.empty())
      return refuse(outputs_[0].first, "the outputs stand in one line", last.place,
                    "write each as `outputs." + last.key + " = ...`, on a line of its own");
    std::string lines;
    for (const auto &[name, type] : outputs_)
      lines += "\n" + before + name + " = \"" + type + "\"";
    edits_.push_back({end_of_entry(source_, at), 0, lines});
  }

  const Spec &spec_;
  const std::string &source_;
  const std::vector<body::Body> &bodies_;
  const std::vector<Kernel> &kernels_;
  const SaveOptions &options_;
  Diagnostics &diags_;
  std::vector<Edit> edits_;
  std::vector<std::pair<std::string, std::string>> outputs_; // name, type with brackets
};

} // namespace

std::vector<std::string> saved_locals(const Spec &spec, const SaveOptions &options) {
  std::vector<std::string> out;
  for (const std::string &name : options.names)
    if (!is_output(spec, name))
      out.push_back(name);
  return out;
}

std::optional<std::string> forward_document(const Spec &spec, const std::string &source,
                                            const std::vector<body::Body> &bodies, const std::vector<Kernel> &kernels,
                                            const SaveOptions &options, Diagnostics &diags) {
  return Forward(spec, source, bodies, kernels, options, diags).run();
}

} // namespace kgen
