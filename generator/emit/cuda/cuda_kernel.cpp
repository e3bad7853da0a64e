// Kernels by their phases' launches. A thread an item: neighbouring threads take neighbouring work items, each runs the
// rest alone. A block an item: the threads of a block walk the statements of one item together; parallel loops are
// strided over the threads, reductions end in a fold over the block, scans go in tiles, other ordered loops are run by
// one thread. Barriers stand where memory that one statement writes is touched by another. Columns: both, one along
// each side of the block.
#include "emit/cuda/cuda_kernel.h"

#include <algorithm>
#include <map>
#include <set>

#include "emit/text/reuse_names.h"
#include "plan/index/access.h"
#include "support/check.h"

namespace kgen {

using Work = Phase::Launch::Work;

namespace {

// By variable: the phases that write it. Found once, for there may be hundreds of either.
std::vector<std::set<size_t>> writers_of(const Plan &plan) {
  std::vector<std::set<size_t>> out(plan.kernel.vars.size());
  for (size_t i = 0; i < plan.phases.size(); ++i)
    for (const PlanNode &node : plan.phases[i].nodes)
      for (const Access &a : accesses_of(plan.kernel, node))
        if (a.write)
          out[a.var].insert(i);
  return out;
}

// What kernels call things themselves is not free for variables.
Names without_own_words(Names names) {
  for (const char *taken : {"tiles", "tile", "tile_bytes", "error", "space", "elements", "point", "chunk", "part",
                            "ticket", "chunks", "team", "keeps", "wide"})
    names.reserve(taken);
  return names;
}

} // namespace

CudaKernel::CudaKernel(const std::string &name, const Function &function, Plan plan, const Facts &facts, Spelling &s,
                       Statuses &statuses)
    : function_(function), statuses_(statuses), name_(name), plan_(std::move(plan)),
      names_(without_own_words(names_of(function, plan_.kernel))), printer_(plan_, facts, s, names_),
      pack_names_(names_) {
  printer_.index_type = "Index";
  printer_.parallel = true;
  if (has_device_tables(plan_.kernel))
    printer_.guards = &statuses_;
  block_lists_ = block_lists(plan_, printer_.scopes);
  reserve_workspace();
  for (size_t i = 0; i < plan_.phases.size(); ++i)
    kernels_ += is_kernel(plan_, i) ? 1 : 0;
  print_phases();
  std::string parameters = parameters_text(function), body = derived_declarations(printer_, host_) + host_text();
  std::vector<std::string> names;
  for (const Argument &a : function.arguments)
    names.push_back(a.name);
  if (has_device_tables(plan_.kernel))
    parameters += ", int32_t* table_status", names.push_back("table_status");
  if (needs_workspace())
    parameters += workspace_parameters(name_), names.insert(names.end(), {"space", "workspace"});
  parameters += ", cudaStream_t stream", names.push_back("stream");
  functions_.push_back("template <class Index>\ncudaError_t " + name_ + "(" + parameters + ") {\n" +
                       silence_unused(names, body) + body + "}\n");
}

// What phases share in the workspace, and what blocks of one kernel leave for each other.
void CudaKernel::reserve_workspace() {
  const std::vector<std::set<size_t>> writers = writers_of(plan_);
  for (size_t v = 0; v < plan_.storage.size(); ++v)
    if (plan_.storage[v].kind == Storage::Kind::program)
      offsets_.push_back({printer_.name(static_cast<VarId>(v)), program_elements(static_cast<VarId>(v), writers[v]),
                          plan_.kernel.vars[v].type});
  for (const Phase &phase : plan_.phases)
    if (phase.kind == Phase::Kind::parallel && !phase.launch.rooms.empty())
      reserve_rooms(phase, room_shape(phase) + ".");
  bool ticket = false;
  for (const Phase &phase : plan_.phases)
    if (phase.kind == Phase::Kind::chunked) {
      reserve_rooms(phase, "");
      ticket = true;
    }
  if (ticket)
    offsets_.push_back({"ticket", "1", Type::u32});
}

std::string CudaKernel::room_shape(const Phase &phase) {
  if (phase.launch.work != Work::columns)
    return row_shape(phase);
  const PlanNode &split = *split_fold(plan_, items_of(plan_, phase).back()->body);
  return column_shape(phase, length_of(nest_of(plan_, split, PlanNode::Order::reduction)));
}

// `shape`: what says how many there are, where the host finds that by sizes.
void CudaKernel::reserve_rooms(const Phase &phase, const std::string &shape) {
  for (const Phase::Launch::Room &room : phase.launch.rooms) {
    const std::string chunks = std::to_string(plan_.decide(Decision::fold_chunks));
    switch (room.kind) {
    case Phase::Launch::Room::parts:
      offsets_.push_back(
          {parts_name(room.var), shape.empty() ? chunks : shape + "parts", plan_.kernel.vars[room.var].type});
      break;
    case Phase::Launch::Room::tickets:
      offsets_.push_back({printer_.name_beside(room.var, "_tickets"), shape + "tickets", Type::u32});
      break;
    case Phase::Launch::Room::slots:
      offsets_.push_back({printer_.name_beside(room.var, "_slots"), shape + "slot_bytes", Type::u8, true});
      break;
    case Phase::Launch::Room::ticket: // all kernels have one after the other
      break;
    }
  }
}

// The elements of a buffer that phases share: none where those that write it are left out.
std::string CudaKernel::program_elements(VarId var, const std::set<size_t> &writers) {
  const std::string elements = printer_.buffer_elements(var);
  std::set<ExprId> conditions;
  for (size_t phase : writers)
    conditions.insert(plan_.phases[phase].unless ? kNone : plan_.phases[phase].when);
  if (conditions.size() != 1 || *conditions.begin() == kNone)
    return elements;
  return on_host([&] { return at_least(printer_.expression(*conditions.begin()), binding::kChoose + 1); }) + " ? " +
         elements + " : 0";
}

std::vector<std::string> CudaKernel::texts() {
  std::vector<std::string> texts = functions_;
  if (needs_workspace())
    texts.insert(texts.begin(), workspace_struct());
  return reuse_names(std::move(texts), names_);
}

std::string CudaKernel::workspace_struct() {
  std::string fields, body;
  std::vector<std::string> sizes;
  for (const Offset &o : offsets_) {
    fields += o.field + ", ";
    body += o.field + " = " + spelling().helper("reserve") + "(bytes, " + o.count + ", " +
            (o.bytes ? "1" : std::to_string(bytes_of(o.type))) + ");\n";
  }
  for (const Argument &a : function_.arguments)
    if (a.kind == Argument::Kind::size)
      sizes.push_back(a.name);
  body = derived_declarations(printer_, body) + body;
  return "// Where the intermediates lie in the workspace.\nstruct " + camel(name_) + "Workspace {\nint64_t " + fields +
         "bytes = 0;\nexplicit " + camel(name_) + "Workspace(" + size_parameters_text(function_) + ") {\n" +
         silence_unused(sizes, body) + body + "}\n};\n";
}

// ---- work lists ---------------------------------------------------------------------------------------------------

Printer::Range CudaKernel::range_of(const PlanNode &node) {
  return node.kind == PlanNode::Kind::steps ? Printer::Range{"0", printer_.steps_text(node.grid)}
                                            : printer_.range(node);
}

std::string CudaKernel::items_text(const Nest &chain) {
  std::string text;
  for (const PlanNode *node : chain) {
    const Printer::Range r = range_of(*node);
    const std::string trips = r.begin == "0" ? r.end : r.end + " - " + at_least(code_of(r.begin), binding::kMultiply);
    text += (text.empty() ? "" : " * ") + (chain.size() > 1 ? at_least(code_of(trips), binding::kMultiply) : trips);
  }
  return text;
}

// The loop variables of the chain from a running number; the last runs fastest.
void CudaKernel::decode(const Nest &chain, const std::string &item) {
  std::string rest = item;
  std::vector<std::pair<std::string, std::string>> lines;
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
    lines.push_back({v, "const Index " + v + " = " + (plain ? value : "Index(" + value + ")") + ";"});
    rest += " / " + count;
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    declare_spare(line->first, line->second);
}

void CudaKernel::print_phases() {
  std::vector<size_t> kernels;
  for (size_t i = 0; i < plan_.phases.size(); ++i)
    if (is_kernel(plan_, i))
      kernels.push_back(i);
  const auto like = [&](const Phase &phase, size_t k) { // k: -1 and the end are like none
    const Phase *const other = k < kernels.size() ? &plan_.phases[kernels[k]] : nullptr;
    return other != nullptr && other->when == phase.when && other->unless == phase.unless;
  };
  const Phase *before = nullptr;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Phase &phase = plan_.phases[kernels[k]];
    in_block_ = phase.when == kNone ? k + 1 == kernels.size() : !like(phase, k - 1) && !like(phase, k + 1);
    host_ += on_host([&] { return printer_.between(before, &phase); });
    print_phase(kernels[k]);
    before = &phase;
  }
  host_ += printer_.between(before, nullptr);
}

