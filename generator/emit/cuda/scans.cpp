#include "emit/cuda/block.h"

#include <map>
#include <set>

#include "emit/cuda/packs.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"

namespace kgen {
namespace {

// The body of a loop with scans along it, for positions of which a thread takes several at once, or one.
class ScanPrinter {
public:
  ScanPrinter(KernelText &out, const PlanNode &loop, const std::string &position, const std::string &takes_part)
      : out_(out), loop_(loop), together_(loop.packs ? loop.packs->together : 1), position_(position),
        takes_part_(takes_part) {}

  // What is before, between and behind the scans, and these.
  std::vector<LoopPiece> pieces() {
    LoopPiece declarations{"", false};
    const auto kept = keep_between(declarations.text);
    std::vector<LoopPiece> out;
    std::string text; // of the piece at hand
    const auto finish = [&](bool each) {
      if (!text.empty())
        out.push_back({std::exchange(text, ""), each});
    };
    for (size_t i = 0; i < loop_.body.size(); ++i) {
      const PlanNode &node = loop_.body[i];
      if (node.kind != PlanNode::Kind::scan_step) {
        text += out_.printer.captured([&] {
          out_.printer.declare_before(loop_.body, i);
          out_.printer.node(node, loop_.body);
        });
        continue;
      }
      Scanned scanned = scan_of(node);
      declarations.text += scanned.declarations;
      text += scanned.values;
      finish(true);
      text = scanned.scan;
      finish(false);
      text = scanned.result;
    }
    finish(true);
    for (const auto &[var, name] : kept)
      out_.printer.rename(var, name);
    if (!declarations.text.empty())
      out.insert(out.begin(), declarations);
    return out;
  }

private:
  // What a scan becomes.
  struct Scanned {
    std::string declarations, // of the tile
        values,               // for each position, before the scan
        scan,                 // of the block
        result;               // for each position, behind it
  };

  // Variables of the body that are set before a scan and read behind it: each position of the thread has its own.
  // Returns their names as they were.
  std::vector<std::pair<VarId, std::string>> keep_between(std::string &declarations) {
    std::map<VarId, std::set<int>> pieces;
    std::set<VarId> scanned;
    const auto kind_of = [&](VarId var) { return out_.plan().storage[var].kind; };
    int piece = 0;
    for (const PlanNode &node : loop_.body) {
      const bool scan = node.kind == PlanNode::Kind::scan_step;
      for (const Access &a : accesses_of(out_.kernel(), node))
        if ((kind_of(a.var) == Storage::Kind::scalar || kind_of(a.var) == Storage::Kind::array) &&
            out_.printer.scopes.of(a.var).list == &loop_.body)
          pieces[a.var].insert(scan && together_ == 1 ? piece + 1 : piece); // its value stands behind the piece
      if (scan && node.partner != kNone && kind_of(node.partner) == Storage::Kind::scalar)
        scanned.insert(node.partner);
      piece += scan ? 1 : 0;
    }
    std::vector<std::pair<VarId, std::string>> kept;
    for (const auto &[var, where] : pieces) {
      const bool result = scanned.count(var) != 0; // which the scan declares where positions are not packed
      if ((where.size() < 2 && !result) || (result && together_ == 1))
        continue;
      const std::string name = out_.printer.name(var);
      kept.push_back({var, name});
      const bool array = kind_of(var) == Storage::Kind::array;
      const std::string zero =
          array ? "{}" : out_.printer.spelling.constant(type_row(out_.kernel().vars[var].type).arithmetic, 0, 0);
      declarations +=
          out_.printer.storage_type(var) + " " + name + (together_ > 1 ? "[" + std::to_string(together_) + "]" : "") +
          (array ? "[" + out_.printer.buffer_elements(var) + "]" : "") + (together_ > 1 ? "" : " = " + zero) + ";\n";
      out_.printer.mark_declared(var);
      if (together_ > 1)
        out_.printer.rename(var, name + "[" + position_ + "]");
    }
    return kept;
  }

