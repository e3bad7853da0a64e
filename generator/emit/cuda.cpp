// The CUDA source: kernels and host functions of all variations, then the launchers of the C interface.
#include <algorithm>
#include <deque>

#include "emit/cuda_kernel.h"
#include "emit/emitted_plan.h"

namespace kgen {
namespace {

std::string run(const Function &function, const CudaKernel &kernel, const std::string &index) {
  std::string text = kernel.name() + "<" + index + ">(" + arguments_text(function);
  if (has_device_tables(function.variations[0]->kernel))
    text += ", table_status";
  if (kernel.needs_workspace())
    text += ", static_cast<char*>(memory)";
  return text + ", queue)";
}

std::string launcher(const Function &function, std::deque<CudaKernel> &kernels, Spelling &spelling,
                     Statuses &statuses) {
  const bool memory =
      std::any_of(kernels.begin(), kernels.end(), [](const CudaKernel &k) { return k.needs_workspace(); });
  const bool dispatch = !variation_condition(*function.variations[0]).empty();
  std::string text = "extern \"C\" int " + function.stem + "_cuda(" + parameters_text(function);
  if (has_device_tables(function.variations[0]->kernel))
    text += ", int32_t* table_status";
  if (memory)
    text += ", void* workspace, int64_t workspace_bytes";
  text += ", void* stream) {\n";
  const std::string failed = std::to_string(statuses.of("a CUDA call failed; cudaGetLastError says why"));
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Variation &v = *function.variations[i];
    const CudaKernel &kernel = kernels[i];
    if (dispatch)
      text += "if (" + variation_condition(v) + ") {\n";
    text += checks_text(function, v, spelling, statuses, true);
    text += "const cudaStream_t queue = static_cast<cudaStream_t>(stream);\n";
    if (kernel.needs_workspace()) {
      const std::string none = std::to_string(statuses.of("there is not enough memory for the workspace"));
      text += workspace_declaration(kernel.name(), function);
      text += "void* memory = workspace;\n";
      text += "if (workspace != nullptr && workspace_bytes < space.bytes) return " + none + ";\n";
      text += "if (workspace == nullptr && space.bytes > 0 && cudaMallocAsync(&memory, "
              "static_cast<size_t>(space.bytes), queue) != cudaSuccess) return " +
              none + ";\n";
    }
    text += "const cudaError_t error = small ? " + run(function, kernel, "int32_t") + " : " +
            run(function, kernel, "int64_t") + ";\n";
    if (kernel.needs_workspace())
      text += "if (workspace == nullptr && memory != nullptr) cudaFreeAsync(memory, queue);\n";
    text += "return error == cudaSuccess ? 0 : " + failed + ";\n";
    if (dispatch)
      text += "}\n";
  }
  if (dispatch)
    text += "return " + std::to_string(statuses.of("the kernel was not made for these sizes")) + ";\n";
  text += "}\n";
  if (!memory)
    return text;
  std::string query =
      "extern \"C\" int64_t " + function.stem + "_cuda_workspace(" + size_parameters_text(function) + ") {\n";
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (dispatch)
      query += "if (" + variation_condition(*function.variations[i]) + ") ";
    query += kernels[i].needs_workspace()
                 ? "return " + camel(kernels[i].name()) + "Workspace(" + size_arguments_text(function) + ").bytes;\n"
                 : "return 0;\n";
  }
  if (dispatch)
    query += "return 0;\n";
  return query + "}\n\n" + text;
}

} // namespace

Plan emitted_plan(const Spec &spec, const Variation &variation, TargetKind target) {
  if (target != TargetKind::cuda)
    return make_plan(variation.lowered, variation.lowered_facts, target);
  const std::vector<Variation> variations = {variation};
  const std::vector<Function> functions = functions_of(spec, variations);
  Spelling spelling(target);
  Statuses statuses;
  return CudaKernel(functions.front(), variations.front(), spelling, statuses).plan();
}

TargetSource cuda_source(const Spec &, const std::vector<Function> &functions, Statuses &statuses) {
  TargetSource source;
  Spelling spelling(TargetKind::cuda);
  for (const Function &function : functions) {
    std::deque<CudaKernel> kernels;
    for (const Variation *variation : function.variations) {
      kernels.emplace_back(function, *variation, spelling, statuses);
      if (source.plan.empty())
        source.plan = plan_comment(kernels.back().plan(), variation->facts);
      for (std::string &text : kernels.back().texts())
        source.kernels.push_back(std::move(text));
    }
    source.launchers.push_back(launcher(function, kernels, spelling, statuses));
  }
  source.helpers = spelling.helpers();
  return source;
}

} // namespace kgen
