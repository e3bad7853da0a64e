// Faults that are planted in the plans of all specs that are shipped, one at a time: does `verify` refuse the plan?
//
//   plan_mutants SPEC...    prints, for each class of faults, how many there are and how many are refused; --slips
//   names
//                           the others. Exit code 1: less than 95 of 100 are.
//
// A fault is one statement dropped, two that depend on each other swapped, one moved into a loop beside it or out of
// the loop around it, a phase dropped, swapped or gone through in calls that are not its own, or a loop that forgets of
// which share or part it is. Whether a fault would change a result is not tried, but told from what the statements
// touch: faults that surely change none are not planted. Some that change none remain and count against `verify`.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "cli/compile.h"
#include "plan/index/access.h"
#include "plan/index/order.h"
#include "plan/verify/verify.h"

namespace {

using namespace kgen;
using Nodes = std::vector<PlanNode>;

constexpr double kLeastRefused = 0.95;
constexpr int kMostOfAPlan = 80; // faults, spread over those that there are

const char *kind_name(const PlanNode &node) {
  static const char *const names[] = {"loop",      "steps", "assignment", "fold start", "fold step", "scan start",
                                      "scan step", "array", "branch",     "repeat",     "break",     "continue"};
  return names[static_cast<size_t>(node.kind)];
}

bool is_leaf(const PlanNode &node) {
  return node.target != kNone && node.body.empty() && node.kind != PlanNode::Kind::declare;
}
bool is_start(const PlanNode &node) {
  return node.kind == PlanNode::Kind::fold_init || node.kind == PlanNode::Kind::scan_init;
}

// Calls plant(name of its class, what plants it) for each fault of a plan. The latter must be called on the plan's
// phases.
class Faults {
public:
  explicit Faults(Plan &plan) : plan_(plan) {}

  struct Fault {
    std::string name, about;
    std::function<void()> plant; // into the plan that was looked at, or a copy put in its place
  };

  std::vector<Fault> find() {
    for (size_t i = 0; i < plan_.phases.size(); ++i)
      phase(i);
    return std::move(faults_);
  }

private:
  using Path = std::vector<std::pair<size_t, int>>; // statement, and which of its lists

  void phase(size_t i) {
    Phase &phase = plan_.phases[i];
    add("phase dropped", [this, i] { plan_.phases.erase(plan_.phases.begin() + static_cast<std::ptrdiff_t>(i)); });
    const bool other = i + 1 < plan_.phases.size() && plan_.phases[i + 1].when == phase.when &&
                       plan_.phases[i + 1].unless == phase.unless;
    if (other && depend(phase.nodes, plan_.phases[i + 1].nodes))
      add("phases swapped", [this, i] { std::swap(plan_.phases[i], plan_.phases[i + 1]); });
    if (phase.when != kNone)
      add("condition of a phase turned", [this, i] { plan_.phases[i].unless = !plan_.phases[i].unless; });
    path_ = {};
    list(i, phase.nodes);
  }

  bool depend(const Nodes &some, const Nodes &others) const {
    return !may_exchange(accesses_of(plan_.kernel, some), accesses_of(plan_.kernel, others));
  }

  Nodes &at(size_t phase, const Path &path) {
    Nodes *list = &plan_.phases[phase].nodes;
    for (const auto &[node, which] : path) {
      PlanNode &inner = (*list)[node];
      list = which == 0 ? &inner.body : which == 1 ? &inner.otherwise : &inner.step;
    }
    return *list;
  }

  void add(const std::string &name, std::function<void()> plant) {
    faults_.push_back({name, about_, std::move(plant)});
  }

  void list(size_t phase, const Nodes &nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Path path = path_;
      statement(phase, path, nodes, i);
      for (const auto &[which, inner] :
           {std::pair{0, &nodes[i].body}, std::pair{1, &nodes[i].otherwise}, std::pair{2, &nodes[i].step}}) {
        path_ = path;
        path_.emplace_back(i, which);
        list(phase, *inner);
      }
      path_ = path;
    }
  }

  void statement(size_t phase, const Path &path, const Nodes &nodes, size_t i) {
    const PlanNode &node = nodes[i];
    about_ = "phase " + std::to_string(phase + 1) + ", statement " + std::to_string(i + 1) +
             (node.target == kNone ? "" : ", of " + plan_.kernel.vars[node.target].name);
    const auto index = static_cast<std::ptrdiff_t>(i);
    add(std::string(kind_name(node)) + " dropped", [this, phase, path, index] {
      Nodes &in = at(phase, path);
      in.erase(in.begin() + index);
    });
    if (i + 1 < nodes.size() && depend({node}, {nodes[i + 1]}))
      add(std::string(kind_name(node)) + " and " + kind_name(nodes[i + 1]) + " swapped", [this, phase, path, i] {
        Nodes &in = at(phase, path);
        std::swap(in[i], in[i + 1]);
      });
    if (node.kind == PlanNode::Kind::loop)
      loop(phase, path, nodes, i);
  }

