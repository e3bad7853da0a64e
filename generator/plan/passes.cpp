#include "plan/passes.h"

#include <set>

#include "plan/contract/contractions.h"
#include "plan/cuda/launches.h"
#include "plan/cuda/map_columns.h"
#include "plan/cut/columns.h"
#include "plan/cut/join_rows.h"
#include "plan/cut/one_pass.h"
#include "plan/cut/row_parts.h"
#include "plan/cut/scatters.h"
#include "plan/cut/segments.h"
#include "plan/cut/share_rows.h"
#include "plan/cut/share_scans.h"
#include "plan/cut/shares.h"
#include "plan/cut/sum_blocks.h"
#include "plan/lanes/take_lanes.h"
#include "plan/place/forward.h"
#include "plan/tidy/ends.h"
#include "plan/tidy/hoist.h"
#include "plan/tidy/narrow.h"
#include "plan/tidy/products.h"
#include "plan/tidy/repeats.h"
#include "plan/tidy/rows_at_once.h"
#include "plan/tidy/short_lanes.h"
#include "plan/tree/mapping.h"

namespace kgen {

const std::vector<Pass> &passes() {
  using enum Targets;
  static const std::vector<Pass> all = {
      {"part_contractions", openmp, {}, part_contractions},
      {"part_rows", openmp, {{"part_contractions", "it takes the folds that stand alone by then"}}, part_rows},
      {"forward_outputs", both, {{"part_rows", "what the loops of parts keep is theirs"}}, forward_outputs},
      {"mark_segments", both, {}, mark_segments},
      {"map_phases", both, {{"mark_segments", "segments are short, and no lanes"}}, map_phases},
      {"find_contractions",
       openmp,
       {{"forward_outputs", "it takes loops that are nothing but a fold"}, {"map_phases", "it takes over the lane"}},
       find_contractions},
      {"share_folds",
       openmp,
       {{"map_phases", "rows and columns are cut differently"}, {"find_contractions", "those are not cut"}},
       share_folds},
      {"share_scans", both, {{"share_folds", "it leaves alone what is shared"}}, share_scans},
      {"map_columns",
       cuda,
       {{"map_phases", "it changes the mapping"}, {"share_scans", "scans have blocks of their own"}},
       map_columns},
      {"copy_small_targets", openmp, {{"share_scans", "it leaves alone what is shared"}}, copy_small_targets},
      {"find_apart_adds",
       both,
       {{"copy_small_targets", "adding to a copy of one's own meets nobody"},
        {"map_phases", "threads differ from blocks"}},
       find_apart_adds},
      {"turn_columns",
       openmp,
       {{"share_folds", "it asks which lists are alternatives"}, {"find_apart_adds", "lanes depend on it"}},
       turn_columns},
      {"fold_in_one_pass", openmp, {{"turn_columns", "folds of columns are none of rows"}}, fold_in_one_pass},
      {"share_rows",
       openmp,
       {{"fold_in_one_pass", "the folds of a row are one loop, whose totals shares find"}},
       share_rows},
      {"join_rows", openmp, {{"share_rows", "folds of columns go with the shares of rows"}}, join_rows},
      {"find_segments", both, {{"join_rows", "it asks for loops as they stay"}}, find_segments},
      {"make_launches", cuda, {{"find_segments", "it asks for loops as they are printed"}}, make_launches},
      {"narrow_locals", openmp, {{"find_segments", "conditions that it takes away need no numbers"}}, narrow_locals},
      {"hoist_heavy", openmp, {{"join_rows", "values leave loops that stay"}}, hoist_heavy},
      {"forward_buffers", openmp, {{"hoist_heavy", "what is hoisted needs no buffer"}}, forward_buffers},
      {"end_folds", openmp, {{"join_rows", "its ends are of loops as they stay"}}, end_folds},
      {"load_once", openmp, {{"forward_buffers", "what is at hand is not loaded"}}, load_once},
      {"shorten_lanes", openmp, {{"narrow_locals", "it asks how many bits numbers have"}}, shorten_lanes},
      {"round_products", openmp, {{"load_once", "it asks what else reads a product"}}, round_products},
      {"take_rows_at_once", openmp, {{"round_products", "it asks for folds as they are printed"}}, take_rows_at_once},
      {"block_sums", openmp, {{"take_rows_at_once", "sums down columns have blocks by then"}}, block_sums},
      {"take_lanes",
       openmp,
       {{"take_rows_at_once", "it asks for loops as they are printed"}, {"block_sums", "loops are cut by then"}},
       take_lanes},
  };
  return all;
}

std::string misplaced(const std::vector<Pass> &passes) {
  std::set<std::string> before;
  for (const Pass &pass : passes) {
    for (const Behind &behind : pass.behind)
      if (before.count(behind.pass) == 0)
        return std::string(pass.name) + " stands before " + behind.pass + ": " + behind.reason;
    before.insert(pass.name);
  }
  return "";
}

} // namespace kgen
