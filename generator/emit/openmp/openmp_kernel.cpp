#include "emit/openmp/openmp_kernel.h"

#include <algorithm>
#include <map>
#include <set>

#include "emit/openmp/contraction_call.h"
#include "emit/openmp/lanes/lane_printer.h"
#include "emit/openmp/row_contractions.h"
#include "emit/openmp/workspace_struct.h"
#include "emit/print/phase_work.h"
#include "emit/target_file.h"
#include "emit/text/reuse_names.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"
#include "plan/lanes/turned.h"
#include "plan/place/storage.h"
#include "support/text.h"

namespace kgen {
namespace {

class OpenmpKernel {
public:
  OpenmpKernel(const std::string &name, const Function &function, const Plan &plan, const Facts &facts,
               Spelling &spelling)
      : function_(function), name_(name), plan_(plan), names_(names_of(function, plan_.kernel)),
        printer_(plan_, facts, spelling, names_), row_contractions_(printer_, names_) {
    buffers_ = buffers_of(plan_, printer_);
    if (!wants_lanes(plan_.kernel))
      return;
    lanes_.emplace(printer_, names_);
    printer_.lanes = &*lanes_;
    printer_.contract = [&](const PlanNode &nest) { panels_.push_back(row_contractions_.print(nest)); };
  }

  bool needs_workspace() const { return !buffers_.empty() || has(Phase::Kind::chunked) || contracts(); }
  const std::string &name() const { return name_; }
  const Names &names() const { return names_; }

  // struct SoftmaxF32Workspace: where each buffer starts.
  WorkspaceText workspace_struct() {
    WorkspaceStruct out(function_, printer_);
    for (const Buffer &b : buffers_)
      out.add(b.name, b.elements, std::to_string(bytes_of(b.type)), b.per_worker);
    for (const Phase &phase : plan_.phases)
      for (VarId var : phase.partials)
        out.add(partials_name(var), number(Decision::most_chunks),
                std::to_string(bytes_of(plan_.kernel.vars[var].type)), false);
    for (const Panels &panels : panels_) {
      if (!panels.shared.empty())
        out.add(panels.shared, panels.cut + ".right_bytes()", "1", false);
      const std::string own = panels.shared.empty() ? ".own_bytes()"
                              : panels.several      ? ".thread_bytes(true)"
                                                    : ".thread_bytes(false)";
      out.add(panels.own, panels.cut + own, "1", true);
    }
    if (threads_have_memory(plan_))
      out.add_team(pieces_);
    return out.text(name());
  }

  std::string kernel_function() {
    phases();
    std::string body = printer_.lines.text(), head;
    for (const Buffer &b : buffers_)
      if (!b.per_worker)
        head += pointer(b, "workspace") + "\n";
    std::string parameters = parameters_text(function_);
    std::vector<std::string> names;
    for (const Argument &a : function_.arguments)
      names.push_back(a.name);
    if (needs_workspace())
      parameters += workspace_parameters(name()), names.insert(names.end(), {"space", "workspace"});
    if (threads_have_memory(plan_))
      parameters += ", int64_t threads", names.push_back("threads");
    body = derived_declarations(printer_, head + body) + head + body;
    return "void " + name() + "(" + parameters + ") {\n" + silence_unused(names, body) + body + "}\n";
  }

private:
  Spelling &spelling() { return printer_.spelling; }

  bool has(Phase::Kind kind) const {
    return std::any_of(plan_.phases.begin(), plan_.phases.end(), [&](const Phase &p) { return p.kind == kind; });
  }

  bool contracts() const { return std::ranges::any_of(plan_.phases, contains_contraction); }

  const std::string &partials_name(VarId var) { return printer_.name_beside(var, "_parts"); }

  std::string pointer(const Buffer &b, const std::string &memory) const {
    const std::string type = Spelling::c_type(b.type);
    return type + "* const " + printer_.name(b.var) + " = reinterpret_cast<" + type + "*>(" + memory + " + space." +
           b.name + ");";
  }

