// A thread takes several neighbouring positions, of a map or of a loop that the threads of a block share. It loads all
// that lies side by side for them in wide accesses, computes position by position in registers, and stores the results
// the same way.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "emit/cuda/cuda_kernel.h"
#include "emit/text/code_tokens.h"
#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

// A factor that is known, and the rest.
int64_t known_factor(const Size &size) {
  if (size.is_integer())
    return size.value;
  return size.op == Size::Op::multiply ? known_factor(size.args[0]) * known_factor(size.args[1]) : 1;
}

Size unknown_factors(const Size &size) {
  if (size.is_integer())
    return Size::integer(1);
  if (size.op != Size::Op::multiply)
    return size;
  return Size::make(Size::Op::multiply, {unknown_factors(size.args[0]), unknown_factors(size.args[1])});
}

// Prints the loads, the loop over the positions of a thread, and the stores.
class PackPrinter {
public:
  PackPrinter(Printer &printer, PackNames &names, PackNeeds &needs, const PlanNode &loop, int together,
              KeptRow *kept = nullptr, const std::string &kept_at = "")
      : printer_(printer), names_(names), needs_(needs), loop_(loop), together_(together), kept_(kept),
        shared_(kept != nullptr), kept_at_(kept_at), count_(shared_ ? std::to_string(together) : "kElements"),
        lanes_(printer.plan), index_(printer.axis_name(loop.axis)), first_(names.of(index_, "_first")),
        i_(names.of("i")), remaining_(names.of("remaining")) {
    for (const PlanNode &node : loop_.body)
      collect(node);
  }

  const std::string &first() const { return first_; }

  const std::string &position() const { return i_; }

  // Wide accesses then leave no rest: rows that end so follow each other at multiples of an access.
  bool ends_with_access(const Size &end) const {
    const auto multiple = needs_.multiples.find(at_least(printer_.size(unknown_factors(end)), binding::kMultiply));
    return shared_ && multiple != needs_.multiples.end() && multiple->second * known_factor(end) % together_ == 0;
  }

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

  void collect(const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      walk(printer_.kernel, id, [&](ExprId at) {
        const Expr &e = printer_.kernel.expr(at);
        if (e.op == Op::read && !lanes_.guarded(e, loop_.axis))
          hold(e.ref, e.coords, e.safe ? "" : printer_.guard(e.ref, e.coords), true);
        return true;
      });
    for (const auto *list : {&node.body, &node.otherwise})
      for (const PlanNode &child : *list)
        collect(child);
    if (node.target != kNone && node.kind == PlanNode::Kind::assign)
      hold(node.target, {}, printer_.guard(node.target, {}), false);
    if (node.kind == PlanNode::Kind::scan_step && node.partner != kNone)
      hold(node.partner, {}, printer_.guard(node.partner, {}), false);
  }

