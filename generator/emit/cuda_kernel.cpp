// Two mappings. item_per_thread: neighbouring threads take neighbouring work items, each runs the rest alone.
// item_per_block: the threads of a block walk the statements of one item together; parallel loops are strided over the
// threads, reductions end in a fold over the block, ordered loops are run by one thread. Barriers stand where memory
// that one statement writes is touched by another.
#include "emit/cuda_kernel.h"

#include <algorithm>
#include <map>

#include "plan/access.h"
#include "support/check.h"

namespace kgen {
namespace {

constexpr int64_t kSharedTiles = 32 * 1024; // tiles up to this size lie in shared memory
constexpr int64_t kMostBlocks = 1024;       // with tiles in the workspace
constexpr int64_t kChunk = 8192;            // least elements of a chunk of a whole-array reduction
constexpr int64_t kMostChunks = 1024;

} // namespace

CudaKernel::CudaKernel(const Function &function, const Variation &variation, Spelling &s, Statuses &statuses)
    : function_(function), statuses_(statuses), name_(variation_name(function, variation)),
      plan_(make_plan(variation.lowered, variation.lowered_facts, TargetKind::cuda)),
      names_(names_of(function, plan_.kernel)), printer_(plan_, variation.lowered_facts, s, names_) {
  for (const char *taken : {"tiles", "tile", "tile_bytes", "error", "space", "elements"})
    names_.reserve(taken);
  printer_.index_type = "Index";
  printer_.parallel = true;
  if (has_device_tables(plan_.kernel))
    printer_.guards = &statuses_;
  prepare_storage();
  for (size_t i = 0; i < plan_.phases.size(); ++i)
    print_phase(i);
  std::string parameters = parameters_text(function),
              body = derived_declarations(printer_, host_) + host_ + "return cudaSuccess;\n";
  std::vector<std::string> names;
  for (const Argument &a : function.arguments)
    names.push_back(a.name);
  if (has_device_tables(plan_.kernel))
    parameters += ", int32_t* table_status", names.push_back("table_status");
  if (needs_workspace()) {
    parameters += ", char* workspace", names.push_back("workspace");
    body = workspace_declaration(name_, function) + body;
  }
  parameters += ", cudaStream_t stream", names.push_back("stream");
  functions_.push_back("template <class Index>\ncudaError_t " + name_ + "(" + parameters + ") {\n" +
                       silence_unused(names, body) + body + "}\n");
}

std::string CudaKernel::parts_name(VarId var) const { return printer_.name(var) + "_parts"; }

// Small arrays that the threads of a block share cannot stand on each thread's stack.
void CudaKernel::prepare_storage() {
  for (Phase &phase : plan_.phases) {
    if (phase.mapping == Phase::Mapping::item_per_thread) {
      bool needs_tile = false;
      for (const Access &a : accesses_of(plan_.kernel, phase.nodes.front()))
        needs_tile = needs_tile || plan_.storage[a.var].kind == Storage::Kind::worker;
      const std::vector<const PlanNode *> chain = chain_of(phase.nodes.front(), phase.split);
      if (needs_tile || static_cast<int>(chain.size()) < phase.split)
        phase.mapping = Phase::Mapping::item_per_block;
    }
    if (phase.mapping == Phase::Mapping::item_per_thread)
      continue;
    if (phase.kind == Phase::Kind::serial)
      collect_block_lists(phase.nodes);
    if (phase.kind == Phase::Kind::parallel)
      collect_block_lists(chain_of(phase.nodes.front(), phase.split).back()->body);
    if (phase.kind == Phase::Kind::chunked)
      collect_block_lists(phase.nodes.front().body);
  }
  for (size_t v = 0; v < plan_.storage.size(); ++v) {
    Storage &s = plan_.storage[v];
    if (s.kind == Storage::Kind::array && block_lists_.count(printer_.scopes.of(static_cast<VarId>(v)).list) != 0)
      s.kind = Storage::Kind::worker;
    if (s.kind == Storage::Kind::worker)
      tiles_.insert(static_cast<VarId>(v));
    if (s.kind == Storage::Kind::program)
      offsets_.push_back({printer_.name(static_cast<VarId>(v)), printer_.buffer_elements(static_cast<VarId>(v)),
                          plan_.kernel.vars[v].type});
  }
  for (const Phase &phase : plan_.phases)
    for (VarId var : phase.partials)
      offsets_.push_back({parts_name(var), std::to_string(kMostChunks), plan_.kernel.vars[var].type});
}

void CudaKernel::collect_block_lists(const std::vector<PlanNode> &list) {
  block_lists_.insert(&list);
  for (const PlanNode &node : list) {
    const bool together = node.kind == PlanNode::Kind::branch || node.kind == PlanNode::Kind::repeat ||
                          node.kind == PlanNode::Kind::steps;
    if (!together)
      continue;
    collect_block_lists(node.body);
    collect_block_lists(node.otherwise);
    collect_block_lists(node.step);
  }
}

std::string CudaKernel::workspace_struct() {
  std::string fields, body;
  for (const Offset &o : offsets_) {
    fields += "int64_t " + o.field + ";\n";
    body += o.field + " = " + spelling().helper("reserve") + "(bytes, " + o.count + ", " +
            (o.bytes ? "1" : std::to_string(bytes_of(o.type))) + ");\n";
  }
  std::string unused;
  for (const Argument &a : function_.arguments)
    if (a.kind == Argument::Kind::size && !mentions_word(body, a.name))
      unused += "(void)" + a.name + ";\n";
  return "// Where the intermediates lie in the workspace.\nstruct " + camel(name_) + "Workspace {\n" + fields +
         "int64_t bytes = 0;\n\nexplicit " + camel(name_) + "Workspace(" + size_parameters_text(function_) + ") {\n" +
         unused + derived_declarations(printer_, body) + body + "}\n};\n";
}

// ---- work lists ---------------------------------------------------------------------------------------------------

Printer::Range CudaKernel::range_of(const PlanNode &node) {
  return node.kind == PlanNode::Kind::steps ? Printer::Range{"0", printer_.steps_text(node.grid)}
                                            : printer_.range(node);
}

// Perfectly nested parallel loops whose ranges do not hang on each other.
std::vector<const PlanNode *> CudaKernel::chain_of(const PlanNode &root, int most) {
  std::vector<const PlanNode *> chain;
  const PlanNode *node = &root;
  for (int i = 0; i < most; ++i) {
    const bool loop = node->kind == PlanNode::Kind::loop || node->kind == PlanNode::Kind::steps;
    if (!loop || node->order != PlanNode::Order::parallel)
      break;
    const Printer::Range r = range_of(*node);
    const bool depends = std::any_of(chain.begin(), chain.end(), [&](const PlanNode *outer) {
      const std::string &v =
          outer->kind == PlanNode::Kind::steps ? printer_.grid_name(outer->grid) : printer_.axis_name(outer->axis);
      return mentions_word(r.begin, v) || mentions_word(r.end, v);
    });
    if (depends)
      break;
    chain.push_back(node);
    if (node->body.size() != 1)
      break;
    node = &node->body.front();
  }
  return chain;
}

std::string CudaKernel::items_text(const std::vector<const PlanNode *> &chain) {
  std::string text;
  for (const PlanNode *node : chain) {
    const Printer::Range r = range_of(*node);
    const std::string trips = r.begin == "0" ? r.end : r.end + " - " + at_least(code_of(r.begin), binding::kMultiply);
    text += (text.empty() ? "" : " * ") + (chain.size() > 1 ? at_least(code_of(trips), binding::kMultiply) : trips);
  }
  return text;
}

// The loop variables of the chain from a running number; the last runs fastest.
void CudaKernel::decode(const std::vector<const PlanNode *> &chain, const std::string &item) {
  std::string rest = item;
  std::vector<std::string> lines;
  for (size_t i = chain.size(); i-- > 0;) {
    const PlanNode &node = *chain[i];
    const Printer::Range r = range_of(node);
    const std::string trips = r.begin == "0" ? r.end : r.end + " - " + at_least(code_of(r.begin), binding::kMultiply);
    const std::string count = at_least(code_of(trips), binding::kUnary);
    const std::string &v =
        node.kind == PlanNode::Kind::steps ? printer_.grid_name(node.grid) : printer_.axis_name(node.axis);
    std::string value = i == 0 ? rest : rest + " % " + count;
    if (r.begin != "0")
      value = at_least(code_of(r.begin), binding::kAdd) + " + " + value;
    const bool plain = value == item;
    lines.push_back("const Index " + v + " = " + (plain ? value : "Index(" + value + ")") + ";");
    rest += " / " + count;
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    out().add(*line);
}

void CudaKernel::print_phase(size_t index) {
  const Phase &phase = plan_.phases[index];
  printer_.lines = Lines();
  folds_ = false;
  shared_.clear();
  if (phase.kind == Phase::Kind::chunked)
    return chunked_phase(phase);
  if (phase.kind == Phase::Kind::serial)
    return block_phase(phase, {});
  const std::vector<const PlanNode *> chain = chain_of(phase.nodes.front(), phase.split);
  if (phase.mapping == Phase::Mapping::item_per_thread)
    return thread_phase(chain);
  block_phase(phase, chain);
}

// Steps of the work list itself check their windows here, those inside where they begin.
void CudaKernel::guard_work_item(const std::vector<const PlanNode *> &chain, const std::string &leave) {
  const bool steps =
      std::any_of(chain.begin(), chain.end(), [](const PlanNode *n) { return n->kind == PlanNode::Kind::steps; });
  if (steps && printer_.guards != nullptr && !contains_steps(chain.back()->body))
    out().add(printer_.step_guard(statuses_, leave));
}

void CudaKernel::thread_phase(const std::vector<const PlanNode *> &chain) {
  if (const auto crosswise = crossing(plan_, chain))
    return tiled_phase(chain, *crosswise);
  if (const int together = positions_together(plan_, *chain.back()); together > 1)
    return packed_phase(chain, together);
  const std::string items = items_text(chain);
  out().add("const Index item = Index(blockIdx.x) * " + std::to_string(kBlockThreads) + " + Index(threadIdx.x);");
  out().add("if (item >= " + items + ") return;");
  decode(chain, "item");
  guard_work_item(chain, "return");
  printer_.list(chain.back()->body);
  finish({spelling().helper("ceil_div") + "(" + items + ", " + std::to_string(kBlockThreads) + ")"});
}

void CudaKernel::block_phase(const Phase &phase, const std::vector<const PlanNode *> &chain) {
  const std::vector<PlanNode> &body = chain.empty() ? phase.nodes : chain.back()->body;
  find_shared(body);
  const bool tiles = uses_tiles(body);
  const std::string items = chain.empty() ? "1" : items_text(chain);
  if (tiles)
    take_tiles(body);
  if (!chain.empty()) {
    out().add("for (Index item = Index(blockIdx.x); item < " + items + "; item += Index(gridDim.x)) {");
    decode(chain, "item");
    guard_work_item(chain, "continue");
  }
  for (size_t i = 0; i < body.size(); ++i) {
    const PlanNode &node = body[i];
    // The accumulators of a later reduction are set where its parts are combined.
    const bool later = node.kind == PlanNode::Kind::fold_init &&
                       std::any_of(plan_.phases.begin(), plan_.phases.end(), [&](const Phase &p) {
                         return std::find(p.partials.begin(), p.partials.end(), node.target) != p.partials.end();
                       });
    if (later)
      continue;
    printer_.declare_before(body, i);
    block_node(node, body);
  }
  if (!chain.empty()) {
    if (tiles && shared_.empty())
      out().add("__syncthreads();");
    out().add("}");
  }
  if (out().empty())
    return;
  finish({items, "", tiles, folds_});
}

// Each block takes chunks of the outermost loop; a second kernel combines their results in order.
void CudaKernel::chunked_phase(const Phase &phase) {
  const PlanNode &root = phase.nodes.front();
  const Printer::Range r = printer_.range(root);
  const std::string &v = printer_.axis_name(root.axis);
  const bool inner = contains_loop(root.body);
  const std::string length = r.begin == "0" ? r.end : r.end + " - " + at_least(code_of(r.begin), binding::kMultiply);
  const std::string chunk = spelling().helper("larger") + "(" + (inner ? "1" : std::to_string(kChunk)) + ", " +
                            spelling().helper("ceil_div") + "(" + length + ", " + std::to_string(kMostChunks) + "))";
  // Inside a chunk the accumulators are the threads' own.
  for (VarId var : phase.partials)
    plan_.storage[var].kind = Storage::Kind::scalar;
  find_shared(root.body);
  const bool tiles = uses_tiles(root.body);
  out().add("const Index chunk = Index(" + chunk + ");");
  out().add("const Index first = Index(blockIdx.x) * chunk" + (r.begin == "0" ? "" : " + Index(" + r.begin + ")") +
            ";");
  out().add("const Index last = Index(" + spelling().helper("smaller") + "(first + chunk, " + r.end + "));");
  if (tiles)
    take_tiles(root.body);
  for (const PlanNode *fold : folds_over(root)) {
    const Type type = plan_.kernel.vars[fold->target].type;
    out().add(Spelling::arithmetic(type) + " " + printer_.name(fold->target) + " = " +
              spelling().identity(fold->monoid, type) + ";");
    if (fold->partner == kNone)
      continue;
    const Type best = plan_.kernel.vars[fold->partner].type;
    out().add(Spelling::arithmetic(best) + " " + printer_.name(fold->partner) + " = " +
              spelling().constant(best, 0, 0) + ";");
  }
  if (inner) {
    out().add("for (Index " + v + " = first; " + v + " < last; ++" + v + ") {");
    block_list(root.body);
    if (tiles && shared_.empty())
      out().add("__syncthreads();");
    out().add("}");
  } else {
    block_reduction(root, {"first", "last"});
  }
  out().add("if (threadIdx.x == 0) {");
  for (VarId var : phase.partials)
    out().add(parts_name(var) + "[blockIdx.x] = " + printer_.name(var) + ";");
  out().add("}");
  const std::string chunks = spelling().helper("ceil_div") + "(" + length + ", " + chunk + ")";
  for (VarId var : phase.partials)
    own_.insert(printer_.name(var));
  finish({chunks, "", tiles, folds_});
  own_.clear();
  for (VarId var : phase.partials)
    plan_.storage[var].kind = Storage::Kind::program;
  combine_parts(phase, chunks);
}

void CudaKernel::combine_parts(const Phase &phase, const std::string &slots) {
  printer_.lines = Lines();
  out().add("if (threadIdx.x != 0) return;");
  const std::vector<const PlanNode *> folds = folds_over(phase.nodes.front());
  for (const PlanNode *fold : folds) {
    out().add(printer_.element(fold->target, {}, {}) + " = " +
              spelling().identity(fold->monoid, plan_.kernel.vars[fold->target].type) + ";");
    if (fold->partner != kNone)
      out().add(printer_.element(fold->partner, {}, {}) + " = 0;");
  }
  out().add("for (Index part = 0; part < " + slots + "; ++part) {");
  for (const PlanNode *fold : folds) {
    const std::string place = printer_.element(fold->target, {}, {}), part = parts_name(fold->target) + "[part]";
    if (fold->partner == kNone) {
      out().add(place + " = " +
                spelling().combine(fold->monoid, plan_.kernel.vars[fold->target].type, place, {part}).text + ";");
      continue;
    }
    const std::string best = printer_.element(fold->partner, {}, {}), value = parts_name(fold->partner) + "[part]";
    out().add("if (" + part + " >= 0 && (" + place + " < 0 || " +
              spelling().helper(fold->monoid == Monoid::argmax ? "above" : "below") + "(" + value + ", " + best +
              "))) {");
    out().add(place + " = " + part + ";");
    out().add(best + " = " + value + ";");
    out().add("}");
  }
  out().add("}");
  finish({"1", "_combine"});
}

// Makes the kernel function of the printed body and its launch.
void CudaKernel::finish(const Launch &launch) {
  std::string body = out().text();
  const std::string base = name_ + (plan_.phases.size() > 1 ? "_part" + std::to_string(functions_.size() + 1) : "") +
                           launch.suffix + "_kernel";
  body = derived_declarations(printer_, body) + body;
  std::string parameters, arguments;
  auto add = [&](const std::string &declaration, const std::string &argument) {
    parameters += (parameters.empty() ? "" : ", ") + declaration;
    arguments += ", " + argument;
  };
  for (const Argument &a : function_.arguments) {
    if (!mentions_word(body, a.name))
      continue;
    const bool count = a.kind == Argument::Kind::size || a.kind == Argument::Kind::stride;
    add(count ? "Index " + a.name : a.declaration(), a.name);
  }
  if (mentions_word(body, "table_status"))
    add("int32_t* table_status", "table_status");
  for (const Offset &o : offsets_)
    if (!o.bytes && own_.count(o.field) == 0 && mentions_word(body, o.field)) {
      const std::string type = Spelling::c_type(o.type);
      add(type + "* " + o.field, "reinterpret_cast<" + type + "*>(workspace + space." + o.field + ")");
    }
  std::string prepare = launch.prepare, grid = launch.blocks, shared = launch.folds ? std::to_string(kFoldBytes) : "0";
  if (launch.tiles) {
    std::string bytes;
    for (VarId var : tiles_)
      if (mentions_word(body, printer_.name(var)))
        bytes += (bytes.empty() ? "" : " + ") + spelling().helper("padded_bytes") + "(" +
                 printer_.buffer_elements(var) + ", " + std::to_string(bytes_of(plan_.kernel.vars[var].type)) + ")";
    const std::string field = base + "_tiles";
    offsets_.push_back({field, "", Type::u8, true});
    offsets_.back().count = spelling().helper("workspace_tiles") + "(" + bytes + ", " + std::to_string(kSharedTiles) +
                            ", " + std::to_string(kMostBlocks) + ")";
    add("char* tiles", "tiles");
    add("int64_t tile_bytes", "tile_bytes");
    prepare += "const int64_t tile_bytes = " + bytes +
               ";\nconst bool in_shared = tile_bytes <= " + std::to_string(kSharedTiles) +
               ";\nchar* const tiles = in_shared ? nullptr : workspace + space." + field + ";\n";
    shared = std::to_string(kFoldBytes) + " + (in_shared ? static_cast<size_t>(tile_bytes) : 0)";
    if (grid != "1")
      grid = spelling().helper("smaller") + "(" + grid + ", " + std::to_string(kMostBlocks) + ")";
  } else if (grid != "1" && body.find("gridDim.x") != std::string::npos) {
    grid = spelling().helper("smaller") + "(" + grid + ", int64_t{1} << 30)";
  }
  std::string kernel = base + "<Index>";
  const std::string many = std::to_string(launch.together);
  if (launch.together > 1)
    kernel = "elements == " + many + " ? " + base + "<" + many + ", Index> : " + base + "<1, Index>";
  functions_.push_back(std::string("template <") + (launch.together > 1 ? "int kElements, " : "") +
                       "class Index>\n__global__ void __launch_bounds__(" + std::to_string(kBlockThreads) + ") " +
                       base + "(" + parameters + ") {\n" + body + "}\n");
  const std::string call = "if (const cudaError_t error = " + spelling().helper("launch") + "(" + kernel + ", " + grid +
                           ", " + std::to_string(kBlockThreads) + ", " + shared + ", stream" + arguments +
                           "); error != cudaSuccess) return error;\n";
  host_ += prepare.empty() || plan_.phases.size() == 1 ? prepare + call : "{\n" + prepare + call + "}\n";
}

} // namespace kgen