  // The buffers of each worker that the phase uses.
  std::vector<const Buffer *> worker_buffers(const Phase &phase) const {
    std::set<VarId> used;
    for (const PlanNode &root : phase.nodes)
      for (const Access &a : accesses_of(plan_.kernel, root))
        used.insert(a.var);
    std::vector<const Buffer *> out;
    for (const Buffer &b : buffers_)
      if (b.per_worker && used.count(b.var) != 0)
        out.push_back(&b);
    return out;
  }

  // Each thread of a team has memory of its own for them. Outside of a team, the caller's number is that of another
  // one.
  void worker_pointers(const Phase &phase, bool in_team) {
    const std::vector<const Buffer *> used = worker_buffers(phase);
    const std::vector<const PlanNode *> nests = RowContractions::of(phase);
    if (used.empty() && nests.empty())
      return;
    const std::string mine = names_.claim("mine");
    printer_.lines.add(
        "char* const " + mine + " = " +
        (in_team ? spelling().helper("memory_of_thread") + "(space, workspace);" : "workspace + space.bytes;"));
    for (const Buffer *b : used)
      printer_.lines.add(pointer(*b, mine));
    for (const PlanNode *nest : nests) {
      const std::string own = panels_of(*nest, printer_).own;
      printer_.lines.add("char* const " + own + " = " + mine + " + space." + own + ";");
    }
  }

  void phases() {
    const Phase *before = nullptr;
    for (const Phase &phase : plan_.phases) {
      printer_.lines.append(printer_.between(before, &phase));
      print(phase);
      before = &phase;
    }
    printer_.lines.append(printer_.between(before, nullptr));
  }

  void print(const Phase &phase) {
    printer_.parallel = phase.kind != Phase::Kind::serial;
    if (phase.kind == Phase::Kind::parallel)
      return parallel(phase);
    if (phase.kind == Phase::Kind::chunked)
      return chunks(phase);
    if (phase.kind == Phase::Kind::contracted)
      return contraction(phase);
    worker_pointers(phase, false);
    for (size_t i = 0; i < phase.nodes.size(); ++i) {
      // The accumulators of a later reduction are set where its parts are combined.
      if (phase.nodes[i].kind == PlanNode::Kind::fold_init && is_partial(phase.nodes[i].target))
        continue;
      printer_.declare_before(phase.nodes, i);
      printer_.node(phase.nodes[i], phase.nodes);
    }
  }

  bool is_partial(VarId var) const {
    return std::any_of(plan_.phases.begin(), plan_.phases.end(), [&](const Phase &p) {
      return std::find(p.partials.begin(), p.partials.end(), var) != p.partials.end();
    });
  }

