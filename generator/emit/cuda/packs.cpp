#include "emit/cuda/packs.h"

#include <algorithm>
#include <map>
#include <set>

#include "emit/cuda/kernels.h"
#include "emit/cuda/points.h"
#include "emit/target_file.h"
#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {
namespace {

// What stands before a statement for where both hold; an empty condition always does.
std::string where_all(const std::string &one, const std::string &other) {
  const std::string all = one + (one.empty() || other.empty() ? "" : " && ") + other;
  return all.empty() ? "" : "if (" + all + ") ";
}

// Prints the loads, the loop over the positions of a thread, and the stores.
class PackPrinter {
public:
  // `kept`: what stays of the row, whose elements for the positions stand at `kept_at`.
  PackPrinter(KernelText &out, const PlanNode &loop, RowPart *kept = nullptr, const std::string &kept_at = "")
      : out_(out), printer_(out.printer), loop_(loop), kept_(kept), kept_at_(kept_at), shared_(loop.packs.has_value()),
        count_(shared_ ? std::to_string(loop.packs->together) : "kElements"), index_(printer_.axis_name(loop.axis)),
        first_(out.loop_names.of(index_, "_first")), i_(out.loop_names.of("i")),
        remaining_(out.loop_names.of("remaining")),
        turn_(kept != nullptr && !kept->takes_part.empty() ? out.loop_names.of("turn") : "0") {
    for (const Pack &pack : packs_of(out.plan(), loop))
      hold(pack);
  }

  const std::string &first() const { return first_; }
  // Statements that load what this loop is the first to read of what is held in registers.
  const std::string &fetches() const { return fetches_; }

  // All that is in the loop, for each position; or what `pieces` makes of it.
  void print(const std::string &end, const PiecesOf &pieces = {}) {
    printer_.held = places_;
    printer_.takes_part = i_ + " < " + remaining_;
    std::vector<LoopPiece> body;
    if (pieces)
      body = pieces(i_, printer_.takes_part);
    else
      body = {{printer_.captured([&] { printer_.list(loop_.body); })}};
    printer_.held.clear();
    printer_.takes_part.clear();
    std::string rest;
    for (const LoopPiece &piece : body)
      rest += piece.each ? for_positions(piece.text) : piece.text;
    std::string text = "const Index " + remaining_ + " = " +
                       (shared_ && loop_.packs->whole ? "kWide ? " + count_ + " : " : "") + "Index(" + end + " - " +
                       first_ + ");\n";
    for (const Declaration &pack : declarations_)
      if (pack.value.empty())
        text += pack.type + " " + pack.name + ";\n";
      else if (mentions_word(rest, pack.name))
        text += (stored_.count(pack.name) == 0 ? "const auto " : "auto ") + pack.name + " = " + pack.value + ";\n";
    printer_.lines.append(text + rest + stores_);
  }

private:
  struct Declaration {
    std::string name, type, value; // no value: it is only stored
  };

  std::string for_positions(const std::string &body) const {
    std::string text = "#pragma unroll\nfor (int " + i_ + " = 0; " + i_ + " < " + count_ + "; ++" + i_ + ") {\n";
    if (mentions_word(body, index_)) // beyond the end, the last position is computed again
      text += "const Index " + index_ + " = " + first_ + " + (" + i_ + " < " + remaining_ + " ? " + i_ + " : " +
              remaining_ + " - 1);\n";
    return text + body + "}\n";
  }

  // The elements of the access, for all positions of the thread, have a variable from now on.
  void hold(const Pack &access) {
    const int fields = access.access.fields;
    const std::string guard = access.safe ? "" : printer_.guard(access.var, access.coords);
    const std::string place = printer_.element(access.var, access.coords, {});
    printer_.rename_axis(loop_.axis, first_);
    const std::string start = start_of(access);
    printer_.rename_axis(loop_.axis, index_);
    auto [pack, fresh] = packs_.try_emplace(start, "");
    if (fresh) {
      pack->second = out_.loop_names.of(printer_.name(access.var), "_pack", packs_of_[access.var]++);
      declare(access, pack->second, start, guard);
    }
    const std::string takes_part = kept_ == nullptr ? "" : kept_->takes_part;
    if (!access.load && stored_.insert(pack->second).second)
      stores_ += where_all(guard, takes_part) + helper("store_pack") + (shared_ ? "<kWide>" : "") + "(&" + start +
                 ", " + pack->second + ", " + remaining_ + ");\n";
    const std::string field = access.access.field == 0 ? "" : " + " + std::to_string(access.access.field);
    places_[place] = pack->second + "[" + (fields == 1 ? i_ : std::to_string(fields) + " * " + i_ + field) + "]";
  }

