// Folds whose kept loop runs along memory, such as sums of columns, and what is then written for each of their
// elements: neighbouring threads take neighbouring columns, and the threads of a block with one threadIdx.x share the
// rows of their column. And single folds that blocks share, where columns, or rows, are few and long: the last block to
// come combines what all have found, in order.
#include <algorithm>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"

namespace kgen {

// Is all of the work item a list of folds over elements of arrays, of values from what they give, and of loops that
// write elements?
bool CudaKernel::is_list_of_folds(const std::vector<const PlanNode *> &chain) {
  const std::vector<PlanNode> &body = chain.back()->body;
  AxisSet kept;
  for (const PlanNode *node : chain) {
    if (node->kind != PlanNode::Kind::loop)
      return false;
    kept |= AxisSet::of(node->axis);
  }
  shared_.clear();
  find_shared(body);
  bool folds = false;
  for (const PlanNode &node : body) {
    const bool loop =
                   node.kind == PlanNode::Kind::loop && node.order != PlanNode::Order::ordered && node.table == kNone,
               reduction = loop && node.order == PlanNode::Order::reduction;
    const bool value = (node.kind == PlanNode::Kind::assign && node.coords.empty() && !node.scatter_add) ||
                       node.kind == PlanNode::Kind::fold_init;
    if (!loop && !value)
      return false;
    folds = folds || reduction;
    std::vector<const PlanNode *> all = chain;
    std::set<VarId> targets;
    if (loop) {
      for (const PlanNode *inner : chain_of(node, kMostNested, node.order))
        all.push_back(inner);
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
    // Threads beyond the last column repeat it: they may not add to what lies in memory.
    bool adds_up = false;
    for_each_node(node, [&](const PlanNode &n) {
      adds_up = adds_up || (n.kind == PlanNode::Kind::fold_step && in_memory(n.target) && targets.count(n.target) == 0);
    });
    if (adds_up)
      return false;
    // What one thread of the column writes to memory, no other may read.
    for (const Access &a : accesses_of(plan_.kernel, node))
      if (in_memory(a.var) && targets.count(a.var) == 0 && shared_.count(a.memory) != 0 &&
          (loop || !in_memory(node.target)))
        return false;
  }
  shared_.clear();
  return folds;
}

// Do neighbours in memory belong to neighbouring work items?
bool CudaKernel::folds_columns(const Phase &phase, const std::vector<const PlanNode *> &chain) {
  return chain.back()->kind == PlanNode::Kind::loop && chain.back()->axis == phase.lane && is_list_of_folds(chain);
}

// The loop that blocks may share: the only one, with folds whose parts combine value by value, and nothing before it
// that would be written once more.
const PlanNode *CudaKernel::split_fold(const std::vector<PlanNode> &body) {
  const PlanNode *found = nullptr;
  for (const PlanNode &node : body) {
    if (node.kind == PlanNode::Kind::assign && found == nullptr && in_memory(node.target))
      return nullptr;
    if (node.kind != PlanNode::Kind::loop)
      continue;
    const auto pairs = [](const PlanNode *fold) { return fold->partner != kNone; };
    const std::vector<const PlanNode *> folds = folds_over(node);
    if (found != nullptr || node.order != PlanNode::Order::reduction || plan_.kernel.axes[node.axis].ragged != kNone ||
        std::any_of(folds.begin(), folds.end(), pairs) || !goes_by_points(node) || sets_elements(node.body))
      return nullptr;
    found = &node;
  }
  return found;
}

// The host's shape, by the numbers of turns and of items.
std::string CudaKernel::column_shape(const std::vector<const PlanNode *> &chain, const PlanNode *split) {
  return spelling().helper("ColumnShape") + "(" + longest_length() + ", " + items_text(chain) + ", " +
         (split != nullptr ? "1024" : "1") + ")";
}

std::string CudaKernel::tickets_name(const PlanNode &split) {
  return printer_.name_beside(folds_over(split).front()->target, "_tickets");
}

void CudaKernel::reserve_parts(Phase &phase) {
  const std::vector<const PlanNode *> chain = chain_of(phase.nodes.front(), phase.split);
  const std::vector<PlanNode> &body = chain.back()->body;
  if (phase.mapping == Phase::Mapping::item_per_thread && folds_columns(phase, chain))
    phase.mapping = Phase::Mapping::item_per_column;
  const bool columns = phase.mapping == Phase::Mapping::item_per_column;
  if (phase.mapping == Phase::Mapping::item_per_block)
    if (const auto row = row_of(chain)) {
      phase.mapping = Phase::Mapping::item_per_row;
      phase.kept = row->kept;
      if (row->splits)
        offsets_.push_back({slots_name(*row), row->shape + ".slot_bytes", Type::u8, true});
      return;
    }
  const PlanNode *split = columns                                           ? split_fold(body)
                          : phase.mapping == Phase::Mapping::item_per_block ? split_row(chain)
                                                                            : nullptr;
  phase.divided = columns && split != nullptr;
  if (split == nullptr)
    return;
  lengths_ = {length_of(chain_of(*split, kMostNested, PlanNode::Order::reduction))};
  together_ = columns ? 1 : positions_shared(body);
  if (!columns)
    phase.mapping = Phase::Mapping::item_per_row;
  const std::string shape = columns ? column_shape(chain, split)
                                    : row_shape(chain, chain_of(*split, kMostNested, PlanNode::Order::reduction), {},
                                                plan_.decide(Decision::fold_chunks));
  for (const PlanNode *fold : folds_over(*split))
    offsets_.push_back({parts_name(fold->target), shape + ".parts", plan_.kernel.vars[fold->target].type});
  offsets_.push_back({tickets_name(*split), shape + ".tickets", Type::u32});
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

void CudaKernel::column_phase(const std::vector<const PlanNode *> &chain) {
  const std::vector<PlanNode> &body = chain.back()->body;
  const PlanNode *split = split_fold(body);
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
  launch.shared = launch.columns = true;
  launch.threads = "dim3(shape.wide, shape.deep)";
  launch.chunk = split != nullptr ? "Index" : "";
  launch.prepare = prepare_shape(column_shape(chain, split), split);
  finish(launch);
}

// The block folds its chunk of the loop, the last block of the item what all have found.
void CudaKernel::split_loop(const PlanNode &node, const std::function<void()> &print_starts) {
  const std::vector<const PlanNode *> chain = chain_of(node, kMostNested, PlanNode::Order::reduction);
  const std::vector<const PlanNode *> folds = folds_over(node);
  const bool single = chain.size() == 1;
  const Printer::Range range = single ? printer_.range(node) : Printer::Range{"0", ""};
  folds_ = true;
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