  void parallel(const Phase &phase) {
    const std::vector<const PlanNode *> chain = shared_loops(plan_.kernel, phase);
    std::string work, others = "1"; // all items, and those of all loops but the last
    std::vector<std::string> counts;
    for (const PlanNode *n : chain) {
      counts.push_back(printer_.trips(*n).text);
      others = work.empty() ? "1" : work;
      work += (work.empty() ? "" : " * ") + at_least(printer_.trips(*n), binding::kMultiply);
    }
    const PlanNode &last = *chain.back();
    std::string share; // of the last loop, where that goes over parts
    if (last.parts > 0) {
      share = names_.claim_one_of(printer_.axis_name(last.axis), {"_part", "_part_length"});
      const std::string most = printer_.part_length(last.parts, last.kept),
                        of = printer_.trips(last).text + ", " + others;
      printer_.lines.add("const int64_t " + share + " = " + spelling().helper("share_of") +
                         (last.kept ? "(" + of + ", " + most + ");" : "<" + most + ">(" + of + ");"));
    }
    // The loop that one on lanes crosses: both are cut into tiles that the nearest cache holds.
    const PlanNode *const crossing =
        last.on_lanes && last.on_lanes->crossed != kNone ? chain[chain.size() - 2] : nullptr;
    const bool tiles = crossing != nullptr && !last.on_lanes->turned.empty();
    const bool only_maps = !contains_loop(last.body);
    std::string clauses = chain.size() > 1 ? " collapse(" + std::to_string(chain.size()) + ")" : "";
    clauses += is_uneven(chain) ? turns(last.on_lanes ? others : work) : " schedule(static)";
    const bool known = work.find_first_not_of("0123456789") == std::string::npos;
    const int64_t serial_below =
        plan_.decide(only_maps && has_light_values(last) ? Decision::serial_below_light : Decision::serial_below);
    const bool too_few = only_maps && known && std::stoll(work) <= serial_below; // for threads
    const std::string rounds = only_maps ? (known ? "" : work) : rounds_text(phase);
    const bool around = !too_few && printer_.lanes != nullptr && stream_outputs(phase.nodes.front());
    const LanePart length = last.on_lanes ? part_of(last, crossing, around) : LanePart{};
    if (too_few)
      worker_pointers(phase, false);
    else
      begin_threads(phase, clauses, rounds, counts, serial_below);
    Printer::Range whole; // of a loop over parts
    for (const PlanNode *n : chain) {
      if (n->parts > 0)
        whole = printer_.open_part(*n, share);
      else if (n == crossing)
        printer_.set_part(n->axis, printer_.open_parts(
                                       *n, printer_.declared_range(*n),
                                       number(tiles ? Decision::wide_tile_columns : Decision::tile_columns, n->axis)));
      else if (n != &last || !last.on_lanes)
        printer_.open(*n);
    }
    if (last.on_lanes) {
      // Threads share the lane loop by parts that depend on sizes only.
      const Printer::Range part = open_parts(last, length);
      if (tiles) {
        printer_.lanes->tiles(last, part, length, printer_.range(*crossing));
      } else {
        if (crossing != nullptr)
          printer_.open(*crossing);
        else if (around && only_maps)
          printer_.lanes->ahead.streams(last, around_);
        const std::vector<const PlanNode *> outer(chain.begin(), chain.end() - 1);
        printer_.inside_loops(outer, [&] { printer_.lanes->loop(last, part); });
        if (crossing != nullptr)
          printer_.lines.add("}");
      }
    } else {
      if (printer_.lanes != nullptr)
        printer_.lanes->ahead.inside(last, whole, chain.size() > 1 ? chain[chain.size() - 2]->axis : kNone);
      row_contractions_.begin_part(phase);
      printer_.inside_loops(chain, [&] { printer_.list(last.body); });
    }
    for (size_t i = 0; i < chain.size(); ++i)
      printer_.lines.add("}");
    printer_.clear_parts();
    if (!too_few)
      end_threads(around);
  }

  void contraction(const Phase &phase) {
    const bool around = stream_outputs(phase.nodes.front());
    const std::string rounds = rounds_text(phase);
    pieces_.push_back({std::to_string(kMostThreads)});
    panels_.push_back(print_contraction(phase,
                                        rounds.empty() ? "true" : rounds + " > " + number(Decision::serial_below_tiles),
                                        printer_, names_, [&] { worker_pointers(phase, true); }));
    end_threads(around);
  }

  Printer::Range open_parts(const PlanNode &loop, const LanePart &part) {
    if (part.first.empty())
      return printer_.open_parts(loop, printer_.declared_range(loop), part.text);
    const std::string v = printer_.axis_name(loop.axis), begin = names_.claim_one_of(v, {"_begin", "_part_begin"}),
                      end = names_.claim_one_of(v, {"_end", "_part_end"});
    const Printer::Range range = printer_.open_parts(loop, printer_.declared_range(loop), part.text, part.first);
    printer_.lines.add("const int64_t " + begin + " = " + spelling().helper("larger") + "(" + range.begin + ", 0), " +
                       end + " = " + range.end + ";");
    return {begin, end};
  }

  // Is each value that the loop's statements set made by a few operations?
  bool has_light_values(const PlanNode &loop) const {
    bool light = true;
    for_each_node(loop, [&](const PlanNode &n) {
      for (ExprId id : expressions_of(n))
        light = light && is_light(plan_.kernel, id);
    });
    return light;
  }

