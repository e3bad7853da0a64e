// A value gets a name where the forward kernel gives it one, where it is the gradient of one that has, where it is read
// at other places, and where it is used more than once and is more than a word.
#include "grad/program.h"

#include <algorithm>
#include <map>

#include "body/builtins.h"
#include "body/library.h"
#include "grad/text.h"
#include "support/text.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

constexpr size_t kWidth = 110;

struct Noun {
  Op op;
  std::string_view name;
};
constexpr Noun kNouns[] = {{Op::add, "together"},  {Op::sub, "difference"},  {Op::mul, "product"},
                           {Op::div, "quotient"},  {Op::exp, "exponential"}, {Op::sqrt, "root"},
                           {Op::rsqrt, "scale"},   {Op::max, "larger"},      {Op::min, "smaller"},
                           {Op::log, "logarithm"}, {Op::tanh, "tangent"},    {Op::abs, "size_of"}};
constexpr std::string_view kFoldNouns[] = {"total", "product", "least",    "greatest", "average",
                                           "holds", "holds",   "position", "position"};

class Writer {
public:
  Writer(const Spec &spec, Graph &graph, const Trace &trace, const Gradients &gradients, const Naming &naming)
      : spec_(spec), graph_(graph), trace_(trace), gradients_(gradients), naming_(naming), taken_(naming.taken) {
    for (const body::BuiltinRow &row : body::builtins())
      taken_.insert(std::string(row.name));
    for (const body::LibraryFunction &function : body::library_functions())
      taken_.insert(function.name);
  }

  Program run(const std::vector<Root> &roots) {
    for (const Root &root : roots)
      taken_.insert(root.target);
    for (const Root &root : roots) {
      visit(root.value);
      if (root.condition != kNoNode) {
        name_elsewhere(root.value);
        visit(root.condition);
      }
      for (const auto &[axis, place] : root.places)
        visit(place);
    }
    choose_names(roots);
    statements(roots);
    return std::move(out_);
  }

private:
  void visit(NodeId id) {
    if (++uses_[id] > 1)
      return;
    if (const auto saved = trace_.saved.find(id); saved != trace_.saved.end()) {
      names_[id] = saved->second;
      out_.operands.insert(saved->second);
      return;
    }
    const Node &n = graph_.node(id);
    switch (n.kind) {
    case Kind::operand:
    case Kind::scalar:
    case Kind::table:
    case Kind::present:
    case Kind::inside:
      out_.operands.insert(n.name);
      break;
    case Kind::carried:
      out_.unknown = id;
      break;
    case Kind::call:
      out_.functions.insert(n.name);
      break;
    case Kind::derivative:
      out_.functions.insert(n.name);
      out_.derivatives[n.name].arguments = n.args.size();
      out_.derivatives[n.name].by.insert(n.which);
      break;
    default:
      break;
    }
    AxisSet axes = n.axes | n.reduced;
    if (n.axis != kNone)
      axes |= AxisSet::of(n.axis);
    out_.axes |= axes;
    for (AxisId place : n.places)
      out_.axes |= AxisSet::of(place);
    for (AxisId axis : axes.list())
      if (graph_.twins().count(axis) != 0)
        out_.twins.insert(axis);
    if (n.kind == Kind::at && graph_.node(n.args[0]).kind != Kind::operand)
      needs_name_.insert(n.args[0]);
    const std::vector<NodeId> args = n.args;
    if (n.kind == Kind::choose) // a running value goes over all lanes
      for (const size_t arm : {1, 2})
        name_scans(args[arm]);
    for (NodeId arg : args)
      visit(arg);
  }

  // What goes over other lanes is no matter of a condition.
  void name_elsewhere(NodeId id) {
    const Node &n = graph_.node(id);
    if (n.kind == Kind::scan || (n.kind == Kind::at && graph_.node(n.args[0]).kind != Kind::operand))
      needs_name_.insert(id);
    for (NodeId arg : n.args)
      name_elsewhere(arg);
  }

  void name_scans(NodeId id) {
    const Node &n = graph_.node(id);
    if (n.kind == Kind::scan)
      needs_name_.insert(id);
    if (n.kind == Kind::op || n.kind == Kind::product || n.kind == Kind::sum || n.kind == Kind::choose)
      for (NodeId arg : n.args)
        name_scans(arg);
  }

