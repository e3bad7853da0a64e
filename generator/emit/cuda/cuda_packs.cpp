// A thread takes several neighbouring positions, of a map or of a loop that the threads of a block share. It loads all
// that lies side by side for them in wide accesses, computes position by position in registers, and stores the results
// the same way.
#include <algorithm>
#include <map>
#include <set>

#include "emit/cuda/cuda_kernel.h"
#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {
namespace {

// Prints the loads, the loop over the positions of a thread, and the stores.
class PackPrinter {
public:
  PackPrinter(Printer &printer, PackNames &names, const PlanNode &loop, int together, KeptRow *kept = nullptr,
              const std::string &kept_at = "")
      : printer_(printer), names_(names), loop_(loop), kept_(kept), shared_(kept != nullptr), kept_at_(kept_at),
        count_(shared_ ? std::to_string(together) : "kElements"), index_(printer.axis_name(loop.axis)),
        first_(names.of(index_, "_first")), i_(names.of("i")), remaining_(names.of("remaining")) {
    for (const Pack &pack : packs_of(printer.plan, loop))
      hold(pack);
  }

  const std::string &first() const { return first_; }

  const std::string &position() const { return i_; }

  // All that is in the loop, for each position; or what `pieces` makes of it. `whole`: wide accesses leave no rest.
  void print(const std::string &end, bool whole, const std::function<std::vector<LoopPiece>()> &pieces = {}) {
    printer_.held = places_;
    printer_.takes_part = i_ + " < " + remaining_;
    std::vector<LoopPiece> body;
    if (pieces)
      body = pieces();
    else
      body = {{printer_.captured([&] { printer_.list(loop_.body); })}};
    printer_.held.clear();
    printer_.takes_part.clear();
    std::string rest;
    for (const LoopPiece &piece : body)
      rest += piece.each ? for_positions(piece.text) : piece.text;
    std::string text = "const Index " + remaining_ + " = " + (whole ? "kWide ? " + count_ + " : " : "") + "Index(" +
                       end + " - " + first_ + ");\n";
    for (const Declaration &pack : declarations_)
      if (pack.value.empty())
        text += pack.type + " " + pack.name + ";\n";
      else if (mentions_word(rest, pack.name))
        text += (stored_.count(pack.name) == 0 ? "const auto " : "auto ") + pack.name + " = " + pack.value + ";\n" +
                pack.keep;
    printer_.lines.append(text + rest + stores_);
  }

private:
  struct Declaration {
    std::string name, type, value; // no value: it is only stored
    std::string keep;              // puts it where later loops find it
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
    const VarId var = access.var;
    const std::vector<Coordinate> &coords = access.coords;
    const std::string guard = access.safe ? "" : printer_.guard(var, coords);
    const bool load = access.load;
    const std::string place = printer_.element(var, coords, {});
    printer_.rename_axis(loop_.axis, first_);
    const std::string start = start_of(var, coords, access.access);
    printer_.rename_axis(loop_.axis, index_);
    const std::string count = access.access.fields > 1 ? count_ + ", " + std::to_string(access.access.fields) : count_;
    const std::string how = shared_ ? count_ + ", " + std::to_string(access.access.fields) + ", kWide" : count;
    auto [pack, fresh] = packs_.try_emplace(start, "");
    if (fresh) {
      pack->second = names_.of(printer_.name(var), "_pack", packs_of_[var]++);
      const std::string type =
          helper("Pack") + "<" + Spelling::c_type(printer_.kernel.vars[var].type) + ", " + count + ">";
      std::string from = "&" + start, keep;
      if (load && kept_ != nullptr && kept_->tiles.count(var) != 0 && coords.empty()) {
        const std::string place = "&" + kept_->tiles[var] + "[" + kept_at_ + "]";
        if (kept_->loaded.insert(var).second)
          keep = "if (keeps) " + helper("store_pack") + "<kWide>(" + place + ", " + pack->second + ", " + remaining_ +
                 ");\n";
        else
          from = "keeps ? " + place + " : " + from;
      }
      const std::string loaded = helper("load_pack") + "<" + how + ">(" + from + ", " + remaining_ + ")";
      declarations_.push_back({pack->second, type,
                               !load           ? (guard.empty() ? "" : type + "{}")
                               : guard.empty() ? loaded
                                               : guard + " ? " + loaded + " : " + type + "{}",
                               keep});
    }
    if (!load && stored_.insert(pack->second).second)
      stores_ += (guard.empty() ? "" : "if (" + guard + ") ") + helper("store_pack") + (shared_ ? "<kWide>" : "") +
                 "(&" + start + ", " + pack->second + ", " + remaining_ + ");\n";
    const std::string field = access.access.field == 0 ? "" : " + " + std::to_string(access.access.field);
    places_[place] = pack->second + "[" +
                     (access.access.fields == 1 ? i_ : std::to_string(access.access.fields) + " * " + i_ + field) + "]";
  }

