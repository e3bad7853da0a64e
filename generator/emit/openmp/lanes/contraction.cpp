#include "emit/openmp/lanes/contraction.h"

#include <algorithm>
#include <utility>

#include "emit/openmp/lanes/monoids.h"
#include "emit/openmp/lanes/values.h"
#include "emit/print/nest.h"
#include "emit/target_file.h"
#include "emit/text/comments.h"
#include "plan/contract/contractions.h"
#include "plan/tree/tree.h"
#include "support/text.h"

namespace kgen {
namespace {

// `int64_t m`, or no name where the text does without it.
std::string parameter(const std::string &type, const std::string &name, const std::string &text) {
  return mentions_word(text, name) ? type + " " + name : type;
}

std::string function(const std::vector<std::string> &parameters, const std::string &body,
                     const std::string &type = "") {
  return "[=](" + join(parameters, ", ") + ") IN_SET " + (type.empty() ? "" : "-> " + type + " ") + "{\n" + body + "}";
}

// A function of which the helper knows more by this type.
std::string marked(const std::string &type, bool is, const std::string &function) {
  return is ? type + "{" + function + "}" : function;
}

// Which helper does it, how it is cut, and their arguments.
struct Way {
  std::string helper, arguments, cut, cut_arguments;
  bool has_step = false; // that of the helper's name
};

Way way_of(const Contraction &contraction, const std::string &types, bool is_usual) {
  const std::string lanes = kLaneCount;
  if (is_usual && contraction.short_types) {
    const auto [left, right] = *contraction.short_types;
    if (left == Type::i16 || right == Type::i16)
      return {"contract_pairs", lanes, "CutOfWords", lanes + ", 2", true};
    return {"contract_bytes", lanes + ", " + Spelling::c_type(left) + ", " + Spelling::c_type(right), "CutOfBytes",
            lanes, true};
  }
  if (is_usual && contraction.stored) {
    const std::string element = Spelling::element_type(*contraction.stored) + ", " + lanes;
    return {"contract_products", element, "CutOfProducts", element, true};
  }
  return {"contract", lanes + ", " + types, "Cut", types + ", " + lanes};
}

// The loops of a contraction, and what its functions are printed of.
class ContractionText {
public:
  ContractionText(LaneScope &lanes, const PlanNode &nest)
      : lanes_(lanes), contraction_(*nest.contraction), columns_(column_loop(nest)), deep_(loops_of_fold(columns_)),
        around_(leading_loops(nest, contraction_.rows + contraction_.columns - 1)),
        rows_({around_.begin(), around_.begin() + contraction_.rows}, "row", lanes.printer, lanes.names),
        bands_({around_.begin() + contraction_.rows, around_.end()}, "band", lanes.printer, lanes.names),
        depth_(deep_, "at", lanes.printer, lanes.names), total_(lanes.name(contraction_.total)) {}

  // How it is cut, and the call that computes it.
  std::pair<std::string, std::string> print(const std::string &team, const std::string &memory) {
    const Parts parts = this->parts();
    const std::vector<std::string> more = further(parts);
    const Way way = way_of(contraction_, types(), more.empty());
    std::vector<std::string> all = functions(parts, !way.has_step);
    all.insert(all.end(), more.begin(), more.end());
    const std::string start = way.has_step ? "" : ", " + lanes_.identity(step().monoid, type_of(contraction_.total));
    return {way.cut + "<" + way.cut_arguments + ">({0, " + rows_.room() + "}, " + bands_.room() + ", {0, " +
                lanes_.printer.room_text(columns_.axis).text + "}, {0, " + depth_.room() + "})",
            lanes_.helper(way.helper) + "<" + way.arguments + ">(" + team + ", " + memory + ", " + shape() + start +
                ",\n" + join(all, ",\n") + ");"};
  }

  std::string comment() const {
    return "// Tiles of " + rows_.number() + " x " + lanes_.printer.axis_name(columns_.axis) +
           " stay in registers while they go down " + depth_.number() +
           (contraction_.short_types ? ", several positions at a time" : "") + ": " + total_ + ".";
  }

private:
  struct Parts {
    std::string left, right, kept, step, end; // bodies of functions
    std::string until_step, until_column;     // functions
  };

  static const PlanNode &fold_of(const PlanNode &columns) {
    return *std::ranges::find(columns.body, PlanNode::Kind::loop, &PlanNode::kind);
  }

  static std::vector<const PlanNode *> loops_of_fold(const PlanNode &columns) {
    std::vector<const PlanNode *> deep;
    for (const PlanNode *loop = &fold_of(columns); loop->kind == PlanNode::Kind::loop; loop = &loop->body.front())
      deep.push_back(loop);
    return deep;
  }

  // Left factor, right factor, the step.
  const std::vector<PlanNode> &element() const { return deep_.back()->body; }
  const PlanNode &step() const { return element()[2]; }
  Type type_of(VarId var) const { return lanes_.type(var); }
  std::string of_each_row(const std::string &text) { return rows_.decoded(text) + text; }
  std::string at_each_step(const std::string &text) { return depth_.decoded(text) + text; }

  Parts parts() {
    Parts out;
    lanes_.widest = 1;
    out.left = of_each_row(at_each_step(returned(element()[0].value)));
    out.until_column = until(columns_.end);
    out.until_step = until(deep_.back()->end);
    lanes_.axis = columns_.axis;
    out.right = at_each_step(right_factor(element()[1]));
    for (VarId var : {contraction_.left, contraction_.right, contraction_.total}) {
      lanes_.printer.mark_declared(var);
      lanes_.masks.unmasked[var] = lanes_.masks.mask;
    }
    out.kept = of_each_row(at_each_step(returned(step().condition)));
    PlanNode taken = step();
    taken.condition = kNone;
    out.step = lanes_.printer.captured([&] { lanes_.printer.node(taken, element()); });
    out.end = of_each_row(finish());
    lanes_.note(type_of(contraction_.total));
    lanes_.axis = kNone;
    return out;
  }