  // Before the loops that threads share: the team, the memory that each has of its own, and what they share.
  void begin_threads(const Phase &phase, const std::string &clauses, const std::string &rounds,
                     const std::vector<std::string> &counts, int64_t serial_below) {
    const std::string much = rounds.empty() ? "" : rounds + " > " + std::to_string(serial_below) + ", ";
    if (worker_buffers(phase).empty() && RowContractions::of(phase).empty()) {
      printer_.lines.add(spelling().helper("in_parallel") + "(" + much + "[&]() IN_SET {");
    } else {
      printer_.lines.add(spelling().helper("in_team") + "(" + (much.empty() ? "true, " : much) +
                         "threads, [&]() IN_SET {");
      pieces_.push_back(counts);
    }
    worker_pointers(phase, true);
    row_contractions_.begin(phase);
    printer_.lines.add("#pragma omp for" + clauses + " nowait");
  }

  // The rounds of the innermost loops, where a call's sizes tell.
  std::string rounds_text(const Phase &phase) {
    const std::vector<std::string> sizes = rounds_of(plan_, phase, printer_);
    const std::string out = join(sizes, ", ");
    if (out.find_first_not_of("0123456789, ") == std::string::npos)
      return "";
    return sizes.size() == 1 ? at_least(code_of(out), binding::kAdd)
                             : spelling().helper("product_of") + "(" + out + ")";
  }

  void end_threads(bool around) {
    if (around) {
      printer_.lanes->stream({}, "");
      printer_.lines.add("if (" + around_ + ") finish_stores();");
    }
    printer_.lines.add("});");
  }

  // The parts in which threads share the loop on lanes. Where it crosses another one, a part is one line of each row of
  // the output. Large outputs go around the caches, so their parts begin with lines, wherever the first row does. Where
  // the rows begin elsewhere in lines, each line would be fetched and written in two pieces: there many neighbours are
  // written in turn, so that the pieces meet in the nearest cache.
  LanePart part_of(const PlanNode &loop, const PlanNode *crossing, bool around) {
    if (crossing == nullptr) {
      const bool deepest = !long_loops(plan_, loop).empty() && !reads_rows(plan_, loop);
      const int64_t length = plan_.decide(!contains_loop(loop.body) ? Decision::chunk
                                          : deepest                 ? Decision::deepest_chunk
                                                                    : Decision::deep_chunk,
                                          loop.axis);
      return {std::to_string(length), length, ""};
    }
    VarId widest = kNone;
    for_each_node(loop, [&](const PlanNode &n) {
      if (n.target != kNone && plan_.kernel.vars[n.target].kind == Var::Kind::output &&
          (widest == kNone || bytes_of_element(n.target) > bytes_of_element(widest)))
        widest = n.target;
    });
    const int64_t line = machine_of(TargetKind::openmp).line_bytes / (widest == kNone ? 1 : bytes_of_element(widest));
    const std::string elements = std::to_string(line);
    const int64_t turned = plan_.decide(Decision::turned_part, loop.axis);
    const std::string pitch =
        around && widest != kNone && printer_.declared_range(loop).begin == "0" ? pitch_of(widest, crossing->axis) : "";
    const std::string first =
        pitch.empty() ? "" : "-" + spelling().helper("into_line") + "(" + printer_.name(widest) + ")";
    const std::string few = has_few(*crossing);
    if (few == "true")
      return {std::to_string(turned), turned, first};
    const std::string apart =
        pitch.empty() ? ""
                      : around_ + " && " + at_least(code_of(pitch), binding::kMultiply) + " % " + elements + " != 0";
    if (few.empty() && apart.empty())
      return {elements, line, ""};
    const std::string part = names_.claim_one_of(printer_.axis_name(loop.axis), {"_part", "_part_length"});
    const bool both = !few.empty() && !apart.empty();
    printer_.lines.add("const int64_t " + part + " = " + few + (both ? " || (" + apart + ")" : apart) + " ? " +
                       std::to_string(turned) + " : " + elements + ";");
    return {part, turned, first};
  }

  // How far apart the rows along the axis begin; empty: they do not lie so.
  std::string pitch_of(VarId var, AxisId axis) {
    const LaneStep step = LaneAnalysis(plan_).step_of(var, {}, axis);
    return step.kind == LaneStep::Kind::stride ? printer_.size_text(step.stride) : "";
  }