  // The elements of the access, for all positions of the thread, have a variable from now on.
  void hold(VarId var, const std::vector<Coordinate> &coords, const std::string &guard, bool load) {
    const auto access = packed_access(printer_.plan, lanes_, var, coords, loop_.axis);
    if (!access || may_leave_along(printer_.kernel, printer_.kernel.vars[var], coords, loop_.axis))
      return;
    const std::string place = printer_.element(var, coords, {});
    printer_.rename_axis(loop_.axis, first_);
    const std::string start = start_of(var, coords, *access);
    printer_.rename_axis(loop_.axis, index_);
    const std::string count = access->fields > 1 ? count_ + ", " + std::to_string(access->fields) : count_;
    const std::string how = shared_ ? count_ + ", " + std::to_string(access->fields) + ", kWide" : count;
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
      require(var, *access);
    }
    if (!load && stored_.insert(pack->second).second)
      stores_ += (guard.empty() ? "" : "if (" + guard + ") ") + helper("store_pack") + (shared_ ? "<kWide>" : "") +
                 "(&" + start + ", " + pack->second + ", " + remaining_ + ");\n";
    const std::string field = access->field == 0 ? "" : " + " + std::to_string(access->field);
    places_[place] =
        pack->second + "[" + (access->fields == 1 ? i_ : std::to_string(access->fields) + " * " + i_ + field) + "]";
  }

  // The first element that belongs to the position.
  std::string start_of(VarId var, std::vector<Coordinate> coords, const PackedAccess &access) {
    for (Coordinate &c : coords)
      if (std::find(access.inner.begin(), access.inner.end(), c.axis) != access.inner.end())
        c.value = printer_.plan.zero;
    return printer_.element(var, coords, {});
  }

  // Arrays begin, and rows follow each other, at multiples of an access.
  void require(VarId var, const PackedAccess &access) {
    const Storage::Kind kind = printer_.plan.storage[var].kind;
    needs_.add_array(kind == Storage::Kind::worker    ? "tiles"
                     : kind == Storage::Kind::program ? "workspace"
                                                      : printer_.name(var));
    if (access.unit)
      needs_.units.insert(printer_.size_text(*access.unit));
    const int bytes = bytes_of(printer_.kernel.vars[var].type);
    const int64_t elements = access_bytes(together_ * access.fields * bytes) / bytes;
    for (const Size &stride : access.strides) {
      const int64_t multiple = elements / std::gcd(elements, known_factor(stride));
      if (multiple == 1)
        continue;
      int64_t &most = needs_.multiples[at_least(printer_.size(unknown_factors(stride)), binding::kMultiply)];
      most = std::max(most, multiple); // all are powers of 2
    }
  }

  const std::string &helper(const std::string &name) { return printer_.spelling.helper(name); }

  Printer &printer_;
  PackNames &names_;
  PackNeeds &needs_;
  const PlanNode &loop_;
  const int together_;
  KeptRow *const kept_;
  const bool shared_;         // by a block: `kWide` says whether accesses are wide, the positions stay
  const std::string kept_at_; // where the positions are in what is kept of a row
  const std::string count_;
  const LaneAnalysis lanes_;
  const std::string index_, first_, i_, remaining_;
  std::map<std::string, std::string> packs_, places_; // variables by where they start, elements of them by place
  std::vector<Declaration> declarations_;
  std::map<VarId, int> packs_of_;
  std::set<std::string> stored_;
  std::string stores_;
};

// Divisions by a number that does not change in the loop, and that a fold has found, are products with its reciprocal,
// which is computed once before it.
std::string by_reciprocals(Printer &printer, PackNames &names, const PlanNode &loop, const std::string &text) {
  std::map<std::string, VarId> fixed; // by name
  for (size_t v = 0; v < printer.kernel.vars.size(); ++v)
    if (printer.plan.storage[v].kind == Storage::Kind::scalar && is_floating(printer.kernel.vars[v].type))
      fixed[printer.name(static_cast<VarId>(v))] = static_cast<VarId>(v);
  bool whole_numbers = false; // may be rounded quotients, which must not be a unit off
  for_each_node(loop, [&](const PlanNode &node) {
    for (VarId var : {node.target, node.partner})
      if (var != kNone) {
        fixed.erase(printer.name(var));
        whole_numbers = whole_numbers || !is_floating(printer.kernel.vars[var].type);
      }
  });
  if (whole_numbers)
    return text;
  std::string out, reciprocals;
  const std::vector<Token> tokens = tokens_of(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto var = i > 0 && tokens[i - 1].text == "/" ? fixed.find(tokens[i].text) : fixed.end();
    if (var == fixed.end()) {
      out += tokens[i].space + tokens[i].text;
      continue;
    }
    const std::string &reciprocal = names.of("per_" + var->first),
                      type = Spelling::arithmetic(printer.kernel.vars[var->second].type);
    out.back() = '*'; // instead of the sign before it
    out += tokens[i].space + reciprocal;
    const std::string line =
        "const " + printer.spelling.helper("Reciprocal") + "<" + type + "> " + reciprocal + "(" + var->first + ");\n";
    if (reciprocals.find(line) == std::string::npos)
      reciprocals += line;
  }
  return reciprocals.empty() ? text : "{\n" + reciprocals + out + "\n}\n";
}

} // namespace

