// CUDA C++ for one variation: a __global__ function per phase and the host function that launches them in order.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/target_file.h"
#include "plan/cuda/blocks.h"
#include "plan/cuda/packs.h"
#include "plan/cuda/rows.h"

namespace kgen {

constexpr int kMostBlockThreads = 512; // that share a work item: with more, ptxas keeps to 32 registers and spills
constexpr int kFoldBytes = 32 * 16;    // one slot a warp for folds over the block

// Names that loops of one kernel share.
class PackNames {
public:
  explicit PackNames(Names &names) : names_(names) {}
  const std::string &of(const std::string &base, const std::string &suffix = "", int number = 0);

private:
  Names &names_;
  std::map<std::pair<std::string, int>, std::string> given_;
};

// A part of a loop's body: what is done for each position of a thread, or once.
struct LoopPiece {
  std::string text;
  bool each = true;
};

// What threads have loaded of their row, in shared memory.
struct KeptRow {
  std::map<VarId, std::string> tiles; // where the elements of each array are
  std::set<VarId> loaded;             // by an earlier loop
};

// A statement of the host: a call of CUDA, whose error ends the function.
std::string checked(const std::string &call);

class CudaKernel {
public:
  CudaKernel(const std::string &name, const Function &function, Plan plan, const Facts &facts, Spelling &spelling,
             Statuses &statuses);

  const std::string &name() const { return name_; }
  const Plan &plan() const { return plan_; }
  bool needs_workspace() const { return !offsets_.empty(); }
  // The struct of the workspace if there is one, the kernels, then the host function.
  std::vector<std::string> texts();

private:
  struct Offset {
    std::string field, count;
    Type type;
    bool bytes = false; // `count` is in bytes already
  };

  std::string workspace_struct();
  void reserve_workspace();
  void reserve_rooms(const Phase &phase, const std::string &shape);
  std::string room_shape(const Phase &phase);
  std::string program_elements(VarId var, const std::set<size_t> &writers);
  void print_phases();
  std::string on_host(const std::function<std::string()> &print);
  void print_phase(size_t index);
  // How the printed body is launched, beside what the plan says of it.
  struct Launch {
    std::string blocks;
    std::string prepare = {}; // statements of the host before it
    std::string threads = {}; // of a block, where the host's `shape` says them
    std::string slots = {};   // a team shares a row: where its blocks meet
    std::string chunk = {};   // the type of `chunk`: `chunks` blocks take so many points each
    std::string items = {};   // so many blocks at most have work; for tiles
    bool known = true;        // by sizes alone
  };

  // What each thread has of a fold, while it goes through its share of a loop.
  struct Share {
    std::string whole, mine; // names
    bool begins = true;      // or has the thread had one already
  };
  using Shares = std::map<VarId, Share>;
  // The threads that share a work item: how one of them knows its place, and which writes what all have.
  struct Team {
    std::string index = "threadIdx.x", size = "blockDim.x", writer = "threadIdx.x == 0", fold = "block_fold",
                helper = "block_fold";
    std::string present = ""; // the question whether a thread has a column; empty: all do
  };
  void thread_phase(const Nest &chain);
  std::string aligned_condition();
  std::string reciprocals_before(const PlanNode &loop);
  bool packed_loop(const Nest &chain, const Printer::Range *part);
  void packed_phase(const Nest &chain);
  void tiled_phase(const Nest &chain, const Crossing &crossing);
  void block_phase(const Phase &phase, const Nest &chain);
  void phase_nodes(const std::vector<PlanNode> &nodes);
  void chunked_phase(const Phase &phase, const Phase *next);
  void fold_chunk(const Phase &phase, const Nest &chain, bool points, const std::string &type, bool tiles);
  void fold_parts(const std::vector<const PlanNode *> &folds, const Shares &shares, const std::string &slot);
  void team_phase(const Phase &phase, const Nest &chain);
  void open_team_part(const Nest &nest);
  std::string column_shape(const Phase &phase, const std::string &turns);
  std::string row_shape(const Phase &phase);
  std::string prepare_shape(const std::string &shape, const PlanNode *split);
  std::string tickets_name(const PlanNode &split);
  void row_phase(const Phase &phase, const Nest &chain);
  void column_phase(const Phase &phase, const Nest &chain);
  void list_of_folds(const std::vector<PlanNode> &body, const PlanNode *split);
  void split_loop(const PlanNode &node, const std::function<void()> &print_starts);
  void open_item(const Nest &chain);
  void name_rows(const Nest &chain);
  void name_shares(const std::vector<PlanNode> &list);
  void declare_spare(const std::string &variable, const std::string &declaration);
  std::string without_unused(std::string body);
  void guard_work_item(const Nest &chain, const std::string &leave);
  void finish(const Launch &launch);
  std::string host_text() const;