// Sizes have 64 bits there.
std::string CudaKernel::on_host(const std::function<std::string()> &print) {
  const std::string type = std::exchange(printer_.index_type, "int64_t");
  std::string text = print();
  printer_.index_type = type;
  return text;
}

void CudaKernel::print_phase(size_t index) {
  const Phase &phase = plan_.phases[index];
  phase_ = &phase;
  printer_.lines = Lines();
  printer_.clear_parts();
  together_ = phase.launch.together;
  printer_.named.clear();
  shared_.clear();
  if (phase.kind == Phase::Kind::serial)
    return block_phase(phase, {});
  if (phase.kind == Phase::Kind::chunked)
    return chunked_phase(phase, phase_behind(plan_, index));
  const Nest items = items_of(plan_, phase);
  switch (phase.launch.work) {
  case Work::items:
    return thread_phase(items);
  case Work::packs:
    return packed_phase(items);
  case Work::crosswise:
    return tiled_phase(items, *crossing(plan_, items));
  case Work::columns:
    return column_phase(phase, items);
  case Work::row:
    return row_phase(phase, items);
  case Work::team:
    return team_phase(phase, items);
  default:
    return block_phase(phase, items);
  }
}

// What the statements of a work item need to know of it.
void CudaKernel::open_item(const Nest &chain) {
  decode(chain, "item");
  name_rows(chain);
  name_shares(chain.back()->body);
}