const std::string &PackNames::of(const std::string &base, const std::string &suffix, int number) {
  std::string &name = given_[{base + suffix, number}];
  if (name.empty())
    name = names_.claim_one_of(base, {suffix, "_other" + suffix});
  return name;
}

void PackNeeds::add_array(const std::string &name) {
  if (std::find(arrays.begin(), arrays.end(), name) == arrays.end())
    arrays.push_back(name);
}

std::string PackNeeds::condition(Spelling &spelling) const {
  std::string text;
  for (const std::string &array : arrays)
    text += (text.empty() ? "" : ", ") + array;
  text = spelling.helper("aligned") + "({" + text + "})";
  for (const std::string &unit : units)
    text += " && " + unit + " == 1";
  for (const auto &[stride, multiple] : multiples)
    text += " && " + stride + " % " + std::to_string(multiple) + " == 0";
  return text;
}

// With packs of several arrays under way, those of the next rounds would take registers from other warps.
std::string CudaKernel::unrolled(const PlanNode &loop) const {
  constexpr size_t kFew = 2;
  std::set<VarId> read;
  for (const Access &a : accesses_of(plan_.kernel, loop))
    if (!a.write && plan_.storage[a.var].kind == Storage::Kind::argument && a.aligned.contains(loop.axis))
      read.insert(a.var);
  return read.size() > kFew ? "#pragma unroll 1\n" : "";
}

// A loop of the block's threads, each of which takes several positions at a time; false: it cannot be one.
bool CudaKernel::packed_loop(const Nest &chain, const Printer::Range *part) {
  const PlanNode &loop = *chain.back();
  if (together_ == 1 || team_.index != Team().index || positions_of(plan_, chain) == 1)
    return false;
  const std::string index = printer_.axis_name(loop.axis);
  const Printer::Range range = part != nullptr && chain.size() == 1 ? *part : printer_.range(loop);
  const std::string end = at_least(code_of(range.end), binding::kAdd);
  const std::string kept_at = chain.size() == 1 ? pack_names_.of(index, "_first") + " - first"
                                                : "(point - first) * " + std::to_string(together_);
  PackPrinter packs(printer_, pack_names_, pack_needs_, loop, together_, &kept_, kept_at);
  out().append(by_reciprocals(printer_, pack_names_, loop, printer_.captured([&] {
    const std::string count = std::to_string(together_);
    const bool whole = packs.ends_with_access(extent_of(plan_.kernel, loop.axis));
    if (chain.size() == 1) {
      out().add(unrolled(loop) + "for (Index " + packs.first() + " = " +
                (range.begin == "0" ? "" : range.begin + " + ") + "Index(threadIdx.x) * " + count + "; " +
                packs.first() + " < " + end + "; " + packs.first() + " += Index(blockDim.x) * " + count + ") {");
    } else {
      const std::string group = pack_names_.of("group"),
                        groups = names_.claim_one_of("groups", {"", "_of_" + index, "_again"});
      printer_.set_part(loop.axis, {"0", groups});
      printer_.rename_axis(loop.axis, group);
      out().add("const Index " + groups + " = Index((" + end + " + " + std::to_string(together_ - 1) + ") / " + count +
                ");");
      const std::string items = items_text(chain);
      out().add(unrolled(loop) + "for (Index point = " + (part == nullptr ? "" : part->begin + " + ") +
                "Index(threadIdx.x); point < " +
                (part == nullptr ? items : spelling().helper("smaller") + "(" + part->end + ", " + items + ")") +
                "; point += Index(blockDim.x)) {");
      decode(chain, "point");
      printer_.clear_part(loop.axis);
      printer_.rename_axis(loop.axis, index);
      out().add("const Index " + packs.first() + " = " + group + " * " + count + ";");
    }
    packs.print(end, whole);
    out().add("}");
  })));
  return true;
}

// The tiles of a scan, of which a thread takes several positions.
void CudaKernel::packed_scans(const PlanNode &loop, const std::string &tile) {
  PackPrinter packs(printer_, pack_names_, pack_needs_, loop, together_, &kept_);
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
  PackPrinter packs(printer_, pack_names_, pack_needs_, loop, together_);
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
