// Contractions on lanes: the call of a helper that cuts one into tiles of registers, with the functions that it is made
// of: the factors, a step of the fold, and what is done with each total.
#include <algorithm>
#include <tuple>

#include "emit/openmp/lanes.h"
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

// What is given after the functions that each has: which steps are taken, how totals are combined, which columns are
// wanted. Empty where it is as usual.
std::vector<std::string> further(const std::string &steps, const std::string &combination, const std::string &columns) {
  std::vector<std::string> out = {steps, combination, columns};
  while (!out.empty() && out.back().empty())
    out.pop_back();
  const char *const usual[] = {"Everywhere()", "Plus()", "Everywhere()"};
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].empty())
      out[i] = usual[i];
  return out;
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

} // namespace

std::string LanePrinter::left_factor(const PlanNode &setting) {
  return printer_.captured([&] { printer_.lines.add("return " + printer_.expression(setting.value).text + ";"); });
}

// Which steps a row takes; nothing where it takes all.
std::string LanePrinter::kept_steps(const PlanNode &step) {
  if (step.condition == kNone)
    return "";
  return printer_.captured([&] { printer_.lines.add("return " + printer_.expression(step.condition).text + ";"); });
}

// What rows go no further than: their steps, or their columns. Empty where they take all.
std::string LanePrinter::end_of_row(const PlanNode &loop) {
  if (loop.end == kNone)
    return "";
  return printer_.captured([&] { printer_.lines.add("return " + printer_.expression(loop.end).text + ";"); });
}

// It sets its argument: GCC clears the upper half of vectors that functions return, where only a set has such.
std::string LanePrinter::right_factor(const PlanNode &setting) {
  gathered_.clear();
  return printer_.captured([&] {
    const Type type = kernel_.expr(setting.value).type;
    const std::string text = placed(Standing::alone, [&] { return widened(setting.value, type, 0); });
    printer_.lines.add(printer_.name(setting.target) + " = " + text + ";");
  });
}

// What stands around the fold.
std::string LanePrinter::finish(const PlanNode &columns, size_t fold, VarId total) {
  return printer_.captured([&] {
    for (size_t i = 0; i < columns.body.size(); ++i) {
      const PlanNode &node = columns.body[i];
      if (i == fold || (node.kind == PlanNode::Kind::fold_init && node.target == total))
        continue;
      printer_.declare_before(columns.body, i);
      printer_.node(node, columns.body);
    }
  });
}

// Of two totals of one number.
std::string LanePrinter::combination(Monoid monoid, Type type) {
  const auto &[one, other] = names_.pair();
  return combiner(combined(monoid, type, one, other), one, other, "auto");
}