  // Nothing where there is no such value: which steps a row takes, where it takes all.
  std::string returned(ExprId value) const {
    if (value == kNone)
      return "";
    return lanes_.printer.captured([&] { lanes_.add("return " + lanes_.scalar(value).text + ";"); });
  }

  // What rows go no further than: their steps, or their columns. Empty where they take all.
  std::string until(ExprId end) {
    if (end == kNone)
      return "";
    const std::string text = of_each_row(returned(end));
    return "Until{" + function({number(rows_, text)}, text) + "}";
  }

  // It sets its argument: GCC clears the upper half of vectors that functions return, where only a set has such.
  std::string right_factor(const PlanNode &setting) {
    lanes_.reads.gathered.clear();
    return lanes_.printer.captured([&] {
      const Type type = lanes_.expr(setting.value).type;
      const std::string text = lanes_.placed(Standing::alone, [&] { return widened(lanes_, setting.value, type, 0); });
      lanes_.add(lanes_.name(setting.target) + " = " + text + ";");
    });
  }

  // What stands around the fold.
  std::string finish() {
    return lanes_.printer.captured([&] {
      for (size_t i = 0; i < columns_.body.size(); ++i) {
        const PlanNode &node = columns_.body[i];
        if (&node == deep_.front() || (node.kind == PlanNode::Kind::fold_init && node.target == contraction_.total))
          continue;
        lanes_.printer.declare_before(columns_.body, i);
        lanes_.printer.node(node, columns_.body);
      }
    });
  }

  static std::string number(const CountedNest &nest, const std::string &text) {
    return parameter("int64_t", nest.number(), text);
  }

  std::string of_columns(std::vector<std::string> parameters, std::string text) {
    if (contraction_.columns > 1) {
      text = bands_.decoded(text) + text;
      parameters.push_back(number(bands_, text));
    }
    return function(parameters, text);
  }

  std::vector<std::string> functions(const Parts &parts, bool with_step) {
    const std::string &n = lanes_.printer.axis_name(columns_.axis), &active = lanes_.masks.active;
    const std::string left = lanes_.name(contraction_.left), right = lanes_.name(contraction_.right);
    std::vector<std::string> out = {
        marked("AlongRows", contraction_.left_along_rows,
               function({number(rows_, parts.left), number(depth_, parts.left)}, parts.left,
                        Spelling::arithmetic(type_of(contraction_.left)))),
        marked("AlongDepth", contraction_.right_along_depth,
               of_columns({"auto& " + right, number(depth_, parts.right), parameter("int64_t", n, parts.right),
                           parameter("auto", active, parts.right)},
                          parts.right))};
    if (with_step)
      out.push_back(function(
          {"auto& " + total_, parameter("auto", left, parts.step), parameter("auto", right, parts.step)}, parts.step));
    out.push_back(of_columns({number(rows_, parts.end), parameter("int64_t", n, parts.end),
                              parameter("auto", active, parts.end), parameter("auto", total_, parts.end)},
                             parts.end));
    return out;
  }

  // What is given after the functions that each has: which steps are taken, how totals are combined, which columns are
  // wanted. Empty where it is as usual.
  std::vector<std::string> further(const Parts &parts) {
    std::string steps = parts.until_step;
    if (steps.empty() && !parts.kept.empty())
      steps = function({number(rows_, parts.kept), number(depth_, parts.kept)}, parts.kept);
    const bool sums = step().monoid == Monoid::sum;
    std::vector<std::string> out = {steps, sums ? "" : combination(lanes_, step().monoid, type_of(contraction_.total)),
                                    parts.until_column};
    while (!out.empty() && out.back().empty())
      out.pop_back();
    const char *const usual[] = {"Everywhere()", "Plus()", "Everywhere()"};
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].empty())
        out[i] = usual[i];
    return out;
  }

  std::string types() const {
    return join({Spelling::arithmetic(type_of(contraction_.total)), Spelling::arithmetic(type_of(contraction_.left)),
                 Spelling::arithmetic(type_of(contraction_.right))},
                ", ");
  }

  std::string shape() {
    const Printer::Range range = lanes_.printer.range(columns_);
    return rows_.span() + ", " + (contraction_.columns > 1 ? bands_.count() + ", " : "") + "{" + range.begin + ", " +
           range.end + "}, " + depth_.span();
  }

  LaneScope &lanes_;
  const Contraction &contraction_;
  const PlanNode &columns_;
  const std::vector<const PlanNode *> deep_, around_;
  CountedNest rows_, bands_, depth_;
  const std::string total_; // its name
};

} // namespace

std::string contraction_on_lanes(LaneScope &lanes, NamesOfFactors &factors, const PlanNode &nest,
                                 const std::string &team, const std::string &memory) {
  const auto [left, right] = std::pair(nest.contraction->left, nest.contraction->right);
  ContractionText contraction(lanes, nest);
  if (factors.left.empty())
    factors = {lanes.name(left), lanes.name(right)};
  lanes.printer.rename(left, factors.left); // of the functions of one call alone
  lanes.printer.rename(right, factors.right);
  const auto [cut, call] = contraction.print(team, memory);
  lanes.add(contraction.comment());
  lanes.add(lanes.with_count(call));
  return lanes.with_count(cut);
}

} // namespace kgen