  // Are there so few rows of the output that all of them stay near while long parts of each are written?
  std::string has_few(const PlanNode &loop) {
    if (const std::optional<int64_t> most = most_positions(plan_.kernel.axes[loop.axis]))
      return *most <= plan_.decide(Decision::tile_rows, loop.axis) ? "true" : "";
    return at_least(printer_.trips(loop), binding::kAdd) + " <= " + number(Decision::tile_rows, loop.axis);
  }

  std::string number(Decision decision, AxisId axis = kNone) const {
    return std::to_string(plan_.decide(decision, axis));
  }

  int bytes_of_element(VarId var) const { return bytes_of(plan_.kernel.vars[var].type); }

  // Large outputs that nothing reads go around the caches: nobody would find them there again.
  bool stream_outputs(const PlanNode &root) {
    std::set<VarId> outputs;
    for_each_node(root, [&](const PlanNode &n) {
      if (n.streamed)
        outputs.insert(n.target);
    });
    if (outputs.empty())
      return false;
    std::string written;
    for (VarId output : outputs)
      written += "_" + printer_.name(output);
    around_ = names_.claim_one_of("around_caches", {"", written});
    printer_.lines.add("const bool " + around_ + " = " + printer_.bytes_text(outputs) + " >= kBeyondCaches;");
    spelling().helper("store_around");
    printer_.lanes->stream(std::move(outputs), around_);
    return true;
  }

  // Do items of the work list stand for rows of their own lengths? Then each thread takes the next ones when it is done
  // with some.
  bool is_uneven(const std::vector<const PlanNode *> &chain) {
    bool uneven = false;
    for_each_node(*chain.front(), [&](const PlanNode &n) {
      const Axis *const axis = n.kind == PlanNode::Kind::loop ? &plan_.kernel.axes[n.axis] : nullptr;
      uneven = uneven || (axis != nullptr && axis->ragged != kNone &&
                          std::any_of(chain.begin(), chain.end(), [&](const PlanNode *outer) {
                            return outer->kind == PlanNode::Kind::loop && outer->axis == axis->over;
                          }));
    });
    return uneven;
  }

  std::string turns(const std::string &items) {
    if (items == "1")
      return " schedule(dynamic)";
    return " schedule(dynamic, " + spelling().helper("larger") + "(1, " + at_least(code_of(items), binding::kMultiply) +
           " / " + number(Decision::turns) + "))";
  }

  // Chunks whose bounds depend on sizes alone, then their results in order: the same bits for any number of threads.
  // The loop right inside of a chunked one, of which chunks take parts where that one alone is too short to share.
  const PlanNode *shared_with(const PlanNode &root) {
    if (root.on_lanes || root.body.size() != 1)
      return nullptr;
    const PlanNode &inner = root.body.front();
    const auto plain = [&](const PlanNode &loop) {
      return loop.kind == PlanNode::Kind::loop && loop.order == PlanNode::Order::reduction && loop.parts == 0 &&
             plan_.kernel.axes[loop.axis].ragged == kNone && printer_.range(loop).begin == "0" && loop.share == kNone;
    };
    return plain(root) && plain(inner) && !depends_on(printer_.kernel, inner, {&root}) ? &inner : nullptr;
  }

  // The body of `root` for one piece of the loop inside of it.
  void piece_of(const PlanNode &root, const PlanNode &inner, const std::string &item, const std::string &pieces,
                const std::string &length) {
    const std::string &v = printer_.axis_name(inner.axis), begin = names_.claim_one_of(v, {"_begin", "_piece_begin"}),
                      end = names_.claim_one_of(v, {"_end", "_piece_end"});
    printer_.set_part(inner.axis, {begin, end});
    const std::string body =
        printer_.captured([&] { printer_.inside_loops({&root}, [&] { printer_.list(root.body); }); });
    printer_.clear_part(inner.axis);
    if (const std::string &outer = printer_.axis_name(root.axis); mentions_word(body, outer))
      printer_.lines.add("const int64_t " + outer + " = " + item + " / " + pieces + ";");
    printer_.lines.add("const int64_t " + begin + " = " + item + " % " + pieces + " * " + length + ", " + end + " = " +
                       spelling().helper("smaller") + "(" + begin + " + " + length + ", " + printer_.trips(inner).text +
                       ");");
    printer_.lines.append(body);
  }

