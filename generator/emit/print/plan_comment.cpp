// The plan in a few sentences, for readers of the emitted file.
#include <algorithm>
#include <set>

#include "emit/target_file.h"
#include "ir/op_rows.h"
#include "plan/contract/contractions.h"
#include "plan/cuda/words.h"
#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/tree/tree.h"
#include "support/text.h"

namespace kgen {
namespace {

// Each once: values that differ may have one name.
std::string joined(const std::vector<std::string> &list) {
  std::vector<std::string> once;
  for (const std::string &item : list)
    if (std::ranges::find(once, item) == once.end())
      once.push_back(item);
  return join(once, ", ");
}

// The axes and grid dimensions of the work list.
std::string split_names(const Plan &plan, const Phase &phase) {
  std::vector<std::string> names;
  for (const PlanNode *loop : leading_loops(phase.nodes.front(), phase.split))
    names.push_back(name_of_loop(plan.kernel, *loop));
  return joined(names);
}

// What a phase leaves for others: outputs, and what goes through the workspace; else all that it finds.
std::string found_names(const Plan &plan, const Phase &phase) {
  std::vector<std::string> left, all;
  for (const PlanNode &root : phase.nodes)
    for_each_node(root, [&](const PlanNode &n) {
      if (n.target == kNone)
        return;
      all.push_back(plan.kernel.vars[n.target].name);
      if (plan.storage[n.target].kind != Storage::Kind::scalar)
        left.push_back(all.back());
    });
  return joined(left.empty() ? all : left);
}

std::string phase_sentence(const Plan &plan, const Phase &phase) {
  const bool cuda = plan.target == TargetKind::cuda;
  const std::string lane = phase.lane == kNone ? "" : ", neighbours along " + plan.kernel.axes[phase.lane].name;
  if (phase.kind == Phase::Kind::serial)
    return (cuda ? "one block computes " : "one thread computes ") + found_names(plan, phase);
  if (phase.kind == Phase::Kind::chunked)
    return std::string(cuda ? "blocks" : "threads") + " fold chunks of " +
           plan.kernel.axes[phase.nodes.front().axis].name + ", which are combined " +
           (cuda ? "by the last block, in order" : "in order") + lane;
  if (phase.kind == Phase::Kind::contracted)
    return "threads share " + contraction_words(plan, phase) +
           ", folded in registers from panels of both sides, packed once";
  if (!cuda)
    return "threads share " + split_names(plan, phase) + lane + row_contraction_words(plan, phase);
  return worker_words(phase) + " for each of " + split_names(plan, phase) + lane + thread_words(plan, phase) +
         kept_words(plan, phase);
}

// On a CPU. Others set a few numbers.
bool does_work(const Plan &plan, const Phase &phase) {
  return !sets_numbers(plan, phase) &&
         !std::ranges::all_of(phase.nodes, [&](const PlanNode &node) { return starts_chunks(plan, node); });
}

bool is_arithmetic(Op op) {
  const std::set<Op> others = {Op::logical_not, Op::both, Op::either, Op::choose};
  return !is_comparison(op) && others.count(op) == 0;
}

// Those of one number together.
std::string operations_text(const Counts &counts) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_number;
  for (const auto &[op, number] : counts.operations) {
    if (!is_arithmetic(op))
      continue;
    const std::string text = to_string(number);
    auto found = std::ranges::find(by_number, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == by_number.end())
      found = by_number.insert(by_number.end(), {text, {}});
    found->second.emplace_back(op_name(op));
  }
  std::vector<std::string> parts;
  for (const auto &[number, names] : by_number)
    parts.push_back(number + (names.size() > 1 ? " each of " : " of ") + join(names, ", "));
  const std::string start =
      counts.bounded ? "Operations: " : "Operations, loops of unknown length counted as one round: ";
  return parts.empty() ? "" : start + join(parts, "; ") + ".\n";
}

} // namespace

std::string plan_comment(const Plan &plan, const Facts &facts) {
  std::vector<std::string> sentences;
  for (size_t i = 0; i < plan.phases.size(); ++i)
    if (plan.target == TargetKind::openmp ? does_work(plan, plan.phases[i]) : is_kernel(plan, i))
      sentences.push_back(phase_sentence(plan, plan.phases[i]) + condition_words(plan, plan.phases[i]));
  const std::string name = plan.kernel.name + (plan.kernel.suffix.empty() ? "" : "_" + plan.kernel.suffix);
  std::string text;
  for (size_t i = 0; i < sentences.size(); ++i) {
    text += sentences.size() > 1 ? "Phase " + std::to_string(i + 1) : "Plan";
    text += i == 0 && !plan.kernel.suffix.empty() ? " of " + name : ""; // thresholds differ by type
    text += ": " + sentences[i] + ".\n";
  }
  std::vector<std::string> kept, passed;
  for (size_t v = 0; v < plan.storage.size(); ++v) {
    const Storage::Kind kind = plan.storage[v].kind;
    if (kind == Storage::Kind::worker)
      kept.push_back(plan.kernel.vars[v].name);
    if (kind == Storage::Kind::program && !plan.storage[v].dims.empty())
      passed.push_back(plan.kernel.vars[v].name);
  }
  if (!kept.empty())
    text += "Kept by each worker: " + joined(kept) + ".\n";
  if (!passed.empty())
    text += "Through the workspace: " + joined(passed) + ".\n";
  return text + "Bytes that " + name + " must move: " + to_string(facts.counts.bytes_read) + " read, " +
         to_string(facts.counts.bytes_written) + " written.\n" + operations_text(facts.counts);
}

} // namespace kgen
