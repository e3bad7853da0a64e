// Scans along the loop that the threads of a block share. They take a tile of it at a time: one position each, or
// several side by side where these are packed. What comes before a scan in the loop's body is done for all positions
// of the tile, then the block scans their values, then comes what is behind; the carry goes from tile to tile.
// Positions past the end have the identity.
#include <algorithm>
#include <map>
#include <set>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {

void CudaKernel::block_scans(const PlanNode &loop) {
  std::vector<const PlanNode *> folds = folds_over(loop);
  std::erase_if(folds, [&](const PlanNode *fold) { return pending_.count(fold->target) != 0; });
  const Shares shares = begin_shares(folds);
  const bool packed = loop.packs.has_value();
  const std::string &index = printer_.axis_name(loop.axis), &tile = pack_names_.of(index, "_tile");
  const Printer::Range range = printer_.range(loop);
  const bool plain = range.begin == "0" || loop.share != kNone;
  const std::string begin = plain ? range.begin : "Index(" + range.begin + ")", end = range.end;
  const std::string step = packed ? "Index(blockDim.x) * " + std::to_string(together_) : "Index(blockDim.x)";
  if (loop.reversed) {
    const std::string length = names_.claim_one_of("tile_length", {"", "_here", "_again"});
    const std::string all = begin == "0" ? end : end + " - " + begin;
    out().add("const Index " + length + " = " + step + ";");
    out().add("for (Index " + tile + " = " + (begin == "0" ? "" : begin + " + ") + "Index((" + all + " + " + length +
              " - 1) / " + length + ") * " + length + "; (" + tile + " -= " + length + ") >= " + begin + ";) {");
  } else {
    out().add("for (Index " + tile + " = " + begin + "; " + tile + " < " + end + "; " + tile + " += " + step + ") {");
  }
  if (packed) {
    packed_scans(loop, tile);
  } else {
    out().add("const Index " + index + " = " + tile + " + Index(threadIdx.x);");
    const std::string takes_part = index + " < " + end;
    for (const LoopPiece &piece : scan_pieces(loop, 1, "", takes_part))
      out().append(piece.each ? "if (" + takes_part + ") {\n" + piece.text + "}\n" : piece.text);
  }
  out().add("}");
  end_shares(shares);
  for (const PlanNode *fold : folds)
    fold_shares(*fold, shares);
}

// Variables of the body that are set before a scan and read behind it: each position of the thread has its own.
// Returns their names as they were.
std::vector<std::pair<VarId, std::string>>
CudaKernel::keep_between(const PlanNode &loop, int together, const std::string &position, std::string &declarations) {
  std::map<VarId, std::set<int>> pieces;
  std::set<VarId> scanned;
  const auto kind_of = [&](VarId var) { return plan_.storage[var].kind; };
  int piece = 0;
  for (const PlanNode &node : loop.body) {
    const bool scan = node.kind == PlanNode::Kind::scan_step;
    for (const Access &a : accesses_of(plan_.kernel, node))
      if ((kind_of(a.var) == Storage::Kind::scalar || kind_of(a.var) == Storage::Kind::array) &&
          printer_.scopes.of(a.var).list == &loop.body)
        pieces[a.var].insert(scan && together == 1 ? piece + 1 : piece); // its value stands behind the piece
    if (scan && node.partner != kNone && kind_of(node.partner) == Storage::Kind::scalar)
      scanned.insert(node.partner);
    piece += scan ? 1 : 0;
  }
  std::vector<std::pair<VarId, std::string>> kept;
  for (const auto &[var, where] : pieces) {
    const bool result = scanned.count(var) != 0; // which the scan declares where positions are not packed
    if ((where.size() < 2 && !result) || (result && together == 1))
      continue;
    const std::string name = printer_.name(var);
    kept.push_back({var, name});
    const bool array = kind_of(var) == Storage::Kind::array;
    const std::string zero = array ? "{}" : spelling().constant(type_row(plan_.kernel.vars[var].type).arithmetic, 0, 0);
    declarations +=
        printer_.storage_type(var) + " " + name + (together > 1 ? "[" + std::to_string(together) + "]" : "") +
        (array ? "[" + printer_.buffer_elements(var) + "]" : "") + (together > 1 ? "" : " = " + zero) + ";\n";
    printer_.mark_declared(var);
    if (together > 1)
      printer_.rename(var, name + "[" + position + "]");
  }
  return kept;
}

