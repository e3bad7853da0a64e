// Folds whose kept loop runs along memory, such as sums of columns, and what is then written for each of their
// elements: neighbouring threads take neighbouring columns, and the threads of a block with one threadIdx.x share the
// rows of their column. And single folds that blocks share, where columns, or rows, are few and long: the last block to
// come combines what all have found, in order.
#include <algorithm>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"

namespace kgen {

// The host's shape, by the numbers of turns, so many at most, and of items.
std::string CudaKernel::column_shape(const Phase &phase, const std::string &turns) {
  return spelling().helper("ColumnShape") + "(" + turns + ", " + items_text(items_of(plan_, phase)) + ", " +
         (phase.launch.split ? "1024" : "1") + ")";
}

std::string CudaKernel::tickets_name(const PlanNode &split) {
  return printer_.name_beside(folds_over(split).front()->target, "_tickets");
}

// `const NAME shape(...);`, and the tickets of the blocks that share a fold.
std::string CudaKernel::prepare_shape(const std::string &shape, const PlanNode *split) {
  std::string text = "const " + shape.substr(0, shape.find('(')) + " shape" + shape.substr(shape.find('(')) + ";\n";
  if (split != nullptr)
    text += checked("shape.tickets == 0 ? cudaSuccess : cudaMemsetAsync(workspace + space." + tickets_name(*split) +
                    ", 0, static_cast<size_t>(shape.tickets) * sizeof(uint32_t), stream)");
  return text;
}

// A list of folds, one of which several blocks share. Totals in memory get their first value from the block that
// finishes the fold.
void CudaKernel::list_of_folds(const std::vector<PlanNode> &body, const PlanNode *split) {
  bool before = split != nullptr;
  std::vector<size_t> starts;
  for (size_t i = 0; i < body.size(); ++i) {
    printer_.declare_before(body, i);
    if (&body[i] == split) {
      before = false;
      split_loop(body[i], [&] {
        for (size_t start : starts)
          block_node(body[start], body);
      });
    } else if (before && body[i].kind == PlanNode::Kind::fold_init && in_memory(body[i].target)) {
      starts.push_back(i);
    } else {
      block_node(body[i], body);
    }
  }
}

void CudaKernel::column_phase(const Phase &phase, const Nest &chain) {
  const std::vector<PlanNode> &body = chain.back()->body;
  const PlanNode *split = phase.launch.split ? split_fold(plan_, body) : nullptr;
  const std::string column = names_.claim("column"), writes = names_.claim("writes");
  team_ = {"threadIdx.y", "blockDim.y", writes, "column_fold", "column_fold", column + " < items"};
  out().add("const Index items = Index(" + items_text(chain) + ");"); // derived sizes have 64 bits
  out().add("const Index " + column + " = Index(blockIdx.x" + (split != nullptr ? " / chunks" : "") +
            ") * Index(blockDim.x) + Index(threadIdx.x);");
  out().add("const Index item = " + spelling().helper("smaller") + "(" + column + ", items - 1);");
  declare_spare(writes, "const bool " + writes + " = " + column + " < items && threadIdx.y == 0;");
  open_item(chain);
  list_of_folds(body, split);
  team_ = {};
  Launch launch{"shape.blocks"};
  launch.threads = "dim3(shape.wide, shape.deep)";
  launch.chunk = split != nullptr ? "Index" : "";
  launch.prepare = prepare_shape(column_shape(phase, longest_length()), split);
  finish(launch);
}

// The block folds its chunk of the loop, the last block of the item what all have found.
void CudaKernel::split_loop(const PlanNode &node, const std::function<void()> &print_starts) {
  const Nest chain = nest_of(plan_, node, PlanNode::Order::reduction);
  const std::vector<const PlanNode *> folds = folds_over(node);
  const bool single = chain.size() == 1;
  const Printer::Range range = single ? printer_.range(node) : Printer::Range{"0", ""};
  out().add("const Index first = Index(blockIdx.x % chunks) * chunk" +
            (range.begin == "0" ? "" : " + Index(" + range.begin + ")") + ";");
  out().add(
      "const Index last = " +
      (single ? "Index(" + spelling().helper("smaller") + "(first + chunk, " + range.end + "))" : "first + chunk") +
      ";");
  const Printer::Range part{"first", "last"};
  Shares shares = begin_shares(folds);
  strided(chain, chain.back()->body, &part);
  end_shares(shares);
  auto folded = [&](const PlanNode &fold) {
    const std::string &mine = shares.at(fold.target).mine;
    spelling().helper(team_.helper);
    out().add(mine + " = " + team_.fold + "(" + mine + ", " + combination_of(fold) + ");");
  };
  for (const PlanNode *fold : folds)
    folded(*fold);
  out().add("if (chunks > 1) {");
  for (const PlanNode *fold : folds)
    out().add("if (" + team_.writer + ") " + parts_name(fold->target) +
              "[Index(blockIdx.x % chunks) * items + item] = " + shares.at(fold->target).mine + ";");
  out().add("if (!" + spelling().helper("is_last_block") + "(" + tickets_name(node) +
            " + blockIdx.x / chunks, chunks)) return;");
  for (const PlanNode *fold : folds)
    out().add(shares.at(fold->target).mine + " = " +
              spelling().identity(fold->monoid, plan_.kernel.vars[fold->target].type) + ";");
  out().add("for (unsigned part = " + team_.index + "; part < chunks; part += " + team_.size + ") {");
  fold_parts(folds, shares, "Index(part) * items + item");
  out().add("}");
  for (const PlanNode *fold : folds)
    folded(*fold);
  out().add("}");
  print_starts();
  for (const PlanNode *fold : folds) {
    const std::string place = printer_.element(fold->target, {}, {});
    out().add((in_memory(fold->target) ? "if (" + team_.writer + ") " : "") + place + " = " +
              printer_.combined(*fold, place, {shares.at(fold->target).mine}).text + ";");
  }
}

} // namespace kgen
