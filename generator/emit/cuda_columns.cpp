// Folds whose kept loop runs along memory, such as sums of columns. Neighbouring threads take neighbouring columns; the
// threads of a block with one threadIdx.x share the rows of their column. Where columns are few, blocks share the rows
// too, and the last one to come combines what they have found, in order.
#include <algorithm>

#include "emit/cuda_kernel.h"
#include "plan/access.h"

namespace kgen {

// Is all of the work item a list of folds over elements of arrays, and of values from what they give?
bool CudaKernel::folds_columns(const Phase &phase, const std::vector<const PlanNode *> &chain) {
  const std::vector<PlanNode> &body = chain.back()->body;
  AxisSet kept;
  for (const PlanNode *node : chain) {
    if (node->kind != PlanNode::Kind::loop)
      return false;
    kept |= AxisSet::of(node->axis);
  }
  if (chain.back()->axis != phase.lane)
    return false;
  shared_.clear();
  find_shared(body);
  bool folds = false;
  for (const PlanNode &node : body) {
    const bool reduction = node.kind == PlanNode::Kind::loop && node.order == PlanNode::Order::reduction;
    const bool value = (node.kind == PlanNode::Kind::assign && node.coords.empty() && !node.scatter_add) ||
                       node.kind == PlanNode::Kind::fold_init;
    if (!reduction && !value)
      return false;
    folds = folds || reduction;
    std::vector<const PlanNode *> all = chain;
    std::set<VarId> targets;
    if (reduction) {
      for (const PlanNode *loop : chain_of(node, kMostNested, PlanNode::Order::reduction))
        all.push_back(loop);
      if (all.size() == chain.size() || !counted_by_arrays(all) ||
          length_of({all.begin() + static_cast<long>(chain.size()), all.end()}).empty())
        return false;
      for (const PlanNode *fold : folds_over(node)) {
        if (!kept.contains(fold->lanes - fold->reduced))
          return false;
        targets.insert(fold->target);
        targets.insert(fold->partner);
      }
    }
    // What one thread of the column writes to memory, no other may read. Inside the loops nothing is written.
    for (const Access &a : accesses_of(plan_.kernel, node))
      if (in_memory(a.var) && targets.count(a.var) == 0 &&
          ((reduction && a.write) || (shared_.count(a.memory) != 0 && (reduction || !in_memory(node.target)))))
        return false;
  }
  shared_.clear();
  return folds;
}

// The loop whose rows blocks may share: the only one, with folds whose parts combine value by value.
const PlanNode *CudaKernel::split_fold(const std::vector<PlanNode> &body) {
  const PlanNode *found = nullptr;
  for (const PlanNode &node : body) {
    if (node.kind != PlanNode::Kind::loop)
      continue;
    const auto pairs = [](const PlanNode *fold) { return fold->partner != kNone; };
    const std::vector<const PlanNode *> folds = folds_over(node);
    if (found != nullptr || plan_.kernel.axes[node.axis].ragged != kNone ||
        std::any_of(folds.begin(), folds.end(), pairs) || !goes_by_points(node))
      return nullptr;
    found = &node;
  }
  return found;
}

// The host's shape, by the numbers of rows and of columns.
std::string CudaKernel::shape_text(const std::vector<const PlanNode *> &chain, const PlanNode *split) {
  return spelling().helper("ColumnShape") + "(" + longest_length() + ", " + items_text(chain) + ", " +
         (split != nullptr ? "1024" : "1") + ")";
}

std::string CudaKernel::tickets_name(const PlanNode &split) const {
  return printer_.name(folds_over(split).front()->target) + "_tickets";
}

void CudaKernel::reserve_columns(const Phase &phase) {
  const std::vector<const PlanNode *> chain = chain_of(phase.nodes.front(), phase.split);
  if (!folds_columns(phase, chain))
    return;
  const PlanNode *split = split_fold(chain.back()->body);
  if (split == nullptr)
    return;
  lengths_ = {length_of(chain_of(*split, kMostNested, PlanNode::Order::reduction))};
  const std::string shape = shape_text(chain, split);
  for (const PlanNode *fold : folds_over(*split))
    offsets_.push_back({parts_name(fold->target), shape + ".parts", plan_.kernel.vars[fold->target].type});
  offsets_.push_back({tickets_name(*split), shape + ".tickets", Type::u32});
}

void CudaKernel::column_phase(const std::vector<const PlanNode *> &chain) {
  const std::vector<PlanNode> &body = chain.back()->body;
  const PlanNode *split = split_fold(body);
  const std::string column = names_.claim("column"), writes = names_.claim("writes");
  team_ = {"threadIdx.y", "blockDim.y", writes, "column_fold"};
  out().add("const Index items = " + items_text(chain) + ";");
  out().add("const Index " + column + " = Index(blockIdx.x" + (split != nullptr ? " / chunks" : "") +
            ") * Index(blockDim.x) + Index(threadIdx.x);");
  out().add("const Index item = " + spelling().helper("smaller") + "(" + column + ", items - 1);");
  out().add("const bool " + writes + " = " + column + " < items && threadIdx.y == 0;");
  decode(chain, "item");
  for (size_t i = 0; i < body.size(); ++i) {
    printer_.declare_before(body, i);
    if (&body[i] == split)
      split_columns(body[i]);
    else
      block_node(body[i], body);
  }
  team_ = {};
  Launch launch{"shape.blocks"};
  launch.columns = true;
  launch.chunk = split != nullptr ? "Index" : "";
  launch.prepare =
      "const ColumnShape shape" + shape_text(chain, split).substr(std::string("ColumnShape").size()) + ";\n";
  if (split != nullptr)
    launch.prepare += "if (const cudaError_t error = shape.tickets == 0 ? cudaSuccess : cudaMemsetAsync(workspace + "
                      "space." +
                      tickets_name(*split) +
                      ", 0, static_cast<size_t>(shape.tickets) * sizeof(uint32_t), stream); "
                      "error != cudaSuccess) return error;\n";
  finish(launch);
}

// The block folds its chunk of the rows, the last block of the columns what all have found.
void CudaKernel::split_columns(const PlanNode &node) {
  const std::vector<const PlanNode *> chain = chain_of(node, kMostNested, PlanNode::Order::reduction);
  const std::vector<const PlanNode *> folds = folds_over(node);
  const Printer::Range range = chain.size() == 1 ? printer_.range(node) : Printer::Range{"0", items_text(chain)};
  out().add("const Index first = Index(blockIdx.x % chunks) * chunk" +
            (range.begin == "0" ? "" : " + Index(" + range.begin + ")") + ";");
  out().add("const Index last = Index(" + spelling().helper("smaller") + "(first + chunk, " + range.end + "));");
  const Printer::Range part{"first", "last"};
  Shares shares = begin_shares(folds);
  strided(chain, chain.back()->body, &part);
  end_shares(shares);
  auto folded = [&](const PlanNode &fold) {
    const auto &[a, b] = names_.pair();
    const Type type = plan_.kernel.vars[fold.target].type;
    const std::string c_type = Spelling::arithmetic(type), &mine = shares.at(fold.target).mine;
    out().add(mine + " = " + spelling().helper("column_fold") + "(" + mine + ", [](" + c_type + " " + a + ", " +
              c_type + " " + b + ") { return " + c_type + "(" + spelling().combine(fold.monoid, type, a, {b}).text +
              "); });");
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
  out().add("for (unsigned part = threadIdx.y; part < chunks; part += blockDim.y) {");
  fold_parts(folds, shares, "Index(part) * items + item");
  out().add("}");
  for (const PlanNode *fold : folds)
    folded(*fold);
  out().add("}");
  for (const PlanNode *fold : folds) {
    const std::string place = printer_.element(fold->target, {}, {});
    out().add((in_memory(fold->target) ? "if (" + team_.writer + ") " : "") + place + " = " +
              spelling()
                  .combine(fold->monoid, plan_.kernel.vars[fold->target].type, place, {shares.at(fold->target).mine})
                  .text +
              ";");
  }
}

} // namespace kgen