// Where the item's share of a loop begins and ends, once for all loops over that axis.
void CudaKernel::name_shares(const std::vector<PlanNode> &list) {
  AxisSet inside; // loops that go from share to share themselves
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &node) {
      if (node.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(node.axis);
    });
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &node) {
      if (node.kind != PlanNode::Kind::loop || node.share == kNone || inside.contains(node.share) ||
          printer_.in_part(node.axis))
        return;
      const std::string &axis = printer_.axis_name(node.axis), &begin = pack_names_.of(axis, "_begin"),
                        &end = pack_names_.of(axis, "_end");
      const Printer::Range share = printer_.share_range(node);
      out().add("const Index " + begin + " = Index(" + share.begin + "), " + end + " = Index(" + share.end + ");");
      printer_.set_part(node.axis, {begin, end});
    });
}

// Where the rows of ragged axes begin and how long they are, once for each position of the loops: entries of tables
// would be loaded again after each store.
void CudaKernel::name_rows(const Nest &chain) {
  for (size_t r = 0; r < plan_.kernel.axes.size(); ++r) {
    const Axis &axis = plan_.kernel.axes[r];
    const bool here = std::any_of(chain.begin(), chain.end(), [&](const PlanNode *node) {
      return node->kind == PlanNode::Kind::loop && axis.ragged != kNone && node->axis == axis.over;
    });
    if (!here || plan_.kernel.tables[axis.ragged].on_host)
      continue;
    const AxisId id = static_cast<AxisId>(r);
    const std::string &row = printer_.axis_name(axis.over), &name = printer_.axis_name(id);
    auto declare = [&](const std::string &variable, const std::string &value) {
      declare_spare(variable, "const auto " + variable + " = " + value + ";");
      printer_.named[value] = variable;
    };
    declare(pack_names_.of(name, "_start"), printer_.row_start(id, row));
    declare(pack_names_.of(name, "_count"), printer_.row_length(id, row).text);
  }
}

// A variable that is left out again where nothing asks for it.
void CudaKernel::declare_spare(const std::string &variable, const std::string &declaration) {
  spare_.push_back({variable, declaration + "\n"});
  out().add(declaration);
}

std::string CudaKernel::without_unused(std::string body) {
  const auto end_of_block = [&](size_t at) {
    for (int depth = 0; at < body.size() && depth >= 0; ++at)
      depth += body[at] == '{' ? 1 : body[at] == '}' ? -1 : 0;
    return at;
  };
  for (auto spare = spare_.rbegin(); spare != spare_.rend(); ++spare)
    for (size_t at = 0; (at = body.find(spare->second, at)) != std::string::npos;) {
      const size_t begin = at + spare->second.size(); // other blocks may have another variable of the name
      if (mentions_word(body.substr(begin, end_of_block(begin) - begin), spare->first))
        at = begin;
      else
        body.erase(at, spare->second.size());
    }
  spare_.clear();
  return body;
}

// Steps of the work list itself check their windows here, those inside where they begin.
void CudaKernel::guard_work_item(const Nest &chain, const std::string &leave) {
  const bool steps =
      std::any_of(chain.begin(), chain.end(), [](const PlanNode *n) { return n->kind == PlanNode::Kind::steps; });
  if (steps && printer_.guards != nullptr && !contains_steps(chain.back()->body))
    out().add(printer_.step_guard(statuses_, leave));
}

