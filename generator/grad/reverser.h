// What goes back through the nodes, from the last one to the first.
#pragma once

#include "grad/arms.h"
#include "grad/place_of_rounds.h"
#include "grad/reverse.h"
#include "grad/steep.h"

namespace kgen::grad {

class Reverse {
public:
  Reverse(const Kernel &kernel, Graph &graph, const Trace &trace, const ReverseOptions &options, Trouble &trouble)
      : kernel_(kernel), graph_(graph), trace_(trace), options_(options), trouble_(trouble), steep_(graph) {}

  Gradients run(const std::vector<Seed> &seeds);

private:
  bool active(NodeId id) const { return id < forward_ && active_[static_cast<size_t>(id)]; }

  void find_active();
  void find_ends();
  void begin(const Seed &seed);
  Part part_of(const Seed &seed, NodeId value);
  void begin_store(Part there, const Store &store);
  void give(NodeId to, Part part, AxisSet lanes);
  Part summed(const Part &part, AxisSet over);
  AxisSet lanes_of(const Node &n) const;

  // The gradient of what rounds find in a variable: of its own lanes, and of those that are summed behind the loop. It
  // need not differ along all of them.
  struct Returned {
    size_t variable;
    AxisSet later;
    NodeId entry, found;
    NodeId condition; // the same in all rounds: elsewhere it is 0 in each
  };
  // A variable of the loop that goes back: of which value the gradient is, in which lanes, and where it is not just 0.
  struct Of {
    NodeId value;
    AxisSet lanes;
    NodeId condition;
  };
  // The gradient of what each round reads at a place of its own.
  struct ReadInRounds {
    NodeId base;
    PlaceOfRounds at;
    NodeId value;
    AxisSet lanes;
    NodeId condition;
    Place place;
  };
  void unwind(const Loop &loop);
  void add_returned(const Loop &loop, size_t v, AxisSet later, const Part &entry, std::vector<Returned> &returned);
  void round_back(const Loop &loop, const std::vector<Returned> &returned);
  bool find_returned(const Loop &loop, std::vector<Returned> &returned);
  bool widen(const Loop &loop, std::vector<Returned> &returned);
  NodeId in_all_rounds(NodeId condition);
  NodeId in_any_round(const Loop &loop, NodeId condition);
  void add_shares(const Loop &loop, Loop &back, std::vector<Of> &of);
  std::vector<AxisSet> laters(NodeId id) const;
  std::vector<Part> parts_of(NodeId id, AxisSet later) const;
  std::string name_of(NodeId id) const;
  void read_in_round(const Node &n, Part part, AxisSet lanes);
  void give_rounds(const Loop &back, const ReadInRounds &read, NodeId array);
  void visit(NodeId id);
  void propagate(NodeId id, const Node &n, const Part &part);
  void product_of_powers(const Node &n, const Part &part, AxisSet lanes);
  bool length(NodeId id, NodeId sum, Part part);
  void give_squares(NodeId id, Part part, AxisSet lanes);
  void operation(NodeId id, const Node &n, const Part &part, AxisSet lanes);
  void call(NodeId id, const Node &n, const Part &part, AxisSet lanes);
  void fold(NodeId id, const Node &n, Part part);
  void product(const Node &n, Part own, AxisSet lanes);
  NodeId neighbour(NodeId value, AxisId axis, int by);
  void scan(NodeId id, const Node &n, const Part &part);
  void read_arm(const Arm &arm, const Part &part, AxisSet lanes);
  void read(NodeId id, const Node &n, const Part &part, AxisSet lanes);

  const Kernel &kernel_;
  Graph &graph_;
  const Trace &trace_;
  const ReverseOptions &options_;
  Trouble &trouble_;
  Steep steep_;
  Gradients out_;
  NodeId forward_ = 0;
  std::vector<bool> active_;
  std::vector<AxisSet> ends_;
  std::vector<std::vector<Part>> parts_;
  std::map<NodeId, NodeId> argument_of_; // of what is the only argument of an operation
  std::set<NodeId> still_;
  Place place_;
  AxisSet looped_; // lanes of the loop whose round this is
  std::vector<ReadInRounds> in_rounds_;
};

} // namespace kgen::grad
