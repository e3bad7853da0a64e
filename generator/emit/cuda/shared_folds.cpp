#include "emit/cuda/shared_folds.h"

#include "plan/index/access.h"

namespace kgen {
namespace {

std::string tickets_name(Printer &printer, const PlanNode &split) {
  return printer.name_beside(folds_over(split).front()->target, "_tickets");
}

void fold_over_team(Block &block, const std::vector<const PlanNode *> &folds, const Shares &shares) {
  for (const PlanNode *fold : folds)
    block.out.add(shares.at(fold->target).mine + " = " + team_fold(block.out, block.team, *fold, shares) + ";");
}

// Each block leaves what it has found; the last one combines all of it.
void combine_blocks(Block &block, const PlanNode &split, const std::vector<const PlanNode *> &folds,
                    const Shares &shares) {
  KernelText &out = block.out;
  out.add("if (chunks > 1) {");
  for (const PlanNode *fold : folds)
    out.add("if (" + block.team.writer + ") " + parts_name(out.printer, fold->target) +
            "[Index(blockIdx.x % chunks) * items + item] = " + shares.at(fold->target).mine + ";");
  out.add("if (!" + out.helper("is_last_block") + "(" + tickets_name(out.printer, split) +
          " + blockIdx.x / chunks, chunks)) return;");
  for (const PlanNode *fold : folds)
    out.add(shares.at(fold->target).mine + " = " +
            out.printer.spelling.identity(fold->monoid, out.kernel().vars[fold->target].type) + ";");
  out.add("for (unsigned part = " + block.team.index + "; part < chunks; part += " + block.team.size + ") {");
  fold_parts(out, folds, shares, "Index(part) * items + item");
  out.add("}");
  fold_over_team(block, folds, shares);
  out.add("}");
}

// The block folds its chunk of the loop, the last block of the item what all have found; then totals get their first
// value from the nodes at `starts`.
void split_loop(Block &block, const std::vector<PlanNode> &body, const PlanNode &split,
                const std::vector<size_t> &starts) {
  KernelText &out = block.out;
  const Nest nest = nest_of(out.plan(), split, PlanNode::Order::reduction);
  const std::vector<const PlanNode *> folds = folds_over(split);
  const Printer::Range part = open_part(out, nest, "blockIdx.x % chunks", "chunk");
  const Shares shares = begin_shares(out, folds);
  strided(block, nest, &part);
  end_shares(out.printer, shares);
  fold_over_team(block, folds, shares);
  combine_blocks(block, split, folds, shares);
  for (size_t start : starts)
    block_node(block, body[start], body);
  for (const PlanNode *fold : folds) {
    const std::string place = out.printer.element(fold->target, {}, {});
    out.add((in_memory(out.printer, fold->target) ? "if (" + block.team.writer + ") " : "") + place + " = " +
            out.printer.combined(*fold, place, {shares.at(fold->target).mine}).text + ";");
  }
}

} // namespace

void list_of_folds(Block &block, const std::vector<PlanNode> &body, const PlanNode *split) {
  bool before = split != nullptr;
  std::vector<size_t> starts;
  for (size_t i = 0; i < body.size(); ++i) {
    block.out.printer.declare_before(body, i);
    if (&body[i] == split) {
      before = false;
      split_loop(block, body, *split, starts);
    } else if (before && body[i].kind == PlanNode::Kind::fold_init && in_memory(block.out.printer, body[i].target)) {
      starts.push_back(i);
    } else {
      block_node(block, body[i], body);
    }
  }
}

std::string prepare_shape(Printer &printer, const std::string &shape, const PlanNode *split) {
  const size_t name = shape.find('(');
  std::string text = "const " + shape.substr(0, name) + " shape" + shape.substr(name) + ";\n";
  if (split != nullptr)
    text +=
        checked("shape.tickets == 0 ? cudaSuccess : cudaMemsetAsync(workspace + space." +
                tickets_name(printer, *split) + ", 0, static_cast<size_t>(shape.tickets) * sizeof(uint32_t), stream)");
  return text;
}

Printer::Range open_part(KernelText &out, const Nest &nest, const std::string &number, const std::string &chunk,
                         const std::string &type) {
  const bool single = nest.size() == 1;
  const Printer::Range range = single ? out.printer.range(*nest.front()) : Printer::Range{"0", ""};
  out.add("const " + type + " first = " + type + "(" + number + ") * " + chunk +
          (range.begin == "0" ? "" : " + " + type + "(" + range.begin + ")") + ";");
  const std::string last = "first + " + chunk;
  out.add("const " + type + " last = " +
          (single ? type + "(" + out.helper("smaller") + "(" + last + ", " + range.end + "))" : last) + ";");
  return {"first", "last"};
}

} // namespace kgen