std::string LanePrinter::contraction(const PlanNode &nest, const std::string &team, const std::string &memory) {
  const Contraction &contraction = *nest.contraction;
  const PlanNode &columns = column_loop(nest);
  const std::vector<const PlanNode *> around = leading_loops(nest, contraction.rows + contraction.columns - 1);
  const auto first_band = around.begin() + contraction.rows;
  CountedNest rows({around.begin(), first_band}, "row", printer_, names_);
  CountedNest bands({first_band, around.end()}, "band", printer_, names_);
  const auto is_loop = [](const PlanNode &n) { return n.kind == PlanNode::Kind::loop; };
  const auto fold = std::find_if(columns.body.begin(), columns.body.end(), is_loop);
  std::vector<const PlanNode *> deep;
  for (const PlanNode *loop = &*fold; is_loop(*loop); loop = &loop->body.front())
    deep.push_back(loop);
  const std::vector<PlanNode> &element = deep.back()->body; // left, right, the step
  CountedNest depth(deep, "at", printer_, names_);
  const auto [left, right, total] = std::tuple(contraction.left, contraction.right, contraction.total);
  const Type type = kernel_.vars[total].type;
  if (factors_.first.empty())
    factors_ = {printer_.name(left), printer_.name(right)};
  printer_.rename(left, factors_.first); // of the functions of one call alone
  printer_.rename(right, factors_.second);

  widest_ = 1;
  const std::string of_left = left_factor(element[0]);
  const std::string last_column = end_of_row(columns), last_step = end_of_row(*deep.back());
  lane_ = columns.axis;
  const std::string of_right = right_factor(element[1]);
  for (VarId var : {left, right, total}) {
    printer_.mark_declared(var);
    came_to_life(var);
  }
  const std::string kept = kept_steps(element[2]);
  PlanNode taken = element[2];
  taken.condition = kNone;
  const std::string step = printer_.captured([&] { printer_.node(taken, element); });
  const size_t at = static_cast<size_t>(fold - columns.body.begin());
  const std::string end = finish(columns, at, total);
  note(type);
  lane_ = kNone;

  const std::string n = printer_.axis_name(columns.axis);
  const auto index = [](const CountedNest &nest, const std::string &text) {
    return parameter("int64_t", nest.number(), text);
  };
  const auto of_columns = [&](std::vector<std::string> parameters, std::string text) {
    const bool has_bands = contraction.columns > 1;
    text = (has_bands ? bands.decoded(text) : "") + text;
    if (has_bands)
      parameters.push_back(index(bands, text));
    return function(parameters, text);
  };
  const auto decoded = [](CountedNest &nest, const std::string &text) { return nest.decoded(text) + text; };
  const std::string left_text = decoded(rows, decoded(depth, of_left)), right_text = decoded(depth, of_right),
                    end_text = decoded(rows, end), kept_text = decoded(rows, decoded(depth, kept));
  const std::string &total_name = printer_.name(total);
  const Printer::Range range = printer_.range(columns);
  const std::string shape = rows.span() + ", " + (contraction.columns > 1 ? bands.count() + ", " : "") + "{" +
                            range.begin + ", " + range.end + "}, " + depth.span();
  const std::string types = join({Spelling::arithmetic(type), Spelling::arithmetic(kernel_.vars[left].type),
                                  Spelling::arithmetic(kernel_.vars[right].type)},
                                 ", ");
  std::vector<std::string> functions = {
      marked("AlongRows", contraction.left_along_rows,
             function({index(rows, left_text), index(depth, left_text)}, left_text,
                      Spelling::arithmetic(kernel_.vars[left].type))),
      marked("AlongDepth", contraction.right_along_depth,
             of_columns({"auto& " + printer_.name(right), index(depth, right_text), parameter("int64_t", n, right_text),
                         parameter("auto", active_, right_text)},
                        right_text))};
  functions.push_back(of_columns({index(rows, end_text), parameter("int64_t", n, end_text),
                                  parameter("auto", active_, end_text), parameter("auto", total_name, end_text)},
                                 end_text));
  const auto until = [&](const std::string &end) {
    const std::string decoded_end = decoded(rows, end);
    return "Until{" + function({index(rows, decoded_end)}, decoded_end) + "}";
  };
  const std::string steps = !last_step.empty() ? until(last_step)
                            : !kept.empty()    ? function({index(rows, kept_text), index(depth, kept_text)}, kept_text)
                                               : "";
  const bool combines = element[2].monoid != Monoid::sum;
  const std::vector<std::string> more = further(steps, combines ? combination(element[2].monoid, type) : "",
                                                last_column.empty() ? "" : until(last_column));
  const Way way = way_of(contraction, types, more.empty());
  const std::string start = printer_.spelling.identity(element[2].monoid, type);
  functions.insert(functions.end(), more.begin(), more.end());
  if (!way.has_step)
    functions.insert(functions.begin() + 2,
                     function({"auto& " + total_name, parameter("auto", printer_.name(left), step),
                               parameter("auto", printer_.name(right), step)},
                              step));
  std::string text = helper(way.helper) + "<" + way.arguments + ">(" + team + ", " + memory + ", " + shape +
                     (way.has_step ? "" : ", " + start) + ",\n" + join(functions, ",\n") + ");";
  const std::string lanes = helper("kLanes" + std::to_string(8 * widest_));
  std::string cut = way.cut + "<" + way.cut_arguments + ">({0, " + rows.room() + "}, " + bands.room() + ", {0, " +
                    printer_.room_text(columns.axis).text + "}, {0, " + depth.room() + "})";
  for (std::string *one : {&text, &cut})
    replace_all(*one, kLaneCount, lanes);
  printer_.lines.add("// Tiles of " + rows.number() + " x " + n + " stay in registers while they go down " +
                     depth.number() + (contraction.short_types ? ", several positions at a time" : "") + ": " +
                     total_name + ".");
  printer_.lines.add(text);
  return cut;
}

} // namespace kgen