  void loop(size_t phase, const Path &path, const Nodes &nodes, size_t i) {
    const PlanNode &node = nodes[i];
    const auto index = static_cast<std::ptrdiff_t>(i);
    if (i > 0 && is_start(nodes[i - 1]) && depend({nodes[i - 1]}, {node}))
      add("start moved into the loop", [this, phase, path, index] {
        Nodes &in = at(phase, path);
        in[index].body.insert(in[index].body.begin(), in[index - 1]);
        in.erase(in.begin() + index - 1);
      });
    if (i + 1 < nodes.size() && is_leaf(nodes[i + 1]) && depend({node}, {nodes[i + 1]}))
      add(std::string(kind_name(nodes[i + 1])) + " moved into the loop before it", [this, phase, path, index] {
        Nodes &in = at(phase, path);
        in[index].body.push_back(in[index + 1]);
        in.erase(in.begin() + index + 1);
      });
    if (node.body.size() > 1 && is_leaf(node.body.front()) && is_out_of_place(node, node.body.front()))
      add(std::string(kind_name(node.body.front())) + " moved before its loop", [this, phase, path, index] {
        Nodes &in = at(phase, path);
        const PlanNode first = in[index].body.front();
        in[index].body.erase(in[index].body.begin());
        in.insert(in.begin() + index, first);
      });
    if (node.body.size() > 1 && is_leaf(node.body.back()) && is_out_of_place(node, node.body.back()))
      add(std::string(kind_name(node.body.back())) + " moved behind its loop", [this, phase, path, index] {
        Nodes &in = at(phase, path);
        const PlanNode last = in[index].body.back();
        in[index].body.pop_back();
        in.insert(in.begin() + index + 1, last);
      });
    if (node.share != kNone)
      add("share forgotten", [this, phase, path, i] { at(phase, path)[i].share = kNone; });
  }

  // Does it differ from round to round, or is it part of what the rounds add up?
  bool is_out_of_place(const PlanNode &loop, const PlanNode &node) const {
    return node.lanes.contains(loop.axis) || node.kind == PlanNode::Kind::fold_step || is_start(node);
  }

  Plan &plan_;
  Path path_;
  std::string about_; // the statement at hand
  std::vector<Fault> faults_;
};

struct Count {
  int planted = 0, refused = 0;
};

class Trial {
public:
  explicit Trial(bool names_slips) : names_slips_(names_slips) {}

  void run(const std::string &spec, const Variation &variation, TargetKind target) {
    Plan plan = make_plan(variation.lowered, variation.lowered_facts, target);
    PlanVerifier verifier(variation.lowered);
    const std::vector<Phase> phases = plan.phases;
    const std::vector<Faults::Fault> faults = Faults(plan).find();
    const size_t step = faults.size() / kMostOfAPlan + 1;
    Faults at(plan);
    for (size_t i = 0; i < faults.size(); i += step) {
      faults[i].plant();
      const bool refused = !verifier.check(plan).empty();
      Count &count = counts_[faults[i].name];
      ++count.planted;
      count.refused += refused;
      if (!refused && names_slips_)
        std::cout << spec << " " << variation.variant.suffix << (target == TargetKind::cuda ? " cuda " : " openmp ")
                  << faults[i].name << ": " << faults[i].about << "\n";
      plan.phases = phases;
    }
  }

  bool report() const {
    Count all;
    for (const auto &[name, count] : counts_) {
      std::cout << name << ": " << count.refused << " of " << count.planted << "\n";
      all.planted += count.planted;
      all.refused += count.refused;
    }
    const double rate = all.planted == 0 ? 0 : static_cast<double>(all.refused) / all.planted;
    std::cout << "refused: " << all.refused << " of " << all.planted << ", " << 100 * rate << " %\n";
    return rate >= kLeastRefused;
  }

private:
  const bool names_slips_;
  std::map<std::string, Count> counts_;
};

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  const bool names_slips = std::erase(paths, "--slips") != 0;
  Trial trial(names_slips);
  for (const std::string &path : paths) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    Diagnostics diags;
    CompileOptions options;
    options.last = Stage::rewrite;
    const std::optional<Compiled> compiled = compile(path, text.str(), options, diags);
    if (!compiled) {
      std::cerr << path << " does not compile\n";
      return 1;
    }
    for (const TargetKind target : {TargetKind::openmp, TargetKind::cuda})
      trial.run(path, compiled->variations.front(), target);
  }
  return trial.report() ? 0 : 1;
}
