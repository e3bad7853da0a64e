// A value gets a name where the forward kernel gives it one, where it is the gradient of one that has, where it is read
// at other places, and where it is used more than once and is more than a word.
#include "grad/program.h"

#include <algorithm>
#include <map>

#include "body/builtins.h"
#include "body/library.h"
#include "grad/absent.h"
#include "grad/nesting.h"
#include "grad/text.h"
#include "grad/words.h"
#include "support/naming.h"
#include "support/text.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

constexpr size_t kWidth = 110;

struct LoopText {
  Loop loop;
  std::set<size_t> needed = {}, kept = {}; // variables
  std::set<size_t> arrays = {};            // that are needed
  std::map<NodeId, int> uses = {};         // in a round
  std::map<NodeId, std::string> names = {};
  std::set<NodeId> values = {}; // of a round that have a name
};

class Writer {
public:
  Writer(const Spec &spec, Graph &graph, const Trace &trace, const Gradients &gradients, const Naming &naming,
         const Widths &widths)
      : spec_(spec), graph_(graph), trace_(trace), gradients_(gradients), naming_(naming), widths_(widths),
        taken_(naming.taken), absent_(graph, optional_inputs(spec, graph), named_, trace.saved) {
    for (const body::BuiltinRow &row : body::builtins())
      taken_.insert(std::string(row.name));
    for (const body::LibraryFunction &function : body::library_functions())
      taken_.insert(function.name);
  }