  // A single scan. What it goes over has a variable, or for packed positions an array, which becomes the totals.
  Scanned scan_of(const PlanNode &node) {
    Scanned made;
    const bool packed = together_ > 1, wanted = node.partner != kNone, // or only the last total
        memory = wanted && in_memory(out_.printer, node.partner), regroups = LaneAnalysis(out_.plan()).regroups(node);
    const Type type = out_.kernel().vars[node.target].type;
    const std::string c_type = Spelling::arithmetic(type),
                      result = out_.printer.name(wanted ? node.partner : node.target),
                      base = result.substr(0, result.find('[')), here = packed ? "[" + position_ + "]" : "",
                      totals = memory || (packed && !wanted) ? out_.names.claim(base, "_own") : base;
    const auto declare = [&](const std::string &name) {
      if (packed)
        made.declarations += c_type + " " + name + "[" + std::to_string(together_) + "];\n";
      return name;
    };
    const auto set = [&](const std::string &name, ExprId value, Monoid past_end) {
      const std::string text = name + here + " = " + takes_part_ + " ? " +
                               at_least(out_.printer.expression(value), binding::kChoose + 1) + " : " +
                               out_.printer.spelling.identity(past_end, type) + ";\n";
      (packed ? made.values : made.scan) += packed ? text : "const " + c_type + " " + text;
      return name;
    };
    if (memory || !wanted)
      declare(totals);
    std::string value, term;
    if (node.scan == ScanKind::linear) {
      value = set(declare(out_.names.claim(base, "_factor")), node.value, Monoid::product);
      term = set(declare(out_.names.claim(base, "_term")), node.second, Monoid::sum);
    } else {
      value = set(packed ? totals : out_.names.claim(base, "_value"), node.value, monoid_of(node.scan));
    }
    const std::string helper = node.scan == ScanKind::linear ? "block_scan_linear"
                               : regroups                    ? "block_scan"
                                                             : "block_scan_products";
    std::string arguments = packed ? totals + ", " : node.scan == ScanKind::linear ? "" : value + ", ";
    arguments += out_.printer.name(node.target);
    if (regroups)
      arguments += ", " + combination_of(out_, node);
    if (node.scan == ScanKind::linear)
      arguments += ", " + value + ", " + term;
    made.scan += (packed || !wanted ? "" : "const " + c_type + " " + totals + " = ") + out_.helper(helper) + "<" +
                 (node.reverse ? "true" : "false") + ", " + (node.exclusive ? "true" : "false") + ">(" + arguments +
                 ");\n";
    if (memory)
      made.result = out_.printer.element(node.partner, {}, {}) + " = " + totals + here + ";\n";
    else if (!packed && wanted)
      out_.printer.mark_declared(node.partner);
    return made;
  }

  KernelText &out_;
  const PlanNode &loop_;
  const int together_;
  const std::string position_, takes_part_;
};

// From tile to tile.
void open_tiles(KernelText &out, const PlanNode &loop, const std::string &tile) {
  const Printer::Range range = out.printer.range(loop);
  const bool plain = range.begin == "0" || loop.share != kNone;
  const std::string begin = plain ? range.begin : "Index(" + range.begin + ")", &end = range.end;
  const std::string step =
      std::string("Index(blockDim.x)") + (loop.packs ? " * " + std::to_string(loop.packs->together) : "");
  if (!loop.reversed)
    return out.add("for (Index " + tile + " = " + begin + "; " + tile + " < " + end + "; " + tile + " += " + step +
                   ") {");
  const std::string length = out.names.claim_one_of("tile_length", {"", "_here", "_again"});
  const std::string all = begin == "0" ? end : end + " - " + begin;
  out.add("const Index " + length + " = " + step + ";");
  out.add("for (Index " + tile + " = " + (begin == "0" ? "" : begin + " + ") + "Index((" + all + " + " + length +
          " - 1) / " + length + ") * " + length + "; (" + tile + " -= " + length + ") >= " + begin + ";) {");
}

} // namespace

void block_scans(Block &block, const PlanNode &loop) {
  KernelText &out = block.out;
  const std::vector<const PlanNode *> folds = ending_folds(block, loop);
  const Shares shares = begin_shares(out, folds);
  const std::string &index = out.printer.axis_name(loop.axis), &tile = out.loop_names.of(index, "_tile");
  open_tiles(out, loop, tile);
  if (loop.packs) {
    packed_tile(out, loop, tile, [&](const std::string &position, const std::string &takes_part) {
      return ScanPrinter(out, loop, position, takes_part).pieces();
    });
  } else {
    out.add("const Index " + index + " = " + tile + " + Index(threadIdx.x);");
    const std::string takes_part = index + " < " + out.printer.range(loop).end;
    for (const LoopPiece &piece : ScanPrinter(out, loop, "", takes_part).pieces())
      out.append(piece.each ? "if (" + takes_part + ") {\n" + piece.text + "}\n" : piece.text);
  }
  out.add("}");
  end_shares(out.printer, shares);
  for (const PlanNode *fold : folds)
    fold_shares(out, block.team, *fold, shares);
}

} // namespace kgen
