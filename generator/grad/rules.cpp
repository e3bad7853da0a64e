#include "grad/rules.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "ir/op_rows.h"
#include "support/check.h"
#include "support/text.h"

namespace kgen::grad {
namespace {

constexpr DerivativeRow kLibrary[] = {
#define KGEN_LIBRARY_DERIVATIVE(name, derivative) {#name, derivative},
#include "grad/library.def"
#undef KGEN_LIBRARY_DERIVATIVE
};

// An expression of a row. What stands in the tables is right: a mistake is a fault of kgen.
class Reader {
public:
  Reader(Graph &graph, std::string_view text, std::map<std::string, NodeId> names)
      : graph_(graph), text_(text), names_(std::move(names)) {}

  NodeId run() {
    const NodeId out = choice();
    KGEN_CHECK(at_ == text_.size());
    return out;
  }

private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool take(std::string_view word) {
    blanks();
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    blanks();
    return true;
  }

  NodeId choice() {
    const NodeId condition = both();
    if (!take("?"))
      return condition;
    const NodeId then = choice();
    KGEN_CHECK(take(":"));
    const NodeId otherwise = choice();
    return graph_.choose(condition, graph_.real(then), graph_.real(otherwise));
  }

  NodeId both() {
    NodeId out = comparison();
    for (;;)
      if (take("&&"))
        out = graph_.both(out, comparison());
      else if (take("||")) {
        const NodeId other = comparison(), either = graph_.either(out, other);
        out = either == kNoNode ? graph_.truth(true) : either;
      } else
        return out;
  }

  NodeId comparison() {
    const NodeId left = sum();
    constexpr std::pair<std::string_view, Op> kComparisons[] = {{"==", Op::eq}, {"!=", Op::ne}, {"<=", Op::le},
                                                                {">=", Op::ge}, {"<", Op::lt},  {">", Op::gt}};
    for (const auto &[sign, op] : kComparisons)
      if (take(sign))
        return graph_.compare(op, graph_.real(left), graph_.real(sum()));
    return left;
  }

  NodeId sum() {
    NodeId out = product();
    for (;;)
      if (take("+"))
        out = graph_.add(out, product());
      else if (take("-"))
        out = graph_.add(out, graph_.neg(product()));
      else
        return out;
  }

  NodeId product() {
    NodeId out = factor();
    for (;;)
      if (take("*"))
        out = graph_.mul(out, factor());
      else if (take("/"))
        out = graph_.div(out, factor());
      else
        return out;
  }

  NodeId factor() {
    if (take("-"))
      return graph_.neg(factor());
    if (take("(")) {
      const NodeId out = choice();
      KGEN_CHECK(take(")"));
      return out;
    }
    blanks();
    const size_t begin = at_;
    const bool is_number = std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (is_number)
      return graph_.number(std::strtod(word.c_str(), nullptr));
    if (!take("("))
      return names_.at(word);
    std::vector<NodeId> args;
    do
      args.push_back(choice());
    while (take(","));
    KGEN_CHECK(take(")"));
    const auto row = std::ranges::find(op_rows(), word, &OpRow::name);
    KGEN_CHECK(row != op_rows().end());
    return graph_.op(row->op, args, row->result == op::Result::boolean ? Type::boolean : Type::f32);
  }

  Graph &graph_;
  std::string_view text_;
  std::map<std::string, NodeId> names_;
  size_t at_ = 0;
};

} // namespace

std::vector<DerivativeRow> operation_derivatives() {
  std::vector<DerivativeRow> out;
  for (const OpRow &row : op_rows())
    if (!row.derivatives.empty())
      out.push_back({row.name, row.derivatives});
  return out;
}

std::vector<DerivativeRow> library_derivatives() { return {std::begin(kLibrary), std::end(kLibrary)}; }

namespace {
NodeId read(Graph &graph, std::string_view derivatives, const std::vector<NodeId> &args, NodeId result, size_t which) {
  std::map<std::string, NodeId> names = {{"r", result}};
  for (size_t i = 0; i < args.size(); ++i)
    names[std::string(1, static_cast<char>('a' + i))] = args[i];
  const auto parts = split(derivatives, ';');
  return Reader(graph, trim(parts.at(which)), names).run();
}
} // namespace

NodeId derivative_of(Graph &graph, Op op, const std::vector<NodeId> &args, NodeId result, size_t which) {
  const std::string_view text = is_scalar_op(op) ? op_row(op).derivatives : "";
  return text.empty() ? kNoNode : read(graph, text, args, result, which);
}

NodeId library_derivative(Graph &graph, std::string_view function, const std::vector<NodeId> &args, NodeId result,
                          size_t which) {
  for (const DerivativeRow &row : kLibrary)
    if (row.name == function)
      return read(graph, row.derivatives, args, result, which);
  return kNoNode;
}

const std::set<std::string> &library_rows() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out;
    for (const DerivativeRow &row : kLibrary)
      out.emplace(row.name);
    return out;
  }();
  return names;
}

} // namespace kgen::grad