  Program run(const std::vector<Root> &roots) {
    for (const Root &root : roots)
      taken_.insert(root.target);
    for (const NodeId stride : graph_.required_positive())
      visit(stride);
    for (const Root &root : roots) {
      visit(root.value);
      if (root.condition != kNoNode) {
        std::set<NodeId> seen;
        name_elsewhere(root.value, graph_.axes(root.condition), seen);
        visit(root.condition);
      }
      for (const auto &[axis, place] : root.places)
        visit(place);
    }
    choose_names(roots);
    out_.body += Text(graph_, names_, widths_, absent_).requirements();
    statements(roots);
    return std::move(out_);
  }

private:
  // Those of the forward kernel, and given gradients that may be absent: of these somebody asks.
  static Absent::Inputs optional_inputs(const Spec &spec, const Graph &graph) {
    Absent::Inputs out;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.size()); ++id)
      if (graph.node(id).kind == Kind::present)
        out.insert(graph.node(id).name);
    for (const OperandDecl &operand : spec.operands)
      if (operand.role == Role::input && operand.optional)
        out.insert(operand.name);
    return out;
  }

  void visit(NodeId id) {
    if (++uses_[id] > 1)
      return;
    if (const auto saved = trace_.saved.find(id); saved != trace_.saved.end()) {
      names_[id] = saved->second;
      out_.operands.insert(saved->second);
      return;
    }
    const Node n = graph_.node(id);
    if (n.kind == Kind::looped)
      return need(n.which, static_cast<size_t>(n.integer));
    note(id, n);
    if (n.kind == Kind::at && graph_.node(n.args[0]).kind != Kind::operand)
      needs_name_.insert(n.args[0]);
    if (n.kind == Kind::choose) // a running value goes over all lanes
      for (const size_t arm : {1, 2})
        name_scans(n.args[arm]);
    for (NodeId arg : n.args)
      visit(arg);
    for (size_t i = 0; i < n.powers.size(); ++i) // a power is written out
      if (std::abs(n.powers[i]) > 1)
        visit(n.args[i]);
  }

  // What a loop leaves: a variable, or an array.
  void need(int which, size_t result) {
    if (const size_t variables = graph_.loop(which).variables.size(); result < variables)
      need_variable(which, result);
    else
      need_array(which, result - variables);
  }

  void need_array(int which, size_t array) {
    if (!loops_.try_emplace(which, LoopText{graph_.loop(which)}).first->second.arrays.insert(array).second)
      return;
    if (graph_.loop(which).unknown != kNoNode)
      out_.unknown = graph_.loop(which).unknown;
    if (const NodeId count = graph_.loop(which).count; count != kNoNode)
      visit(count);
    visit_in_loop(which, graph_.loop(which).arrays[array].value);
  }

  void need_variable(int which, size_t variable) {
    if (!loops_.try_emplace(which, LoopText{graph_.loop(which)}).first->second.needed.insert(variable).second)
      return;
    const Loop::Variable v = graph_.loop(which).variables[variable];
    visit(v.entry);
    if (const NodeId count = graph_.loop(which).count; count != kNoNode)
      visit(count);
    visit_in_loop(which, v.next);
  }

  void visit_in_loop(int which, NodeId id) {
    const Node n = graph_.node(id);
    if (!n.in_loop)
      return visit(id);
    if (++loops_.at(which).uses[id] > 1)
      return;
    if (n.kind == Kind::handed) {
      const auto [of, variable] = graph_.variable_of(id);
      need(of, variable);
      if (of != which)
        keep(of, variable);
      return;
    }
    note(id, n);
    for (NodeId arg : n.args)
      visit_in_loop(which, arg);
  }

  void keep(int which, size_t variable) {
    loops_.at(which).kept.insert(variable);
    if (graph_.loop(which).unknown != kNoNode)
      out_.unknown = graph_.loop(which).unknown;
  }

  void note(NodeId id, const Node &n) {
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
      out_.derivatives[n.name].by.insert(n.by);
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
      if (graph_.made().count(axis) != 0)
        out_.made.insert(axis);
  }

  // What goes over other lanes is no matter of a condition.
  void name_elsewhere(NodeId id, AxisSet asked, std::set<NodeId> &seen) {
    if (!seen.insert(id).second)
      return;
    const Node &n = graph_.node(id);
    if (n.kind == Kind::scan || (n.kind == Kind::at && graph_.node(n.args[0]).kind != Kind::operand) ||
        !(n.reduced & asked).empty())
      needs_name_.insert(id);
    for (NodeId arg : n.args)
      name_elsewhere(arg, asked, seen);
  }

  void name_scans(NodeId id) {
    if (!scans_.insert(id).second)
      return;
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
    case Kind::at: // unless it has a name that says more, or is asked for again and again
      return is_slice(graph_, n) && trace_.names.count(id) == 0 && !(uses_.contains(id) && uses_.at(id) > kMostOfSlice);
    case Kind::op:
      if (asks_for_row(n))
        return true;
      return graph_.required_positive().count(id) == 0 &&
             (n.op == Op::neg || n.op == Op::logical_not || (n.type == Type::boolean && trace_.names.count(id) == 0) ||
              is_integer(n.type)) &&
             std::all_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return is_cheap(arg) || named_.count(arg); });
    case Kind::product: // -d
      return is_multiple(n) && n.number == -1;
    case Kind::choose: // a == b ? d / 2 : 0
      return is_tie(n);
    default:
      return false;
    }
  }

  // Of which row an entry of a table says: written in place, sums under this condition are known to go row by row.
  bool asks_for_row(const Node &n) const {
    const auto is = [&](size_t arg, Kind kind) { return graph_.node(graph_.strip(n.args[arg])).kind == kind; };
    return n.op == Op::eq && ((is(0, Kind::table) && is(1, Kind::index)) || (is(0, Kind::index) && is(1, Kind::table)));
  }

  bool is_multiple(const Node &n) const {
    return n.kind == Kind::product && n.args.size() == 1 && n.powers[0] == 1 &&
           (is_cheap(n.args[0]) || named_.count(n.args[0]) != 0);
  }

  // The part of a gradient that one of two equal arguments gets.
  bool is_tie(const Node &n) const {
    const Node &condition = graph_.node(n.args[0]), &otherwise = graph_.node(n.args[2]);
    return condition.kind == Kind::op && condition.op == Op::eq && is_cheap(n.args[0]) &&
           is_multiple(graph_.node(n.args[1])) && otherwise.kind == Kind::number && otherwise.number == 0;
  }

  void choose_names(const std::vector<Root> &roots) {
    for (auto &[which, loop] : loops_)
      name_variables(loop);
    for (const auto &[id, count] : uses_) { // arguments come before what is made of them
      if (names_.count(id) != 0 || graph_.node(id).kind == Kind::looped)
        continue;
      const bool forward = trace_.names.count(id) != 0, gradient = gradients_.names.count(id) != 0;
      const bool root_alone = count == 1 && std::any_of(roots.begin(), roots.end(), [&](const Root &root) {
                                return root.value == id && root.condition == kNoNode && !root.adds;
                              });
      const bool hides = !absent_.asked_by(id).empty() || !absent_.asked_by(id, false).empty(); // a question
      const bool wanted = !hides && (count > 1 || ((forward || gradient) && absent_.read_by(id).empty()));
      if (needs_name_.count(id) != 0 || (wanted && !is_cheap(id) && !root_alone))
        named_.insert(id);
    }
    for (NodeId id : named_)
      names_[id] = name_for(id);
    for (auto &[which, loop] : loops_)
      name_values(loop);
  }

  std::string free(const std::vector<std::string> &wishes) {
    return *taken_.insert(free_name(wishes, [&](const std::string &name) { return taken_.count(name) != 0; })).first;
  }

  // A variable has its name behind the loop, too; its values of all rounds are those of a local array.
  void name_variables(LoopText &text) {
    if (round_.empty())
      round_ = free({text.loop.counter.empty() ? "i" : text.loop.counter, "i", "round"});
    for (size_t v : text.needed) {
      const Loop::Variable &variable = text.loop.variables[v];
      const std::string wish = (text.loop.backwards ? naming_.prefix : "") + variable.name;
      const std::string name = free({wish, name_of_parts(wish, "sum"), name_of_parts(wish, "value")});
      names_[variable.result] = text.names[variable.found] = name;
      if (text.kept.count(v) != 0)
        kept_[variable.found] = free({name_of_parts(name, "kept")});
    }
    for (size_t a : text.arrays) {
      const Loop::Array &array = text.loop.arrays[a];
      const std::string wish = naming_.prefix + array.name;
      names_[array.result] = free({name_of_parts(wish, "at"), name_of_parts(wish, "each")});
    }
  }

  // What a round computes. Of a round of another loop it knows what that kept.
  void name_values(LoopText &text) {
    for (const auto &[id, count] : text.uses) {
      const Node &n = graph_.node(id);
      if (n.kind == Kind::round)
        text.names[id] = round_;
      else if (n.kind == Kind::handed)
        text.names.emplace(id, kept_.count(id) != 0 ? kept_.at(id) + "[" + round_ + "]" : "");
      else if ((count > 1 || says_more(text.loop, id)) && !is_cheap(id))
        text.values.insert(id);
    }
    std::swap(names_, text.names);
    names_.insert(text.names.begin(), text.names.end());
    for (NodeId id : text.values) { // which another loop may have computed, too
      std::string &name = in_rounds_[id];
      name = names_[id] = name.empty() ? name_for(id) : name;
    }
    std::swap(names_, text.names);
  }

  // Has a value of a round a name in the forward kernel, other than that of the variable that it is handed on in?
  bool says_more(const Loop &loop, NodeId id) {
    const bool named = trace_.names.count(id) != 0 || gradients_.names.count(id) != 0;
    return named && absent_.read_by(id).empty() &&
           std::none_of(loop.variables.begin(), loop.variables.end(), [&](const auto &v) { return v.next == id; });
  }

  // The name that it has in the forward kernel, or that it was given; else what it is of a value with such a name, or
  // its role.
  std::string name_for(NodeId id) {
    const auto [role, is_next] = words_.role_of(id);
    std::vector<std::string> wishes = {role};
    if (const auto name = trace_.names.find(id); name != trace_.names.end())
      wishes.insert(wishes.begin(), name->second);
    else if (const auto given = naming_.given.find(id); given != naming_.given.end())
      wishes.insert(wishes.begin(), given->second);
    else if (const std::vector<std::string> names = names_by_forward(id); !names.empty())
      wishes.insert(wishes.begin(), names.begin(), names.end());
    for (const std::string &more : {words_.along(id), words_.operand_beside(id)})
      if (!more.empty() && !is_next)
        wishes.push_back(name_of_parts(role, more));
    return free(wishes);
  }

  std::vector<std::string> names_by_forward(NodeId id) const {
    if (const auto of = gradients_.names.find(id); of != gradients_.names.end())
      return gradient_of(of->second);
    const auto said = gradients_.words.find(id);
    if (said == gradients_.words.end())
      return {};
    for (const auto &[word, of] : said->second)
      if (const std::string name = forward_name(of); !name.empty())
        return word == Gradients::Word::whole      ? gradient_of(of)
               : word == Gradients::Word::argument ? std::vector{naming_.prefix + name + "_arg"}
                                                   : std::vector{"slope_" + name};
    return {};
  }

  // `d_y` is given where `y` is an output: what comes from reads of it is added to that.
  std::vector<std::string> gradient_of(NodeId forward) const {
    const std::string name = naming_.prefix + forward_name(forward);
    const bool is_output = trace_.scattered.count(forward) != 0 || trace_.saved.count(forward) != 0;
    return is_output ? std::vector{name, name + "_total"} : std::vector{name};
  }

  std::string forward_name(NodeId id) const {
    for (const auto *names : {&trace_.names, &trace_.saved, &names_})
      if (const auto found = names->find(id); found != names->end())
        return found->second;
    return "";
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
    const bool forward = trace_.names.count(id) != 0 || graph_.is_of_forward(id);
    std::string text;
    if (naming_.given.count(id) != 0)
      text = "// The gradients that are given.";
    else if (forward)
      text = "// The forward kernel again.";
    else if (const auto place = gradients_.places.find(id); place == gradients_.places.end())
      return; // it belongs to what stands before
    else if (const std::string of = naming_.statement(spec_, place->second); !of.empty())
      text = "// Back through " + of;
    if (text != last && !text.empty())
      out_.body += text.substr(0, kWidth) + "\n";
    last = text;
  }

  void define(NodeId id, std::string &last) {
    const Text text(graph_, names_, widths_, absent_);
    comment(id, last);
    out_.body +=
        wrapped(type_name(graph_.node(id).type) + " " + names_.at(id) + " = " + text.asked_definition(id) + ";");
  }

  // Does the next value of one variable depend on what a round finds in another one?
  bool reads(const Loop &loop, size_t reader, size_t of) const {
    std::set<NodeId> seen;
    std::vector<NodeId> open = {loop.variables[reader].next};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == loop.variables[of].found)
        return true;
      if (graph_.node(id).in_loop && seen.insert(id).second)
        open.insert(open.end(), graph_.node(id).args.begin(), graph_.node(id).args.end());
    }
    return false;
  }

  // total = total + share is total += share.
  static std::string update(const std::string &name, const std::string &value) {
    const std::string begin = name + " + ";
    const bool adds = value.starts_with(begin) && value.find_first_of("?<>=&|") == std::string::npos;
    return name + (adds ? " += " + value.substr(begin.size()) : " = " + value) + ";";
  }

  // What a round hands on: first the variables that no other one reads; of others all are known before any changes.
  void hand_on(const LoopText &text, std::vector<std::string> &lines) {
    const Text words(graph_, text.names, widths_, absent_);
    std::vector<size_t> others;
    for (size_t v : text.needed) {
      const Loop::Variable &variable = text.loop.variables[v];
      if (variable.next == variable.found)
        continue;
      const bool read = std::any_of(text.needed.begin(), text.needed.end(),
                                    [&](size_t w) { return w != v && reads(text.loop, w, v); });
      if (read)
        others.push_back(v);
      else
        lines.push_back(update(text.names.at(variable.found), words.asked_use(variable.next)));
    }
    std::vector<std::string> last;
    for (size_t v : others) {
      const Loop::Variable &variable = text.loop.variables[v];
      std::string value = words.asked_use(variable.next);
      if (others.size() > 1) {
        const std::string next = free({name_of_parts("next", text.names.at(variable.found))});
        lines.push_back(type_name(graph_.node(variable.found).type) + " " + next + " = " + value + ";");
        value = next;
      }
      last.push_back(text.names.at(variable.found) + " = " + value + ";");
    }
    lines.insert(lines.end(), last.begin(), last.end());
  }

  NodeId one_less(NodeId count) {
    const Type type = graph_.node(count).type;
    return graph_.op(Op::sub, {count, graph_.integer(1, type)}, type);
  }

  void loop(const LoopText &text, std::string &last) {
    comment(text.loop.variables[*text.needed.begin()].result, last);
    const Text words(graph_, names_, widths_, absent_), inner(graph_, text.names, widths_, absent_);
    const NodeId count = text.loop.count;
    const std::string rounds = count == kNoNode ? std::to_string(text.loop.rounds) : words.use(count);
    const std::string start = count == kNoNode ? std::to_string(text.loop.rounds - 1) : words.use(one_less(count));
    std::vector<std::string> lines;
    for (size_t v : text.needed) {
      const Loop::Variable &variable = text.loop.variables[v];
      const std::string type = type_name(graph_.node(variable.found).type);
      const std::string &name = text.names.at(variable.found);
      out_.body += wrapped(type + " " + name + " = " + words.asked_use(variable.entry) + ";");
      if (text.kept.count(v) == 0)
        continue;
      out_.body += type + " " + kept_.at(variable.found) + "[" + rounds + "];\n";
      lines.push_back(kept_.at(variable.found) + "[" + round_ + "] = " + name + ";");
    }
    for (NodeId id : text.values)
      lines.push_back(type_name(graph_.node(id).type) + " " + text.names.at(id) + " = " + inner.asked_definition(id) +
                      ";");
    for (size_t a : text.arrays) {
      const Loop::Array &array = text.loop.arrays[a];
      out_.body += type_name(graph_.node(array.value).type) + " " + names_.at(array.result) + "[" + rounds + "];\n";
      lines.push_back(names_.at(array.result) + "[" + round_ + "] = " + inner.asked_use(array.value) + ";");
    }
    hand_on(text, lines);
    const std::string &r = round_;
    const std::string begin = "for (" + type_name(graph_.node(text.loop.round).type) + " " + r + " = ";
    out_.body += begin + (text.loop.backwards ? start + "; " + r + " >= 0; --" + r + ") {\n"
                                              : "0; " + r + " < " + rounds + "; ++" + r + ") {\n");
    for (const std::string &line : lines)
      for (const std::string &part : split(wrapped(line), '\n'))
        out_.body += part.empty() ? "" : "  " + part + "\n";
    out_.body += "}\n";
  }

  // A loop stands where its results come in the order of values.
  void statements(const std::vector<Root> &roots) {
    const Text text(graph_, names_, widths_, absent_);
    std::string last;
    auto next = loops_.begin();
    const auto loops_before = [&](NodeId id) {
      for (; next != loops_.end() && next->second.loop.variables[0].result < id; ++next)
        loop(next->second, last);
    };
    for (NodeId id : named_) {
      loops_before(id);
      define(id, last);
    }
    loops_before(static_cast<NodeId>(graph_.size()));
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
      const std::string condition = root.condition == kNoNode ? "" : "if (" + text.use(root.condition) + ")";
      const std::string sign = root.adds ? " += " : root.target == "return" ? " " : " = ";
      const Absent::Inputs known = root.condition == kNoNode ? Absent::Inputs() : absent_.asked_by(root.condition);
      const std::string statement = target + sign + text.asked_use(root.value, known) + ";";
      if (condition.empty())
        out_.body += wrapped(statement);
      else if (const std::string line = condition + " " + statement; line.size() <= kWidth)
        out_.body += line + "\n";
      else
        out_.body += wrapped(condition) + wrapped("    " + statement);
    }
  }

  const Spec &spec_;
  Graph &graph_;
  const Trace &trace_;
  const Gradients &gradients_;
  const Naming &naming_;
  const Widths &widths_;
  std::set<std::string> taken_;
  Program out_;
  static constexpr int kMostOfSlice = 3; // times that it is written as it is
  std::map<NodeId, int> uses_;
  std::set<NodeId> needs_name_, named_;
  std::set<NodeId> scans_; // looked at
  Absent absent_;
  std::map<NodeId, std::string> names_;
  const Words words_{graph_, names_, naming_.prefix};
  std::map<int, LoopText> loops_;
  std::map<NodeId, std::string> in_rounds_; // what rounds of any loop call it
  std::map<NodeId, std::string> kept_;      // arrays of what rounds find in a variable
  std::string round_;                       // the counter of all loops
};

} // namespace

Program write_program(const Spec &spec, Graph &graph, const Trace &trace, const Gradients &gradients,
                      const std::vector<Root> &roots, const Naming &naming, const Widths &widths) {
  std::vector<NodeId> values;
  Others others;
  for (const Root &root : roots)
    values.push_back(root.value);
  for (const auto &[value, of] : gradients.names)
    others.named.push_back(value);
  for (const auto &[value, of] : gradients.words)
    others.shared.push_back(value);
  nest(graph, values, others, trace.saved);
  return Writer(spec, graph, trace, gradients, naming, widths).run(roots);
}

} // namespace kgen::grad
