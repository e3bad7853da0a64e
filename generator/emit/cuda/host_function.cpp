#include "emit/cuda/host_function.h"

#include "emit/cuda/kernel_function.h"
#include "emit/cuda/kernels.h"
#include "emit/cuda/packs.h"
#include "emit/target_file.h"
#include "emit/text/reuse_names.h"
#include "support/check.h"

namespace kgen {
namespace {

// What kernels call things themselves is not free for variables.
Names without_own_words(Names names) {
  for (const char *taken : {"tiles", "tile", "tile_bytes", "error", "space", "elements", "point", "chunk", "part",
                            "ticket", "chunks", "team", "keeps", "wide"})
    names.reserve(taken);
  return names;
}

KernelLaunch print_body(KernelText &out, const Phase &phase) {
  using enum Phase::Launch::Work;
  switch (phase.launch.work) {
  case items:
    return thread_kernel(out, phase);
  case packs:
    return packs_kernel(out, phase);
  case crosswise:
    return crosswise_kernel(out, phase);
  case columns:
    return columns_kernel(out, phase);
  case block:
  case warps:
    return block_kernel(out, phase);
  case row:
    return row_kernel(out, phase);
  case team:
    return team_kernel(out, phase);
  case points:
  case rounds:
    return chunks_kernel(out, phase);
  case none:
    break;
  }
  KGEN_UNREACHABLE("a phase without a kernel");
}

// Are its statements of the host the only ones in their block?
bool is_alone(const std::vector<KernelPhase> &kernels, size_t k) {
  const auto like = [&](size_t other) { // -1 and the end are like none
    return other < kernels.size() && kernels[other].phase->when == kernels[k].phase->when &&
           kernels[other].phase->unless == kernels[k].phase->unless;
  };
  return kernels[k].phase->when == kNone ? k + 1 == kernels.size() : !like(k - 1) && !like(k + 1);
}

// Prints the kernels; returns the statements of the host.
std::string launches_of(const std::string &name, const Function &function, Printer &printer, Names &names,
                        const Workspace &workspace, std::vector<std::string> &texts) {
  LoopNames loop_names(names);
  const std::vector<KernelPhase> kernels = kernels_of(printer.plan);
  std::string host, last;
  const Phase *before = nullptr;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Phase &phase = *kernels[k].phase;
    host += on_host(printer, [&] { return printer.between(before, &phase); });
    printer.lines = Lines();
    printer.clear_parts();
    printer.named.clear();
    KernelText out{printer, names, loop_names};
    const KernelLaunch launch = print_body(out, phase);
    const KernelFunction kernel = kernel_function(out, name, function, workspace, kernels[k], launch);
    texts.push_back(kernel.text);
    last = kernel.launch;
    const std::string call = kernel.prepare + checked(last);
    host += kernel.prepare.empty() || is_alone(kernels, k) ? call : "{\n" + call + "}\n";
    before = &phase;
  }
  host += printer.between(before, nullptr);
  // What the last launch says is what the function says, where nothing comes after it.
  host = derived_declarations(printer, host) + host;
  if (!host.ends_with(checked(last)))
    return host + "return cudaSuccess;\n";
  return host.substr(0, host.size() - checked(last).size()) + "return " + last + ";\n";
}

} // namespace

HostFunction host_function(const std::string &name, const Function &function, const Plan &plan, const Facts &facts,
                           Spelling &spelling, Statuses &statuses) {
  Names names = without_own_words(names_of(function, plan.kernel));
  Printer printer(plan, facts, spelling, names);
  printer.index_type = "Index";
  printer.parallel = true;
  const bool device_tables = has_device_tables(plan.kernel);
  if (device_tables)
    printer.guards = &statuses;
  const Workspace workspace = workspace_of(printer);
  HostFunction out{name, !workspace.empty(), "", {}};
  const std::string body = launches_of(name, function, printer, names, workspace, out.texts);
  std::string parameters = parameters_text(function);
  std::vector<std::string> own;
  for (const Argument &a : function.arguments)
    own.push_back(a.name);
  if (device_tables)
    parameters += ", int32_t* table_status", own.push_back("table_status");
  if (out.needs_workspace)
    parameters += workspace_parameters(name), own.insert(own.end(), {"space", "workspace"});
  parameters += ", cudaStream_t stream", own.push_back("stream");
  out.texts.push_back("template <class Index>\ncudaError_t " + name + "(" + parameters + ") {\n" +
                      silence_unused(own, body) + body + "}\n");
  if (out.needs_workspace) {
    const WorkspaceText space = workspace_struct(name, function, workspace, printer);
    out.workspace_sizes = space.sizes;
    out.texts.insert(out.texts.begin(), space.text);
  }
  out.texts = reuse_names(std::move(out.texts), names);
  return out;
}

} // namespace kgen