  // The first element that belongs to the position.
  std::string start_of(VarId var, std::vector<Coordinate> coords, const PackedAccess &access) {
    for (Coordinate &c : coords)
      if (std::find(access.inner.begin(), access.inner.end(), c.axis) != access.inner.end())
        c.value = printer_.plan.zero;
    return printer_.element(var, coords, {});
  }

  const std::string &helper(const std::string &name) { return printer_.spelling.helper(name); }

  Printer &printer_;
  PackNames &names_;
  const PlanNode &loop_;
  KeptRow *const kept_;
  const bool shared_;         // by a block: `kWide` says whether accesses are wide, the positions stay
  const std::string kept_at_; // where the positions are in what is kept of a row
  const std::string count_;
  const std::string index_, first_, i_, remaining_;
  std::map<std::string, std::string> packs_, places_; // variables by where they start, elements of them by place
  std::vector<Declaration> declarations_;
  std::map<VarId, int> packs_of_;
  std::set<std::string> stored_;
  std::string stores_;
};

} // namespace

const std::string &PackNames::of(const std::string &base, const std::string &suffix, int number) {
  std::string &name = given_[{base + suffix, number}];
  if (name.empty())
    name = names_.claim_one_of(base, {suffix, "_other" + suffix});
  return name;
}

std::string CudaKernel::aligned_condition() {
  std::vector<std::string> arrays;
  for (VarId var : phase_->launch.aligned.arrays) {
    const Storage::Kind kind = plan_.storage[var].kind;
    const std::string name = kind == Storage::Kind::worker    ? "tiles"
                             : kind == Storage::Kind::program ? "workspace"
                                                              : printer_.name(var);
    if (std::ranges::find(arrays, name) == arrays.end())
      arrays.push_back(name);
  }
  std::string text = spelling().helper("aligned") + "({" + join(arrays, ", ") + "})";
  std::set<std::string> units;
  for (const Size &unit : phase_->launch.aligned.units)
    units.insert(printer_.size_text(unit));
  std::map<std::string, int64_t> multiples;
  for (const auto &[size, multiple] : phase_->launch.aligned.multiples)
    multiples[at_least(printer_.size(size), binding::kMultiply)] = multiple;
  for (const std::string &unit : units)
    text += " && " + unit + " == 1";
  for (const auto &[size, multiple] : multiples)
    text += " && " + size + " % " + std::to_string(multiple) + " == 0";
  return text;
}

// What is divided by in the loop is turned round once before it.
std::string CudaKernel::reciprocals_before(const PlanNode &loop) {
  std::string text;
  for (VarId var : loop.packs->reciprocals) {
    const std::string &name = pack_names_.of("per_" + printer_.name(var));
    text += "const " + spelling().helper("Reciprocal") + "<" + Spelling::arithmetic(plan_.kernel.vars[var].type) +
            "> " + name + "(" + printer_.name(var) + ");\n";
    printer_.reciprocals[var] = name;
  }
  return text;
}