void CudaKernel::thread_phase(const Nest &chain) {
  const std::string items = items_text(chain);
  out().add("const Index item = Index(blockIdx.x) * " + std::to_string(plan_.decide(Decision::block_threads)) +
            " + Index(threadIdx.x);");
  out().add("if (item >= " + items + ") return;");
  open_item(chain);
  guard_work_item(chain, "return");
  printer_.list(chain.back()->body);
  finish({spelling().helper("ceil_div") + "(" + items + ", " + std::to_string(plan_.decide(Decision::block_threads)) +
          ")"});
}

void CudaKernel::block_phase(const Phase &phase, const Nest &chain) {
  const std::vector<PlanNode> &body = chain.empty() ? phase.nodes : chain.back()->body;
  shared_ = exchanged(plan_, printer_.scopes, body);
  const bool tiles = !phase.launch.buffers.empty(), rows = phase.launch.work == Work::warps;
  const std::string items = chain.empty() ? "1" : items_text(chain);
  if (tiles)
    take_tiles();
  const std::string text = printer_.captured([&] {
    if (!chain.empty()) {
      open_item(chain);
      guard_work_item(chain, "continue");
    }
    phase_nodes(body);
  });
  if (chain.empty())
    out().append(text);
  else
    out().append(
        std::string(rows ? "for (Index item = Index(blockIdx.x) * Index(blockDim.y) + Index(threadIdx.y); item < "
                         : "for (Index item = Index(blockIdx.x); item < ") +
        items + (rows ? "; item += Index(gridDim.x) * Index(blockDim.y)) {\n" : "; item += Index(gridDim.x)) {\n") +
        text + (tiles && shared_.empty() ? "__syncthreads();\n}\n" : "}\n"));
  Launch launch{items};
  if (rows) {
    launch.threads = spelling().helper("scan_threads") + "(" + longest_length() + ", " + items + ")";
    launch.blocks = spelling().helper("smaller") + "(" + spelling().helper("ceil_div") + "(" + items + ", " +
                    launch.threads + ".y), int64_t{1} << 30)";
  }
  launch.items = items;
  launch.known = !asks_tables(plan_.kernel, chain);
  finish(launch);
}

void CudaKernel::phase_nodes(const std::vector<PlanNode> &nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (starts_chunks(plan_, nodes[i]))
      continue;
    printer_.declare_before(nodes, i);
    block_node(nodes[i], nodes);
  }
}

// The threads of a block, for the host.
std::string CudaKernel::threads_text(const std::string &blocks) {
  return spelling().helper("block_threads") + "(" + longest_length() + ", " + blocks + ")";
}