  // Of a loop in parts, the one that goes over a part.
  static const PlanNode &walk_in(const PlanNode &parts) {
    return *std::find_if(parts.body.begin(), parts.body.end(),
                         [&](const PlanNode &n) { return n.kind == PlanNode::Kind::loop && n.axis == parts.axis; });
  }

  // The parts of a chunk, and what stands around the walk over each.
  void in_blocks(const PlanNode &parts, const std::string &first, const Printer::Range &chunk,
                 const std::function<void(const Printer::Range &)> &walk) {
    const Printer::Range block = printer_.open_rounds(first, chunk, std::to_string(parts.parts));
    for (size_t i = 0; i < parts.body.size(); ++i) {
      if (&parts.body[i] == &walk_in(parts)) {
        walk(block);
        continue;
      }
      printer_.declare_before(parts.body, i);
      printer_.node(parts.body[i], parts.body);
    }
    printer_.lines.add("}");
  }

  void chunks(const Phase &phase) {
    const PlanNode &whole = phase.nodes.front(), &root = whole.parts > 0 ? walk_in(whole) : whole;
    const PlanNode *const inner = shared_with(root);
    Printer::Range r = printer_.range(root);
    std::string v = printer_.axis_name(root.axis), trips_text = printer_.trips(root).text;
    const std::string least = contains_loop(root.body) ? "1" : number(Decision::chunk, root.axis);
    Lines &out = printer_.lines;
    std::string pieces; // of the inner loop
    const std::string piece =
        number(inner != nullptr && contains_loop(inner->body) ? Decision::deep_chunk : Decision::chunk, root.axis);
    if (inner != nullptr) {
      pieces = names_.claim(printer_.axis_name(inner->axis), "_pieces");
      out.add("const int64_t " + pieces + " = " + spelling().helper("ceil_div") + "(" + printer_.trips(*inner).text +
              ", " + piece + ");");
      v = names_.claim("piece");
      trips_text = at_least(printer_.trips(root), binding::kMultiply) + " * " + pieces;
      r = {"0", trips_text};
    }
    const std::string chunk = names_.claim(v, "_chunk"), first = names_.claim_one_of(v, {"_first", "_chunk_first"});
    out.add("const int64_t " + chunk + " = " + spelling().helper("larger") + "(" + least + ", " +
            spelling().helper("ceil_div") + "(" + trips_text + ", " + number(Decision::most_chunks) + "));");
    for (VarId var : phase.partials) {
      const std::string type = Spelling::c_type(plan_.kernel.vars[var].type);
      out.add(type + "* const " + partials_name(var) + " = reinterpret_cast<" + type + "*>(workspace + space." +
              partials_name(var) + ");");
    }
    const bool around = printer_.lanes != nullptr && stream_outputs(root);
    begin_threads(phase, is_uneven({&root}) ? " schedule(dynamic)" : " schedule(static)", rounds_text(phase),
                  {number(Decision::most_chunks)}, plan_.decide(Decision::serial_below));
    out.add("for (int64_t " + first + " = " + r.begin + "; " + first + " < " + r.end + "; " + first + " += " + chunk +
            ") {");
    const std::string slot =
        r.begin == "0" ? first + " / " + chunk
                       : "(" + first + " - " + at_least(code_of(r.begin), binding::kMultiply) + ") / " + chunk;
    for_partials(phase, [&](const PlanNode &step, VarId var, bool is_partner) {
      const Type type = plan_.kernel.vars[var].type;
      out.add(Spelling::arithmetic(type) + " " + printer_.name(var) + " = " +
              (is_partner ? spelling().constant(type, 0, 0) : spelling().identity(step.monoid, type)) + ";");
    });
    const std::string end = names_.claim_one_of(v, {"_end", "_chunk_end"});
    out.add("const int64_t " + end + " = " + spelling().helper("smaller") + "(" + first + " + " + chunk + ", " + r.end +
            ");");
    const Printer::Range part = {first, end};
    const auto walk = [&](const Printer::Range &range) {
      out.add("for (int64_t " + v + " = " + range.begin + "; " + v + " < " + range.end + "; ++" + v + ") {");
      if (inner != nullptr)
        piece_of(root, *inner, v, pieces, piece);
      else
        printer_.inside_loops({&root}, [&] { printer_.list(root.body); });
      out.add("}");
    };
    if (root.on_lanes)
      printer_.lanes->loop(root, part);
    else if (whole.parts > 0)
      in_blocks(whole, names_.claim_one_of(v, {"_block", "_block_first"}), part, walk);
    else
      walk(part);
    for (VarId var : phase.partials)
      out.add(partials_name(var) + "[" + slot + "] = " + printer_.name(var) + ";");
    out.add("}");
    end_threads(around);
    out.add("// Puts the chunks together, in order: the bits are the same for any number of threads.");
    for_partials(phase, [&](const PlanNode &step, VarId var, bool is_partner) {
      const Type type = plan_.kernel.vars[var].type;
      out.add(Spelling::arithmetic(type) + " " + printer_.name(var) + " = " +
              (is_partner ? spelling().constant(type, 0, 0) : spelling().identity(step.monoid, type)) + ";");
      printer_.mark_declared(var);
    });
    out.add("for (int64_t " + first + " = " + r.begin + "; " + first + " < " + r.end + "; " + first + " += " + chunk +
            ") {");
    for_partials(phase, [&](const PlanNode &step, VarId var, bool is_partner) {
      if (is_partner)
        return;
      const std::string part = partials_name(var) + "[" + slot + "]";
      if (step.partner != kNone) {
        const std::string best = printer_.name(step.partner), other = partials_name(step.partner) + "[" + slot + "]";
        out.add("if (" + part + " >= 0 && (" + printer_.name(var) + " < 0 || " +
                spelling().helper(step.monoid == Monoid::argmax ? "above" : "below") + "(" + other + ", " + best +
                "))) {");
        out.add(best + " = " + other + ";");
        out.add(printer_.name(var) + " = " + part + ";");
        out.add("}");
        return;
      }
      out.add(printer_.name(var) + " = " + printer_.combined(step, printer_.name(var), {part}).text + ";");
    });
    out.add("}");
  }