// A loop of the block's threads, each of which takes several positions at a time; false: it cannot be one.
bool CudaKernel::packed_loop(const Nest &chain, const Printer::Range *part) {
  const PlanNode &loop = *chain.back();
  if (!loop.packs)
    return false;
  const std::string index = printer_.axis_name(loop.axis);
  const Printer::Range range = part != nullptr && chain.size() == 1 ? *part : printer_.range(loop);
  const std::string end = at_least(code_of(range.end), binding::kAdd);
  const std::string kept_at = chain.size() == 1 ? pack_names_.of(index, "_first") + " - first"
                                                : "(point - first) * " + std::to_string(together_);
  PackPrinter packs(printer_, pack_names_, loop, together_, &kept_, kept_at);
  const std::string unrolled = loop.packs->unrolled ? "" : "#pragma unroll 1\n", reciprocals = reciprocals_before(loop);
  const std::string text = printer_.captured([&] {
    const std::string count = std::to_string(together_);
    if (chain.size() == 1) {
      out().add(unrolled + "for (Index " + packs.first() + " = " + (range.begin == "0" ? "" : range.begin + " + ") +
                "Index(threadIdx.x) * " + count + "; " + packs.first() + " < " + end + "; " + packs.first() +
                " += Index(blockDim.x) * " + count + ") {");
    } else {
      const std::string group = pack_names_.of("group"),
                        groups = names_.claim_one_of("groups", {"", "_of_" + index, "_again"});
      printer_.set_part(loop.axis, {"0", groups});
      printer_.rename_axis(loop.axis, group);
      out().add("const Index " + groups + " = Index((" + end + " + " + std::to_string(together_ - 1) + ") / " + count +
                ");");
      const std::string items = items_text(chain);
      out().add(unrolled + "for (Index point = " + (part == nullptr ? "" : part->begin + " + ") +
                "Index(threadIdx.x); point < " +
                (part == nullptr ? items : spelling().helper("smaller") + "(" + part->end + ", " + items + ")") +
                "; point += Index(blockDim.x)) {");
      decode(chain, "point");
      printer_.clear_part(loop.axis);
      printer_.rename_axis(loop.axis, index);
      out().add("const Index " + packs.first() + " = " + group + " * " + count + ";");
    }
    packs.print(end, loop.packs->whole);
    out().add("}");
  });
  printer_.reciprocals.clear();
  out().append(reciprocals.empty() ? text : "{\n" + reciprocals + text + "}\n");
  return true;
}

// The tiles of a scan, of which a thread takes several positions.
void CudaKernel::packed_scans(const PlanNode &loop, const std::string &tile) {
  PackPrinter packs(printer_, pack_names_, loop, together_, &kept_);
  out().add("const Index " + packs.first() + " = " + tile + " + Index(threadIdx.x) * " + std::to_string(together_) +
            ";");
  packs.print(at_least(code_of(printer_.range(loop).end), binding::kAdd), false, // threads may lie beyond the tile
              [&] { return scan_pieces(loop, together_, packs.position(), printer_.takes_part); });
}

void CudaKernel::packed_phase(const Nest &chain) {
  const PlanNode &loop = *chain.back();
  const std::string threads = std::to_string(plan_.decide(Decision::block_threads)),
                    index = printer_.axis_name(loop.axis);
  const std::string end = at_least(code_of(printer_.range(loop).end), binding::kAdd);
  PackPrinter packs(printer_, pack_names_, loop, together_);
  const std::string groups = names_.claim("groups");
  out().add("const Index item = Index(blockIdx.x) * " + threads + " + Index(threadIdx.x);");
  std::string items = groups;
  if (chain.size() == 1) {
    out().add("const Index " + packs.first() + " = item * kElements;");
    out().add("if (" + packs.first() + " >= " + end + ") return;");
  } else {
    const std::string group = names_.claim("group");
    out().add("const Index " + groups + " = Index((" + end + " + kElements - 1) / kElements);");
    printer_.set_part(loop.axis, {"0", groups});
    printer_.rename_axis(loop.axis, group);
    items = items_text(chain);
    out().add("if (item >= " + items + ") return;");
    decode(chain, "item");
    printer_.clear_part(loop.axis);
    printer_.rename_axis(loop.axis, index);
    out().add("const Index " + packs.first() + " = " + group + " * kElements;");
  }
  packs.print(end, false);
  const std::string &ceil_div = spelling().helper("ceil_div");
  Launch launch{ceil_div + "(" + items + ", " + threads + ")"};
  launch.prepare = "const int64_t " + groups + " = " + ceil_div + "(" + end + ", elements);\n";
  finish(launch);
}

} // namespace kgen