// Makes the kernel function of the printed body and its launch.
void CudaKernel::finish(const Launch &launch) {
  const Phase::Launch &of_phase = phase_->launch;
  std::string body = without_unused(out().text());
  const std::string base = name_ + (kernels_ > 1 ? "_part" + std::to_string(functions_.size() + 1) : "") + "_kernel";
  body = derived_declarations(printer_, body, plan_.shares) + body;
  const std::set<std::string> words = words_of(body); // many phases with many buffers each are asked about below
  std::string parameters, arguments;
  auto add = [&](const std::string &declaration, const std::string &argument) {
    parameters += (parameters.empty() ? "" : ", ") + declaration;
    arguments += ", " + argument;
  };
  for (const Argument &a : function_.arguments) {
    if (words.count(a.name) == 0)
      continue;
    const bool count = a.kind == Argument::Kind::size || a.kind == Argument::Kind::stride;
    add(count ? "Index " + a.name : a.declaration(), a.name);
  }
  for (AxisId axis : plan_.shares.list())
    if (const std::string count = c_name(plan_.kernel.axes[axis].name); words.count(count) != 0)
      add("Index " + count, count);
  if (words.count("table_status") != 0)
    add("int32_t* table_status", "table_status");
  for (const Offset &o : offsets_)
    if (!o.bytes && words.count(o.field) != 0)
      add(std::string(Spelling::c_type(o.type)) + "* " + o.field, "workspace + space." + o.field);
  if (!launch.threads.empty() && !launch.chunk.empty())
    add("Index chunk", "shape.chunk"), add("unsigned chunks", "shape.chunks");
  else if (!launch.chunk.empty())
    add(launch.chunk + " chunk", "chunk");
  const bool shares = of_phase.work != Work::items && of_phase.work != Work::packs && of_phase.work != Work::crosswise;
  std::string prepare, grid = launch.blocks, shared = of_phase.folds ? std::to_string(kFoldBytes) : "0";
  if (!of_phase.buffers.empty()) {
    std::string bytes;
    for (VarId var : of_phase.buffers)
      bytes += (bytes.empty() ? "" : " + ") + spelling().helper("padded_bytes") + "(" + printer_.buffer_elements(var) +
               ", " + std::to_string(bytes_of(plan_.kernel.vars[var].type)) + ")";
    const std::string field = base.substr(name_.size() + 1) + "_tiles";
    offsets_.push_back({field, "", Type::u8, true});
    const std::string most = std::to_string(plan_.decide(Decision::tile_blocks));
    offsets_.back().count = spelling().helper("workspace_tiles") + "(" + bytes + ", " +
                            std::to_string(plan_.decide(Decision::shared_tile_bytes)) + ", " +
                            (launch.items == "1" ? "1"
                             : launch.known      ? spelling().helper("smaller") + "(" + launch.items + ", " + most + ")"
                                                 : most) +
                            ")";
    add("char* tiles", "tiles");
    add("int64_t tile_bytes", "tile_bytes");
    prepare += "const int64_t tile_bytes = " + bytes +
               ";\nconst bool in_shared = tile_bytes <= " + std::to_string(plan_.decide(Decision::shared_tile_bytes)) +
               ";\nchar* const tiles = in_shared ? nullptr : workspace + space." + field + ";\n";
    shared = std::to_string(kFoldBytes) + " + (in_shared ? static_cast<size_t>(tile_bytes) : 0)";
    if (grid != "1")
      grid = spelling().helper("smaller") + "(" + grid +
             ", in_shared ? int64_t{1} << 30 : " + std::to_string(plan_.decide(Decision::tile_blocks)) + ")";
  } else if (grid != "1" && of_phase.work == Work::block) {
    grid = spelling().helper("smaller") + "(" + grid + ", int64_t{1} << 30)";
  }
  const bool packs = of_phase.together > 1, shared_packs = packs && shares;
  if (packs)
    prepare += shared_packs ? "const bool wide = " + aligned_condition() + ";\n"
                            : "const int elements = " + aligned_condition() + " ? " +
                                  std::to_string(of_phase.together) + " : 1;\n";
  prepare += launch.prepare;
  std::string kernel = base + "<Index>";
  const std::string many = std::to_string(of_phase.together);
  if (shared_packs)
    kernel = "wide ? " + base + "<true, Index> : " + base + "<false, Index>";
  else if (packs)
    kernel = "elements == " + many + " ? " + base + "<" + many + ", Index> : " + base + "<1, Index>";
  if (of_phase.work == Work::columns)
    shared = "shape.fold_bytes()";
  const std::string most = std::to_string(shares ? int64_t{kMostBlockThreads} : plan_.decide(Decision::block_threads));
  // With calls of clusters in it, ptxas makes room for several blocks and spills, unless it is told that one will do.
  const std::string bounds =
      !launch.slots.empty() ? most + ", 1"
      : shares ? most + ", " + spelling().helper("kLeastBlocks") + "<" + (of_phase.doubles ? "double" : "float") + ">"
               : most;
  if (!launch.slots.empty()) // the launch adds them
    parameters += words.count("chunk") != 0 ? ", Index chunk, RowTeam team" : ", Index, RowTeam team";
  functions_.push_back(std::string("template <") +
                       (shared_packs ? "bool kWide, "
                        : packs      ? "int kElements, "
                                     : "") +
                       "class Index>\n__global__ void __launch_bounds__(" + bounds + ") " + base + "(" + parameters +
                       ") {\n" + body + "}\n");
  const std::string threads = !launch.threads.empty() ? launch.threads
                              : !launch.slots.empty() ? ""
                              : shares                ? threads_text(launch.blocks)
                                                      : most;
  const std::string started =
      launch.slots.empty()
          ? spelling().helper("launch") + "(" + kernel + ", " + grid + ", " + threads + ", " + shared + ", stream"
          : spelling().helper("launch_rows") + "(" + kernel + ", shape, " + launch.slots + ", stream";
  launch_ = started + arguments + ")";
  const std::string call = prepare + checked(launch_);
  host_ += prepare.empty() || in_block_ ? call : "{\n" + call + "}\n";
}

// What the last launch says is what the function says, where nothing comes after it.
std::string CudaKernel::host_text() const {
  const std::string last = checked(launch_);
  if (!host_.ends_with(last))
    return host_ + "return cudaSuccess;\n";
  return host_.substr(0, host_.size() - last.size()) + "return " + launch_ + ";\n";
}

std::string checked(const std::string &call) { return "if (const cudaError_t error = " + call + ") return error;\n"; }

} // namespace kgen
