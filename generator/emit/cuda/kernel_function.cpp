#include "emit/cuda/kernel_function.h"

#include <set>

#include "emit/cuda/block.h"
#include "emit/cuda/packs.h"
#include "emit/cuda/points.h"
#include "emit/target_file.h"

namespace kgen {
namespace {

using Work = Phase::Launch::Work;

constexpr int64_t kMostBlockThreads = 512; // that share a work item: with more, ptxas keeps to 32 registers and spills

// Do the threads of a block share items?
bool shares_items(const Phase::Launch &kernel) {
  return kernel.work != Work::items && kernel.work != Work::packs && kernel.work != Work::crosswise;
}

struct Parameters {
  std::string declared, passed;

  void add(const std::string &declaration, const std::string &argument) {
    declared += (declared.empty() ? "" : ", ") + declaration;
    passed += ", " + argument;
  }
};

// Of what a kernel may need, what its text has.
Parameters parameters_of(const Plan &plan, const Function &function, const Workspace &workspace,
                         const std::set<std::string> &words) {
  Parameters out;
  for (const Argument &a : function.arguments) {
    if (words.count(a.name) == 0)
      continue;
    const bool count = a.kind == Argument::Kind::size || a.kind == Argument::Kind::stride;
    out.add(count ? "Index " + a.name : a.declaration(), a.name);
  }
  for (AxisId axis : plan.shares.list())
    if (const std::string count = c_name(plan.kernel.axes[axis].name); words.count(count) != 0)
      out.add("Index " + count, count);
  if (words.count("table_status") != 0)
    out.add("int32_t* table_status", "table_status");
  for (const WorkspaceField &field : workspace)
    if (!field.bytes && words.count(field.name) != 0)
      out.add(std::string(Spelling::c_type(field.type)) + "* " + field.name, "workspace + space." + field.name);
  return out;
}

void add_chunk(Parameters &parameters, const KernelLaunch &launch) {
  if (launch.chunk.empty())
    return;
  if (launch.threads.empty())
    return parameters.add(launch.chunk + " chunk", "chunk");
  parameters.add("Index chunk", "shape.chunk");
  parameters.add("unsigned chunks", "shape.chunks");
}

// Buffers of blocks: in shared memory where they fit, else in `field` of the workspace, for fewer blocks.
std::string prepare_buffers(KernelText &out, const Phase::Launch &kernel, const std::string &field) {
  return "const int64_t tile_bytes = " + buffer_bytes(out.printer, kernel.buffers) +
         ";\nconst bool in_shared = tile_bytes <= " + std::to_string(out.plan().decide(Decision::shared_tile_bytes)) +
         ";\nchar* const tiles = in_shared ? nullptr : workspace + space." + field + ";\n";
}

std::string shared_bytes(const Phase::Launch &kernel) {
  if (kernel.work == Work::columns)
    return "shape.fold_bytes()";
  if (!kernel.buffers.empty())
    return std::to_string(kFoldBytes) + " + (in_shared ? static_cast<size_t>(tile_bytes) : 0)";
  return kernel.folds ? std::to_string(kFoldBytes) : "0";
}

std::string grid_text(KernelText &out, const Phase::Launch &kernel, const std::string &blocks) {
  const bool buffers = !kernel.buffers.empty();
  if (blocks == "1" || (!buffers && kernel.work != Work::block))
    return blocks;
  return out.helper("smaller") + "(" + blocks + ", " + (buffers ? "in_shared ? " : "") + "int64_t{1} << 30" +
         (buffers ? " : " + std::to_string(out.plan().decide(Decision::tile_blocks)) : "") + ")";
}

// How a thread takes one position, or several where accesses can be wide: the kernel's parameter, what the host asks,
// and which kernel it calls then.
struct Together {
  std::string parameter, prepare, kernel;
};
Together together_text(KernelText &out, const Phase::Launch &kernel, const std::string &name) {
  if (kernel.together == 1)
    return {"", "", name + "<Index>"};
  const std::string wide = aligned_text(out.printer, kernel.aligned), many = std::to_string(kernel.together);
  if (kernel.held > 0)
    return {"bool kWide, int kTurns, ", "const bool wide = " + wide + ";\n",
            "!wide ? " + name + "<false, 0, Index> : shape.held ? " + name + "<true, " + std::to_string(kernel.held) +
                ", Index> : " + name + "<true, 0, Index>"};
  if (shares_items(kernel))
    return {"bool kWide, ", "const bool wide = " + wide + ";\n",
            "wide ? " + name + "<true, Index> : " + name + "<false, Index>"};
  return {"int kElements, ", "const int elements = " + wide + " ? " + many + " : 1;\n",
          "elements == " + many + " ? " + name + "<" + many + ", Index> : " + name + "<1, Index>"};
}

std::string most_threads(KernelText &out, const Phase::Launch &kernel) {
  return std::to_string(shares_items(kernel) ? kMostBlockThreads : out.plan().decide(Decision::block_threads));
}

// With calls of clusters in it, ptxas makes room for several blocks and spills, unless it is told that one will do.
std::string bounds_text(KernelText &out, const Phase::Launch &kernel) {
  const std::string most = most_threads(out, kernel);
  const std::string type = kernel.doubles ? "double" : "float";
  if (kernel.held > 0)
    return most + ", kTurns > 0 ? " + out.helper("kBlocksHeld") + "<" + type + ", Index> : 1";
  if (kernel.work == Work::team)
    return most + ", 1";
  if (!shares_items(kernel))
    return most;
  return most + ", " + out.helper("kLeastBlocks") + "<" + type + ">";
}

std::string threads_text(KernelText &out, const Phase::Launch &kernel, const KernelLaunch &launch) {
  if (!launch.threads.empty())
    return launch.threads;
  if (!shares_items(kernel))
    return most_threads(out, kernel);
  return out.helper("block_threads") + "(" + longest_text(out.printer, kernel) + ", " + launch.blocks + ")";
}

} // namespace

KernelFunction kernel_function(KernelText &out, const std::string &function_name, const Function &function,
                               const Workspace &workspace, const KernelPhase &phase, const KernelLaunch &launch) {
  const Phase::Launch &kernel = phase.phase->launch;
  const std::string name = function_name + "_" + phase.suffix;
  std::string body = out.finished();
  body = derived_declarations(out.printer, body, out.plan().shares) + body;
  const std::set<std::string> words = words_of(body);
  Parameters parameters = parameters_of(out.plan(), function, workspace, words);
  add_chunk(parameters, launch);
  std::string prepare;
  if (!kernel.buffers.empty()) {
    parameters.add("char* tiles", "tiles");
    parameters.add("int64_t tile_bytes", "tile_bytes");
    prepare = prepare_buffers(out, kernel, phase.suffix + "_tiles");
  }
  if (kernel.work == Work::team) // the launch adds them
    parameters.declared += words.count("chunk") != 0 ? ", Index chunk, RowTeam team" : ", Index, RowTeam team";
  const Together together = together_text(out, kernel, name);
  const std::string started = kernel.work == Work::team
                                  ? out.helper("launch_rows") + "(" + together.kernel + ", shape, " + launch.slots
                                  : out.helper("launch") + "(" + together.kernel + ", " +
                                        grid_text(out, kernel, launch.blocks) + ", " +
                                        threads_text(out, kernel, launch) + ", " + shared_bytes(kernel);
  return {"template <" + together.parameter + "class Index>\n__global__ void __launch_bounds__(" +
              bounds_text(out, kernel) + ") " + name + "(" + parameters.declared + ") {\n" + body + "}\n",
          prepare + together.prepare + launch.prepare, started + ", stream" + parameters.passed + ")"};
}

} // namespace kgen