// The body of a loop with scans along it: what is before, between and behind them, and the scans.
std::vector<LoopPiece> CudaKernel::scan_pieces(const PlanNode &loop, int together, const std::string &position,
                                               const std::string &takes_part) {
  LoopPiece declarations{"", false};
  const auto kept = keep_between(loop, together, position, declarations.text);
  std::vector<LoopPiece> pieces;
  std::string text; // of the piece at hand
  const auto finish = [&](bool each) {
    if (!text.empty())
      pieces.push_back({std::exchange(text, ""), each});
  };
  for (size_t i = 0; i < loop.body.size(); ++i) {
    const PlanNode &node = loop.body[i];
    if (node.kind != PlanNode::Kind::scan_step) {
      text += printer_.captured([&] {
        printer_.declare_before(loop.body, i);
        printer_.node(node, loop.body);
      });
      continue;
    }
    Scanned scanned = scan_of(node, together, position, takes_part);
    declarations.text += scanned.declarations;
    text += scanned.values;
    finish(true);
    text = scanned.scan;
    finish(false);
    text = scanned.result;
  }
  finish(true);
  for (const auto &[var, name] : kept)
    printer_.rename(var, name);
  if (!declarations.text.empty())
    pieces.insert(pieces.begin(), declarations);
  return pieces;
}

// `[](float a, float b) { return float(a + b); }`: what a fold or scan makes of two totals.
std::string CudaKernel::combination_of(const PlanNode &step) {
  const std::string type = Spelling::arithmetic(plan_.kernel.vars[step.target].type);
  const auto &[a, b] = names_.pair();
  const std::string text = printer_.combined(step, a, {b}).text, named = spelling().combiner(text, a, b);
  return !named.empty() ? named
                        : "[](" + type + " " + a + ", " + type + " " + b + ") { return " + type + "(" + text + "); }";
}

// A single scan. What it goes over has a variable, or for packed positions an array, which becomes the totals.
CudaKernel::Scanned CudaKernel::scan_of(const PlanNode &node, int together, const std::string &position,
                                        const std::string &takes_part) {
  Scanned out;
  const bool packed = together > 1, wanted = node.partner != kNone, // or only the last total
      memory = wanted && in_memory(node.partner), regroups = LaneAnalysis(plan_).regroups(node);
  const Type type = plan_.kernel.vars[node.target].type;
  const std::string c_type = Spelling::arithmetic(type), result = printer_.name(wanted ? node.partner : node.target),
                    base = result.substr(0, result.find('[')), here = packed ? "[" + position + "]" : "",
                    totals = memory || (packed && !wanted) ? names_.claim(base, "_own") : base;
  const auto declare = [&](const std::string &name) {
    if (packed)
      out.declarations += c_type + " " + name + "[" + std::to_string(together) + "];\n";
    return name;
  };
  const auto set = [&](const std::string &name, ExprId value, Monoid past_end) {
    const std::string text = name + here + " = " + takes_part + " ? " +
                             at_least(printer_.expression(value), binding::kChoose + 1) + " : " +
                             spelling().identity(past_end, type) + ";\n";
    (packed ? out.values : out.scan) += packed ? text : "const " + c_type + " " + text;
    return name;
  };
  if (memory || !wanted)
    declare(totals);
  std::string value, term;
  if (node.scan == ScanKind::linear) {
    value = set(declare(names_.claim(base, "_factor")), node.value, Monoid::product);
    term = set(declare(names_.claim(base, "_term")), node.second, Monoid::sum);
  } else {
    value = set(packed ? totals : names_.claim(base, "_value"), node.value, monoid_of(node.scan));
  }
  const std::string helper = node.scan == ScanKind::linear ? "block_scan_linear"
                             : regroups                    ? "block_scan"
                                                           : "block_scan_products";
  std::string arguments = packed ? totals + ", " : node.scan == ScanKind::linear ? "" : value + ", ";
  arguments += printer_.name(node.target);
  if (regroups)
    arguments += ", " + combination_of(node);
  if (node.scan == ScanKind::linear)
    arguments += ", " + value + ", " + term;
  out.scan += (packed || !wanted ? "" : "const " + c_type + " " + totals + " = ") + spelling().helper(helper) + "<" +
              (node.reverse ? "true" : "false") + ", " + (node.exclusive ? "true" : "false") + ">(" + arguments +
              ");\n";
  if (memory)
    out.result = printer_.element(node.partner, {}, {}) + " = " + totals + here + ";\n";
  else if (!packed && wanted)
    printer_.mark_declared(node.partner);
  return out;
}

} // namespace kgen