  void declare(const Pack &access, const std::string &pack, const std::string &start, const std::string &guard) {
    const std::string fields = std::to_string(access.access.fields),
                      count = access.access.fields > 1 ? count_ + ", " + fields : count_,
                      how = shared_ ? count_ + ", " + fields + ", kWide" : count,
                      type = helper("Pack") + "<" + Spelling::c_type(printer_.kernel.vars[access.var].type) + ", " +
                             count + ">";
    if (!access.load) {
      declarations_.push_back({pack, type, guard.empty() ? "" : type + "{}"});
      return;
    }
    std::string loaded = helper("load_pack") + "<" + how + ">(&" + start + ", " + remaining_ + ")";
    if (kept_ != nullptr && kept_->kept.count(access.var) != 0 && access.coords.empty())
      loaded = load_kept(access, start, guard);
    declarations_.push_back({pack, type, guard.empty() ? loaded : guard + " ? " + loaded + " : " + type + "{}"});
  }

  // The first loop that asks for it keeps it.
  std::string load_kept(const Pack &access, const std::string &start, const std::string &guard) {
    const std::string &kept = kept_->kept[access.var];
    const bool first = kept_->loaded.insert(access.var).second;
    if (first && turn_ != "0") {
      // What others store is not loaded beside them.
      const std::string part = is_only_read(printer_.kernel, access.var) ? "" : kept_->takes_part;
      printer_.rename_axis(loop_.axis, kept_->points.begin);
      fetches_ += where_all(guard, part) + kept + ".hold(team, &" + start_of(access) + ");\n";
      printer_.rename_axis(loop_.axis, index_);
    }
    return kept + (first ? ".load(" : ".again(") + turn_ + ", " + kept_at_ + ", &" + start + ", " + remaining_ + ")";
  }

  // The first element that belongs to the position.
  std::string start_of(const Pack &access) {
    std::vector<Coordinate> coords = access.coords;
    for (Coordinate &c : coords)
      if (std::ranges::find(access.access.inner, c.axis) != access.access.inner.end())
        c.value = printer_.plan.zero;
    return printer_.element(access.var, coords, {});
  }

  const std::string &helper(const std::string &name) { return out_.helper(name); }

  KernelText &out_;
  Printer &printer_;
  const PlanNode &loop_;
  RowPart *const kept_;
  const std::string kept_at_;
  const bool shared_; // by a block: `kWide` says whether accesses are wide, the positions stay
  const std::string count_;
  const std::string index_, first_, i_, remaining_;
  const std::string turn_;                            // the number of a pack that is held
  std::map<std::string, std::string> packs_, places_; // variables by where they start, elements of them by place
  std::vector<Declaration> declarations_;
  std::map<VarId, int> packs_of_;
  std::set<std::string> stored_;
  std::string stores_, fetches_;
};

// What is divided by in the loop is turned round once before it.
std::string reciprocals_before(KernelText &out, const PlanNode &loop) {
  std::string text;
  for (VarId var : loop.packs->reciprocals) {
    const std::string &of = out.printer.name(var), &name = out.loop_names.of("per_" + of);
    text += "const " + out.helper("Reciprocal") + "<" + Spelling::arithmetic(out.kernel().vars[var].type) + "> " +
            name + "(" + of + ");\n";
    out.printer.reciprocals[var] = name;
  }
  return text;
}

// Over the packs of a thread, which may be held in registers: those that the loop is the first to read are loaded
// before.
void held_loop(KernelText &out, PackPrinter &packs, const PlanNode &loop, const std::string &begin,
               const std::string &end) {
  const std::string &turn = out.loop_names.of("turn");
  const std::string body = out.printer.captured([&] { packs.print(end); });
  out.append(packs.fetches());
  out.add("team.for_packs<kTurns, " + std::to_string(loop.packs->together) + (loop.packs->unrolled ? "" : ", false") +
          ">(" + begin + ", " + end + ", [&](Index " + packs.first() + ", int" +
          (mentions_word(body, turn) ? " " + turn : "") + ") {");
  out.append(body);
  out.add("});");
}

// The last loop of the nest then goes over `groups`, so many positions each. `open` prints what begins a turn, from the
// number of turns, which is returned; the variables of the loops stand behind it.
std::string by_groups(KernelText &out, const Nest &nest, const std::string &groups, const std::string &group,
                      const std::string &number, const std::function<void(const std::string &points)> &open) {
  const AxisId axis = nest.back()->axis;
  const std::string index = out.printer.axis_name(axis);
  out.printer.set_part(axis, {"0", groups});
  out.printer.rename_axis(axis, group);
  std::string points = points_text(out.printer, nest);
  open(points);
  decode(out, nest, number);
  out.printer.clear_part(axis);
  out.printer.rename_axis(axis, index);
  return points;
}

} // namespace