  // Each once: alternatives of a row add to the same ones.
  template <class Visit> void for_partials(const Phase &phase, Visit visit) {
    std::set<VarId> seen;
    for_each_node(phase.nodes.front(), [&](const PlanNode &n) {
      const bool ends = std::find(phase.partials.begin(), phase.partials.end(), n.target) != phase.partials.end();
      if (n.kind != PlanNode::Kind::fold_step || !ends || !seen.insert(n.target).second)
        return;
      visit(n, n.target, false);
      if (n.partner != kNone)
        visit(n, n.partner, true);
    });
  }

  const Function &function_;
  std::string name_;
  const Plan &plan_;
  Names names_;
  Printer printer_;
  std::vector<Buffer> buffers_;
  std::optional<LanePrinter> lanes_;
  std::vector<Panels> panels_;                   // of contractions
  std::vector<std::vector<std::string>> pieces_; // of each phase where threads have memory of their own
  RowContractions row_contractions_;
  std::string around_; // the flag for writing around the caches in the phase at hand
};

} // namespace

OpenmpFunction openmp_function(const std::string &name, const Function &function, const Plan &plan, const Facts &facts,
                               Spelling &spelling) {
  OpenmpKernel kernel(name, function, plan, facts, spelling);
  OpenmpFunction out;
  out.name = name;
  const std::string text = kernel.kernel_function();
  if (kernel.needs_workspace())
    out.workspace = kernel.workspace_struct();
  std::vector<std::string> texts = reuse_names({text, out.workspace.text}, kernel.names());
  out.text = std::move(texts[0]);
  out.workspace.text = std::move(texts[1]);
  out.has_team = threads_have_memory(plan);
  return out;
}

} // namespace kgen