  // A word, or so few that a name would say less.
  bool is_cheap(NodeId id) const {
    const Node &n = graph_.node(id);
    switch (n.kind) {
    case Kind::number:
    case Kind::undefined:
    case Kind::operand:
    case Kind::scalar:
    case Kind::index:
    case Kind::size:
    case Kind::present:
    case Kind::inside:
      return true;
    case Kind::cast:
      return is_cheap(n.args[0]);
    case Kind::table:
      return true;
    case Kind::at:
      return graph_.node(n.args[0]).kind == Kind::operand && n.places.size() == 1 &&
             graph_.node(n.args[1]).kind == Kind::number;
    case Kind::op:
      return (n.op == Op::neg || n.op == Op::logical_not || n.type == Type::boolean || is_integer(n.type)) &&
             std::all_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return is_cheap(arg) || named_.count(arg); });
    case Kind::product: // -d
      return n.args.size() == 1 && n.powers[0] == 1 && n.number == -1 &&
             (is_cheap(n.args[0]) || named_.count(n.args[0]) != 0);
    default:
      return false;
    }
  }

  void choose_names(const std::vector<Root> &roots) {
    for (const auto &[id, count] : uses_) { // arguments come before what is made of them
      if (names_.count(id) != 0)
        continue;
      const bool forward = trace_.names.count(id) != 0, gradient = gradients_.names.count(id) != 0;
      const bool root_alone = count == 1 && std::any_of(roots.begin(), roots.end(), [&](const Root &root) {
                                return root.value == id && root.condition == kNoNode && !root.adds;
                              });
      const bool wanted = forward || gradient || count > 1;
      if (needs_name_.count(id) != 0 || (wanted && !is_cheap(id) && !root_alone))
        named_.insert(id);
    }
    for (NodeId id : named_)
      names_[id] = free_name(wished_name(id));
  }

  std::string wished_name(NodeId id) const {
    if (const auto name = trace_.names.find(id); name != trace_.names.end())
      return name->second;
    if (const auto of = gradients_.names.find(id); of != gradients_.names.end())
      return naming_.prefix + trace_.names.at(of->second);
    if (const auto given = naming_.given.find(id); given != naming_.given.end())
      return given->second;
    const Node &n = graph_.node(id);
    switch (n.kind) {
    case Kind::fold:
      return std::string(kFoldNouns[static_cast<size_t>(n.monoid)]);
    case Kind::scan:
      return "running";
    case Kind::at:
      return "there";
    case Kind::choose:
      return "part";
    case Kind::both:
    case Kind::either:
    case Kind::inside:
      return "holds";
    case Kind::product:
      return "scaled";
    case Kind::sum:
      return "share";
    case Kind::call:
      return "value";
    case Kind::derivative:
      return "slope";
    case Kind::op:
      if (n.type == Type::boolean)
        return "holds";
      for (const Noun &noun : kNouns)
        if (noun.op == n.op)
          return std::string(noun.name);
      return "value";
    default:
      return "value";
    }
  }

  std::string free_name(const std::string &wish) {
    std::string name = wish;
    for (int count = 2; !taken_.insert(name).second; ++count)
      name = wish + std::to_string(count);
    return name;
  }

  // Lines are broken where an operator stands outside of most brackets.
  static std::string wrapped(std::string line) {
    std::string out;
    while (line.size() > kWidth) {
      size_t best = std::string::npos;
      int depth = 0, best_depth = 1 << 20;
      for (size_t at = 0; at < kWidth && at < line.size(); ++at) {
        depth += line[at] == '(' || line[at] == '[' ? 1 : line[at] == ')' || line[at] == ']' ? -1 : 0;
        const bool breaks = line[at] == ' ' && at > 30 && at + 1 < line.size() &&
                            (std::string("+-*/?:&|").find(line[at + 1]) != std::string::npos || line[at - 1] == ',');
        if (breaks && depth <= best_depth) {
          best = at;
          best_depth = depth;
        }
      }
      if (best == std::string::npos)
        break;
      out += line.substr(0, best) + "\n";
      line = "    " + line.substr(best + 1);
    }
    return out + line + "\n";
  }

  void comment(NodeId id, std::string &last) {
    if (naming_.statement == nullptr)
      return;
    const bool forward = trace_.names.count(id) != 0 || gradients_.places.count(id) == 0;
    std::string text;
    if (forward)
      text = "// The forward kernel again.";
    else if (const std::string of = naming_.statement(spec_, gradients_.places.at(id)); !of.empty())
      text = "// Back through " + of;
    if (text != last && !text.empty())
      out_.body += text.substr(0, kWidth) + "\n";
    last = text;
  }

  void statements(const std::vector<Root> &roots) {
    const Text text(graph_, names_);
    std::string last;
    for (NodeId id : named_) {
      comment(id, last);
      out_.body += wrapped(type_name(graph_.node(id).type) + " " + names_.at(id) + " = " + text.definition(id) + ";");
    }
    if (!named_.empty() && naming_.statement != nullptr)
      out_.body += "// The gradients.\n";
    for (const Root &root : roots) {
      std::string target = root.target;
      if (!root.places.empty()) {
        Node at;
        for (const auto &[axis, place] : root.places) {
          at.places.push_back(axis);
          at.args.push_back(place);
        }
        target = "at(" + target + text.places(at, 0) + ")";
      }
      const std::string condition = root.condition == kNoNode ? "" : "if (" + text.use(root.condition) + ") ";
      const std::string sign = root.adds ? " += " : root.target == "return" ? " " : " = ";
      out_.body += wrapped(condition + target + sign + text.use(root.value) + ";");
    }
  }

  const Spec &spec_;
  Graph &graph_;
  const Trace &trace_;
  const Gradients &gradients_;
  const Naming &naming_;
  std::set<std::string> taken_;
  Program out_;
  std::map<NodeId, int> uses_;
  std::set<NodeId> needs_name_, named_;
  std::map<NodeId, std::string> names_;
};

} // namespace

Program write_program(const Spec &spec, Graph &graph, const Trace &trace, const Gradients &gradients,
                      const std::vector<Root> &roots, const Naming &naming) {
  return Writer(spec, graph, trace, gradients, naming).run(roots);
}

} // namespace kgen::grad