void packed_loop(Block &block, const Nest &nest, const Printer::Range *part) {
  KernelText &out = block.out;
  const PlanNode &loop = *nest.back();
  const bool single = nest.size() == 1;
  const std::string index = out.printer.axis_name(loop.axis), count = std::to_string(loop.packs->together);
  const Printer::Range range = part != nullptr && single ? *part : out.printer.range(loop);
  const std::string end = at_least(code_of(range.end), binding::kAdd);
  PackPrinter packs(out, loop, block.part ? &*block.part : nullptr,
                    single ? out.loop_names.of(index, "_first") + " - first" : "(point - first) * " + count);
  const std::string unrolled = loop.packs->unrolled ? "" : "#pragma unroll 1\n",
                    reciprocals = reciprocals_before(out, loop), &first = packs.first();
  if (!reciprocals.empty())
    out.append("{\n" + reciprocals);
  const bool held = block.part && !block.part->takes_part.empty();
  if (held) {
    held_loop(out, packs, loop, range.begin, end);
  } else if (single) {
    out.add(unrolled + "for (Index " + first + " = " + (range.begin == "0" ? "" : range.begin + " + ") +
            "Index(threadIdx.x) * " + count + "; " + first + " < " + end + "; " + first + " += Index(blockDim.x) * " +
            count + ") {");
  } else {
    const std::string &group = out.loop_names.of("group"),
                      groups = out.names.claim_one_of("groups", {"", "_of_" + index, "_again"});
    out.add("const Index " + groups + " = Index((" + end + " + " + std::to_string(loop.packs->together - 1) + ") / " +
            count + ");");
    by_groups(out, nest, groups, group, "point", [&](const std::string &points) {
      out.add(unrolled + "for (Index point = " + (part == nullptr ? "" : part->begin + " + ") +
              "Index(threadIdx.x); point < " +
              (part == nullptr ? points : out.helper("smaller") + "(" + part->end + ", " + points + ")") +
              "; point += Index(blockDim.x)) {");
    });
    out.add("const Index " + first + " = " + group + " * " + count + ";");
  }
  if (!held) {
    packs.print(end);
    out.add("}");
  }
  if (!reciprocals.empty())
    out.add("}");
  out.printer.reciprocals.clear();
}

void packed_tile(KernelText &out, const PlanNode &loop, const std::string &tile, const PiecesOf &pieces) {
  PackPrinter packs(out, loop);
  out.add("const Index " + packs.first() + " = " + tile + " + Index(threadIdx.x) * " +
          std::to_string(loop.packs->together) + ";");
  packs.print(at_least(code_of(out.printer.range(loop).end), binding::kAdd), pieces);
}

KernelLaunch packs_kernel(KernelText &out, const Phase &phase) {
  const Nest items = items_of(out.plan(), phase);
  const PlanNode &loop = *items.back();
  const std::string threads = std::to_string(out.plan().decide(Decision::block_threads));
  const std::string end = at_least(code_of(out.printer.range(loop).end), binding::kAdd);
  PackPrinter packs(out, loop);
  const std::string groups = out.names.claim("groups"), &first = packs.first(), &ceil_div = out.helper("ceil_div");
  std::string points = groups;
  out.add("const Index item = Index(blockIdx.x) * " + threads + " + Index(threadIdx.x);");
  if (items.size() == 1) {
    out.add("const Index " + first + " = item * kElements;");
    out.add("if (" + first + " >= " + end + ") return;");
  } else {
    const std::string group = out.names.claim("group");
    out.add("const Index " + groups + " = Index((" + end + " + kElements - 1) / kElements);");
    points = by_groups(out, items, groups, group, "item",
                       [&](const std::string &all) { out.add("if (item >= " + all + ") return;"); });
    out.add("const Index " + first + " = " + group + " * kElements;");
  }
  packs.print(end);
  return {.blocks = ceil_div + "(" + points + ", " + threads + ")",
          .prepare = "const int64_t " + groups + " = " + ceil_div + "(" + end + ", elements);\n"};
}

std::string aligned_text(Printer &printer, const Phase::Launch::Aligned &aligned) {
  std::vector<std::string> arrays;
  for (VarId var : aligned.arrays) {
    const Storage::Kind kind = printer.plan.storage[var].kind;
    const std::string name = kind == Storage::Kind::worker    ? "tiles"
                             : kind == Storage::Kind::program ? "workspace"
                                                              : printer.name(var);
    if (std::ranges::find(arrays, name) == arrays.end())
      arrays.push_back(name);
  }
  std::set<std::string> sizes; // in the order of their texts
  for (const Size &unit : aligned.units)
    sizes.insert(printer.size_text(unit) + " == 1");
  std::string text = printer.spelling.helper("aligned") + "({" + join(arrays, ", ") + "})";
  std::map<std::string, int64_t> multiples;
  for (const auto &[size, multiple] : aligned.multiples)
    multiples[at_least(printer.size(size), binding::kMultiply)] = multiple;
  for (const std::string &one : sizes)
    text += " && " + one;
  for (const auto &[size, multiple] : multiples)
    text += " && " + size + " % " + std::to_string(multiple) + " == 0";
  return text;
}

} // namespace kgen