  // A list of statements that the threads of a block run together.
  void block_list(const std::vector<PlanNode> &list);
  void block_node(const PlanNode &node, const std::vector<PlanNode> &siblings);
  void block_loop(const PlanNode &node);
  void rounds_of_block(const PlanNode &loop);
  bool in_memory(VarId var) const { return printer_.own.count(var) == 0 && kgen::in_memory(plan_, var); }
  Shares begin_shares(const std::vector<const PlanNode *> &folds);
  void end_shares(const Shares &shares);
  enum class Result { item, chunk, whole };
  void fold_shares(const PlanNode &fold, const Shares &shares, Result of = Result::item);
  void block_reduction(const PlanNode &node);
  void block_in_order(const PlanNode &node);
  void block_scans(const PlanNode &loop);
  void packed_scans(const PlanNode &loop, const std::string &tile);
  std::vector<LoopPiece> scan_pieces(const PlanNode &loop, int together, const std::string &position,
                                     const std::string &takes_part);
  // What a scan along a shared loop becomes.
  struct Scanned {
    std::string declarations, // of the tile
        values,               // for each position, before the scan
        scan,                 // of the block
        result;               // for each position, behind it
  };
  std::string combination_of(const PlanNode &step);
  Scanned scan_of(const PlanNode &scan, int together, const std::string &position, const std::string &takes_part);
  std::vector<std::pair<VarId, std::string>> keep_between(const PlanNode &loop, int together,
                                                          const std::string &position, std::string &declarations);
  void block_steps(const PlanNode &node);
  void barrier();
  void barrier_after(const PlanNode &node);
  Code agreed_condition(const PlanNode &node);
  void strided(const Nest &chain, const std::vector<PlanNode> &body, const Printer::Range *part);
  std::string length_of(const Nest &chain);
  std::string longest_length();
  std::string product_of(const std::vector<Size> &factors);
  std::string threads_text(const std::string &blocks);
  void decode(const Nest &chain, const std::string &item);
  std::string items_text(const Nest &chain);
  Printer::Range range_of(const PlanNode &node);
  void take_tiles();

  Spelling &spelling() { return printer_.spelling; }
  Lines &out() { return printer_.lines; }
  const std::string &parts_name(VarId var) { return printer_.name_beside(var, "_parts"); }

  const Function &function_;
  Statuses &statuses_;
  std::string name_;
  const Plan plan_;
  Names names_;
  Printer printer_;
  std::vector<Offset> offsets_;
  std::vector<std::string> functions_;
  std::string host_;                                    // launches so far
  std::string launch_;                                  // the last one
  int kernels_ = 0;                                     // that there will be
  bool in_block_ = false;                               // does what launches the kernel at hand need no block
  std::set<const std::vector<PlanNode> *> block_lists_; // lists whose statements all threads of a block reach
  std::set<VarId> shared_;                              // memory that statements of the phase exchange
  Team team_;
  std::optional<Printer::Range> part_; // of the loops that the threads share, where blocks take parts
  KeptRow kept_;
  PackNames pack_names_;
  int together_ = 1;                                       // positions that a thread of it takes at once, where it can
  const Phase *phase_ = nullptr;                           // at hand
  std::set<VarId> pending_;                                // folds that go on over the rows of a block
  std::vector<std::pair<std::string, std::string>> spare_; // variables that may not be needed, with their declarations
};

} // namespace kgen
