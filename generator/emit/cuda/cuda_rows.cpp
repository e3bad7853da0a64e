// Work items that are rows: folds along them, and what is computed from these, all over one nest of loops. Part of a
// warp, a block or several blocks share a row, as the host's table of lengths says. What several loops read stays in
// shared memory, where each thread finds again what it has loaded before. Blocks that share a single fold leave its end
// to the last of them; where more comes after a fold, they wait for each other.
#include <algorithm>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {

// The host's shape of a row, by the numbers of turns and of items.
std::string CudaKernel::row_shape(const Phase &phase) {
  const Phase::Launch &launch = phase.launch;
  const Nest items = items_of(plan_, phase);
  const bool team = launch.work == Phase::Launch::Work::team;
  Nest nest = nest_of_row(plan_, items);
  std::string turns = length_of(nest);
  const int each = goes_by_groups(plan_, nest, launch.together) ? launch.together : 1;
  if (each > 1) {
    const std::string last = length_of({nest.back()});
    nest.pop_back();
    turns = length_of(nest) + " * " + spelling().helper("ceil_div") + "(" + last + ", " + std::to_string(each) + ")";
  }
  int bytes = 0;
  for (VarId var : launch.kept)
    bytes += bytes_of(plan_.kernel.vars[var].type) * each;
  const int64_t most_chunks = !launch.split ? 1 : plan_.decide(team ? Decision::team_blocks : Decision::fold_chunks);
  return spelling().helper("RowShape") + "(" + turns + ", " + std::to_string(each) + ", " + items_text(items) + ", " +
         std::to_string(bytes) + ", " + std::to_string(most_chunks) + ")";
}

// ---- a single fold --------------------------------------------------------------------------------------------------

void CudaKernel::row_phase(const Phase &phase, const Nest &chain) {
  const std::vector<PlanNode> &body = chain.back()->body;
  const PlanNode &split = *split_fold(plan_, body);
  team_.fold = team_.helper = "row_fold";
  out().add("const Index items = Index(" + items_text(chain) + ");"); // derived sizes have 64 bits
  out().add("for (Index item = Index(blockIdx.x / chunks) * Index(blockDim.y) + Index(threadIdx.y); item < items; item "
            "+= Index(gridDim.x / chunks) * Index(blockDim.y)) {");
  open_item(chain);
  list_of_folds(body, &split);
  out().add("}");
  team_ = {};
  Launch launch{"shape.blocks"};
  launch.threads = "dim3(shape.threads, shape.together)";
  launch.chunk = "Index";
  launch.prepare = prepare_shape(row_shape(phase), &split);
  finish(launch);
}

// ---- folds, and what comes after them -------------------------------------------------------------------------------

// Which part of the row is the block's. The host says how long the parts are where all rows are of one length.
void CudaKernel::open_team_part(const Nest &nest) {
  const bool single = nest.size() == 1, ragged = is_ragged(plan_.kernel, nest);
  const Printer::Range range = single ? printer_.range(*nest.front()) : Printer::Range{"0", ""};
  const std::string chunk = ragged ? names_.claim("row_chunk") : "chunk";
  if (ragged)
    out().add("const Index " + chunk + " = Index(" + spelling().helper("ceil_div") + "(" + range.end +
              ", int64_t(team.chunks) * 16) * 16);");
  out().add("const Index first = Index(blockIdx.x % team.chunks) * " + chunk +
            (range.begin == "0" ? "" : " + Index(" + range.begin + ")") + ";");
  out().add("const Index last = " +
            (single ? "Index(" + spelling().helper("smaller") + "(first + " + chunk + ", " + range.end + "))"
                    : "first + " + chunk) +
            ";");
  part_ = {"first", "last"};
}

void CudaKernel::team_phase(const Phase &phase, const Nest &chain) {
  const Nest nest = nest_of_row(plan_, chain);
  const bool splits = phase.launch.split, ragged = is_ragged(plan_.kernel, nest);
  const std::vector<VarId> &kept = phase.launch.kept;
  const std::string each = goes_by_groups(plan_, nest, together_) ? " * " + std::to_string(together_) : "";
  const std::string writes = names_.claim("writes");
  spelling().helper("RowTeam");
  team_.writer = writes;
  team_.fold = "team.fold";
  team_.helper = "RowTeam";
  std::string head = "team.begin();\n";
  if (!kept.empty())
    head += "char* tile = " + spelling().helper("row_tile") + "(team);\nconst bool keeps = team.kept_bytes > 0;\n";
  for (VarId var : kept) {
    const std::string tile = names_.claim(printer_.name(var), "_kept"),
                      type = Spelling::c_type(plan_.kernel.vars[var].type);
    head += type + "* const " + tile + " = " + spelling().helper("take") + "<" + type + ">(tile, chunk" + each + ");\n";
    kept_.tiles[var] = tile;
  }
  if (splits && !ragged)
    head += printer_.captured([&] { open_team_part(nest); });
  out().add("const Index items = Index(" + items_text(chain) + ");"); // derived sizes have 64 bits
  out().add("for (Index item = Index(team.first_row()); item < items; item += Index(team.rows_at_once())) {");
  open_item(chain);
  if (splits && ragged)
    open_team_part(nest);
  block_list(chain.back()->body);
  out().add("}");
  if (mentions_word(out().text(), writes))
    head += "const bool " + writes + " = threadIdx.x == 0 && blockIdx.x % team.chunks == 0;\n";
  const std::string body = out().text();
  out() = Lines();
  out().append(head + body);
  team_ = {};
  part_.reset();
  kept_ = {};
  Launch launch{""};
  launch.slots =
      splits ? "workspace + space." + printer_.name_beside(phase.launch.rooms.front().var, "_slots") : "nullptr";
  launch.prepare = prepare_shape(row_shape(phase), nullptr);
  finish(launch);
}

} // namespace kgen
