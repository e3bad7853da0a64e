#include "emit/openmp/lanes/reads.h"

#include <algorithm>
#include <optional>
#include <set>

#include "emit/openmp/lanes/values.h"
#include "emit/target_file.h"
#include "ir/evaluate.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"
#include "plan/index/width.h"

namespace kgen {
namespace {

// How an access may leave its array: by a coordinate that moves with the lanes, and by what all lanes share.
struct Border {
  std::vector<std::pair<std::string, std::string>> fixed;
  std::string at, extent, index;
  int64_t step = 0;
};

// The condition, the same for all lanes, under which what is read lies inside; empty: always.
std::string guard_of(const LaneScope &lanes, const Expr &e) {
  std::vector<std::pair<std::string, std::string>> checks;
  if (e.safe)
    return "";
  if (lanes.kind_of(e.ref) == Storage::Kind::argument)
    lanes.printer.index_text(e.ref, e.coords, &checks);
  else
    checks = lanes.printer.buffer_checks(e.ref, e.coords);
  return checks.empty() ? "" : lanes.printer.inside(checks).text;
}

// What stands for elements that are none of the array's, as the read is wanted.
std::string text_outside(LaneScope &lanes, const Expr &e) {
  const Var &var = lanes.kernel.vars[e.ref];
  return lanes.reads.as_bits ? lanes.printer.bits_of_half(var.outside, var.type)
                             : lanes.printer.spelling.constant(e.type, static_cast<int64_t>(var.outside), var.outside);
}

// Numbers of small records, all of which a few vectors hold: `pred[(b * N + n) * 4 + 3]`. Empty: it is no such place.
std::string load_field(LaneScope &lanes, VarId var, const std::string &element, const LaneStep &step) {
  const Var &v = lanes.kernel.vars[var];
  if (lanes.kind_of(var) != Storage::Kind::argument || v.strided || v.dims.empty() || v.type == Type::boolean)
    return "";
  const Size &fields = v.dims.back().extent;
  if (!(fields.is_integer(2) || fields.is_integer(3) || fields.is_integer(4)) || !step.stride.is_integer(fields.value))
    return "";
  for (int64_t field = 0; field < fields.value; ++field) {
    const std::string end =
        " * " + std::to_string(fields.value) + (field > 0 ? " + " + std::to_string(field) : "") + "]";
    if (!element.ends_with(end))
      continue;
    const std::string first =
        element.substr(0, element.size() - end.size()) + " * " + std::to_string(fields.value) + "]";
    return lanes.helper("load_field") + "<" + std::to_string(fields.value) + ", " + std::to_string(field) + ">(&" +
           first + ", " + lanes.masks.active + ")";
  }
  return "";
}

// The index of the first lane's element, before anybody has asked whether it lies inside: a coordinate that may be any
// number must not take the sum out of 64 bits.
std::string first_index(LaneScope &lanes, VarId var, const std::vector<Coordinate> &coords,
                        std::vector<std::pair<std::string, std::string>> *checks) {
  const std::string index = lanes.printer.index_text(var, coords, checks).text;
  for (const Coordinate &c : coords) {
    if (!lanes.varies(c.value) || width_of(lanes.kernel, c.value) < bits_of(Type::i64) - 2)
      continue;
    const Code at = lanes.scalar(c.value);
    const std::string end = " + " + at_least(at, binding::kAdd);
    if (index.ends_with(end))
      return lanes.printer.spelling.operation(Op::add, Type::i64, {{index.substr(0, index.size() - end.size())}, at})
          .text;
  }
  return index;
}

// Whether what is read or asked for lies inside, where one dimension only moves with the lanes, and evenly.
std::optional<Border> border_of(LaneScope &lanes, const Expr &e) {
  constexpr int64_t kFar = 4096; // from where on the elements of a group have nothing to do with each other
  Border found;
  int moving = 0;
  auto move = [&](std::optional<int64_t> by) {
    ++moving;
    found.step = by.value_or(0);
  };
  const bool argument = lanes.kind_of(e.ref) == Storage::Kind::argument;
  if (argument) {
    for (const Dim &dim : lanes.kernel.vars[e.ref].dims)
      if (const Coordinate *const given = find_coordinate(e.coords, dim.axis);
          given == nullptr && dim.axis == lanes.axis)
        move(1);
      else if (given != nullptr && lanes.varies(given->value))
        move(lanes.analysis.coefficient(given->value, lanes.axis));
  } else {
    for (const Coordinate &c : e.coords)
      if (lanes.varies(c.value))
        move(lanes.analysis.coefficient(c.value, lanes.axis));
  }
  if (moving != 1 || found.step < 1 || found.step > kFar)
    return std::nullopt;
  std::vector<std::pair<std::string, std::string>> checks;
  if (argument)
    found.index = first_index(lanes, e.ref, e.coords, &checks);
  else
    checks = lanes.printer.buffer_checks(e.ref, e.coords);
  const std::string &lane = lanes.printer.axis_name(lanes.axis);
  for (const auto &check : checks) {
    if (mentions_word(check.second, lane))
      return std::nullopt;
    if (!mentions_word(check.first, lane))
      found.fixed.push_back(check);
    else
      found.at = check.first, found.extent = check.second;
  }
  if (found.at.empty() || checks.size() != found.fixed.size() + 1)
    return std::nullopt;
  return found;
}

// What says which rows neighbouring elements are of: `box_start, B, packed, row`. Empty: they are no neighbours.
std::string rows_of(LaneScope &lanes, const Expr &e) {
  if (e.op != Op::row_of || lanes.analysis.coefficient(e.args[0], lanes.axis) != 1)
    return "";
  const Axis &along = lanes.kernel.axes[e.axis];
  const std::string table = c_name(lanes.kernel.tables[along.ragged].name),
                    rows = lanes.printer.size_text(lanes.kernel.axes[along.over].size);
  if (lanes.reads.near_row.empty())
    lanes.reads.near_row = lanes.names.claim_one_of("row", {"", "_near"});
  lanes.reads.looked_up = e.axis;
  return table + ", " + rows + ", " + lanes.scalar(e.args[0]).text + ", " + lanes.reads.near_row;
}

// What rows have, for neighbouring elements of them. Empty: it has another form.
std::string load_by_row(LaneScope &lanes, const Expr &e) {
  const Var &var = lanes.kernel.vars[e.ref];
  if (e.coords.size() != 1 || !e.safe || var.strided || var.type == Type::boolean || var.axes.count() != 1)
    return "";
  const std::string rows = rows_of(lanes, lanes.expr(e.coords[0].value));
  if (rows.empty() || (var.kind != Var::Kind::local && var.dims.size() != 1))
    return "";
  lanes.note(var.type);
  return widened_half(
      lanes, lanes.helper("load_by_row") + "<" + kLaneCount + ">(" + lanes.name(e.ref) + ", " + rows + ")", var.type);
}

// A read that may leave its row at the lanes' ends: most groups lie inside and are loaded whole. Empty: it has another
// form.
std::string load_inside(LaneScope &lanes, const Expr &e, const LaneStep &step) {
  const Var &var = lanes.kernel.vars[e.ref];
  if (lanes.kind_of(e.ref) != Storage::Kind::argument || var.strided || (is_half(var.type) && var.outside != 0))
    return "";
  const std::optional<Border> found = border_of(lanes, e);
  if (!found || !step.stride.is_integer(found->step))
    return "";
  const std::string outside = text_outside(lanes, e);
  std::string text = lanes.helper("load_inside") + "<" + std::to_string(found->step) + ">(" + lanes.name(e.ref) + ", " +
                     found->index + ", " + found->at + ", " + found->extent + ", " + lanes.masks.active + ", " +
                     (is_half(var.type) ? "0" : outside) + ")";
  text = widened_half(lanes, text, var.type);
  return found->fixed.empty() ? text
                              : "(" + lanes.printer.inside(found->fixed).text + " ? " + text + " : " + outside + ")";
}

Code load_nearest(LaneScope &lanes, const Expr &e, const LaneAnalysis::Nearest &nearest) {
  const Var &var = lanes.kernel.vars[e.ref];
  lanes.note(var.type);
  std::vector<Coordinate> coords = e.coords;
  for (Coordinate &c : coords)
    if (c.axis == nearest.axis)
      c.value = nearest.at;
  const auto extent =
      std::find_if(var.dims.begin(), var.dims.end(), [&](const Dim &d) { return d.axis == nearest.axis; });
  const std::string least = nearest.least == kNone ? "0" : lanes.scalar(nearest.least).text,
                    end = lanes.printer.size_text(Size::make(Size::Op::subtract, {extent->extent, Size::integer(1)}));
  std::string most = nearest.most == kNone ? end : lanes.scalar(nearest.most).text;
  if (nearest.least_wins && (least != "0" || most != end)) // an empty row has nobody who reads it
    most = lanes.helper("larger") + "(" + least + ", " + most + ")";
  const std::string text = lanes.helper("load_nearest") + "(" + lanes.name(e.ref) + ", " +
                           first_index(lanes, e.ref, coords, nullptr) + ", " + lanes.scalar(nearest.at).text + ", " +
                           least + ", " + most + ", " + lanes.masks.active + ")";
  return {widened_half(lanes, text, var.type)};
}

std::string name_of_gathered(LaneScope &lanes, const std::string &text, const Expr &e) {
  std::string &name = lanes.reads.gathered[text];
  if (name.empty()) {
    name = e.op == Op::read || e.op == Op::element ? lanes.names.claim(lanes.name(e.ref), "_at")
                                                   : lanes.names.claim("by_lane");
    lanes.add("const auto " + name + " = " + text + ";");
  }
  return name;
}

// Can it be computed wherever it stands, of numbers at hand alone, and is it more than a line can bear twice? Where
// lanes differ: does it choose, as what is mirrored or cut off does?
bool is_worth_a_name(LaneScope &lanes, ExprId id) {
  constexpr int kFewOperations = 2;
  int operations = 0;
  bool at_hand = true, chooses = false;
  walk(lanes.kernel, id, [&](ExprId at) {
    const Expr &e = lanes.expr(at);
    const bool is_choice = e.op == Op::choose || e.op == Op::both || e.op == Op::either;
    at_hand = at_hand && e.op != Op::table && e.op != Op::element && e.op != Op::row_of && e.op != Op::inside &&
              (e.op != Op::read || lanes.kind_of(e.ref) == Storage::Kind::scalar) &&
              (e.args.empty() || e.op == Op::cast || is_choice || has_vector_form(lanes.kernel, e));
    operations += !e.args.empty() && e.op != Op::cast;
    chooses = chooses || is_choice || e.op == Op::min || e.op == Op::max || e.op == Op::clamp;
    return at_hand;
  });
  return at_hand && (lanes.varies(id) ? chooses : operations >= kFewOperations);
}

// A coordinate that takes some computing is a variable, of each lane where it varies: it is computed once, though what
// is read asks first whether it lies inside. Empty: it needs none, or the read may be evaluated later, or again, as the
// condition of a loop is.
std::string name_of_coordinate(LaneScope &lanes, const Coordinate &c) {
  if (lanes.reads.place == Standing::elsewhere || is_identity(lanes.kernel, c) || !is_worth_a_name(lanes, c.value))
    return "";
  const std::string value = lanes.placed(Standing::elsewhere, [&] { return on_lanes(lanes, c.value).text; });
  std::string &name = lanes.reads.gathered[value];
  if (name.empty()) {
    name = lanes.names.claim(lanes.printer.axis_name(c.axis), "_at");
    lanes.add("const " + std::string(lanes.varies(c.value) ? "auto " : "int64_t ") + name + " = " + value + ";");
  }
  return name;
}

// What a position of the group is called where each is asked for by itself: not as the first one, since products are
// compiled with -Wshadow.
std::string name_of_one(LaneScope &lanes) {
  std::string &own = lanes.reads.one_of[lanes.axis];
  if (own.empty())
    own = lanes.names.claim(lanes.printer.axis_name(lanes.axis), "_at");
  return own;
}

// What the coordinates are called until the read is printed.
std::map<ExprId, std::string> names_of_coordinates(LaneScope &lanes, const Expr &e) {
  std::map<ExprId, std::string> out;
  if (e.op == Op::read)
    for (const Coordinate &c : e.coords)
      if (const std::string name = name_of_coordinate(lanes, c); !name.empty())
        out[c.value] = name + (lanes.varies(c.value) ? "[lane]" : "");
  return out;
}

// Can the lanes' values be computed as vectors, of what is at hand or stands beside each other in memory?
bool is_found_by_vectors(const LaneScope &lanes, ExprId id) {
  bool found = true;
  walk(lanes.kernel, id, [&](ExprId at) {
    const Expr &e = lanes.expr(at);
    if (!found || !lanes.varies(at))
      return false;
    if (e.op != Op::read) {
      found = e.op == Op::index || e.op == Op::cast || has_vector_form(lanes.kernel, e);
      return found;
    }
    const LaneStep::Kind step = lanes.step_of(e.ref, e.coords).kind;
    found = lanes.is_vector(e.ref) ||
            (step == LaneStep::Kind::neighbour && !lanes.analysis.guarded(e, lanes.axis) && guard_of(lanes, e).empty());
    return false;
  });
  return found;
}

// Is it too much for a compiler to load lanes under conditions: several conditions, values that are vectors, or small
// numbers, which no instruction gathers? (Halves neither; but they share their text with wider floats.)
bool is_gathered_by_hand(LaneScope &lanes, const Expr &e, ExprId along) {
  std::vector<std::pair<std::string, std::string>> checks;
  lanes.printer.index_text(e.ref, e.coords, &checks);
  const bool of_vectors = any_node(
      lanes.kernel, along, [&](const Expr &inner) { return inner.op == Op::read && lanes.is_vector(inner.ref); });
  const Type type = lanes.kernel.vars[e.ref].type;
  return checks.size() > 1 || of_vectors || (is_integer(type) && bits_of(type) < bits_of(Type::i32));
}

// Places as few bits as hold them: those of tables of up to 32 bits are not widened.
Code narrow_places(LaneScope &lanes, ExprId along) {
  const Expr &e = lanes.expr(along);
  const Type from = e.op == Op::cast ? lanes.expr(e.args[0]).type : e.type;
  if (e.op != Op::cast || is_floating(from) || from == Type::boolean || from == Type::u32 ||
      bits_of(from) > bits_of(Type::i32))
    return on_lanes(lanes, along);
  lanes.note(Type::i32);
  return cast_lanes(lanes, on_lanes(lanes, e.args[0]), from, Type::i32);
}

// How the lanes' places in a row are given, and to which helper.
struct RowPlaces {
  std::string helper, places;
};

// What mirrors or cuts off has runs of neighbours, as a rule; what begins again, but for where it does. None: it has
// another form.
std::optional<RowPlaces> places_in_row(LaneScope &lanes, const Expr &e, ExprId along) {
  if (const std::string at = name_of_coordinate(lanes, {lanes.kernel.vars[e.ref].dims.back().axis, along}); !at.empty())
    return RowPlaces{"load_runs", at};
  if (lanes.analysis.goes_around(along, lanes.axis)) {
    const std::string first = lanes.printer.axis_name(lanes.axis), own = name_of_one(lanes);
    lanes.printer.rename_axis(lanes.axis, own);
    const std::string place = lanes.scalar(along).text;
    lanes.printer.rename_axis(lanes.axis, first);
    return RowPlaces{"load_around", first + ", [&](int64_t " + own + ") IN_SET { return " + place + "; }"};
  }
  if (e.safe || lanes.reads.place == Standing::elsewhere || !lanes.masks.mask.empty() ||
      !is_found_by_vectors(lanes, along) || !is_gathered_by_hand(lanes, e, along))
    return std::nullopt;
  return RowPlaces{"gather_row", narrow_places(lanes, along).text};
}

// A read at computed places of the last dimension. None: it has another form.
std::optional<Code> load_in_row(LaneScope &lanes, const Expr &e) {
  if (e.op != Op::read)
    return std::nullopt;
  const Var &var = lanes.kernel.vars[e.ref];
  const Coordinate *const along = lanes.analysis.place_in_row(e, lanes.axis);
  if (along == nullptr || var.type == Type::boolean || (is_half(var.type) && var.outside != 0))
    return std::nullopt;
  const std::optional<RowPlaces> found = places_in_row(lanes, e, along->value);
  if (!found)
    return std::nullopt;
  std::map<ExprId, std::string> places = names_of_coordinates(lanes, e);
  places[along->value] = "0"; // where the row begins
  std::swap(lanes.printer.places, places);
  const std::string row = lanes.element(e.ref, e.coords);
  std::vector<std::pair<std::string, std::string>> checks;
  if (!e.safe)
    lanes.printer.index_text(e.ref, e.coords, &checks);
  std::swap(lanes.printer.places, places);
  if (!e.safe && may_be_outside(lanes.kernel, var, var.dims.size() - 1, e.coords))
    checks.pop_back(); // the helper asks
  lanes.note(var.type);
  const std::string outside = text_outside(lanes, e);
  const std::string text = widened_half(lanes,
                                        lanes.helper(found->helper) + "(&" + row + ", " + found->places + ", " +
                                            lanes.printer.size_text(var.dims.back().extent) + ", " +
                                            lanes.masks.active + ", " + (is_half(var.type) ? "0" : outside) + ")",
                                        var.type);
  if (checks.empty())
    return Code{text};
  return Code{lanes.printer.inside(checks).text + " ? " + text + " : " + outside, binding::kChoose};
}

} // namespace

Code read_on_lanes(LaneScope &lanes, const Expr &e, ExprId id) {
  if (lanes.kind_of(e.ref) == Storage::Kind::scalar)
    return {lanes.name(e.ref)};
  if (const std::string text = load_by_row(lanes, e); !text.empty())
    return {text};
  const LaneStep step = lanes.step_of(e.ref, e.coords);
  if (step.kind != LaneStep::Kind::any && lanes.analysis.guarded(e, lanes.axis)) {
    lanes.note(lanes.type(e.ref));
    if (const std::string text = load_inside(lanes, e, step); !text.empty())
      return {text};
  }
  if (lanes.masks.mask.empty())
    if (const auto nearest = lanes.analysis.nearest(e, lanes.axis))
      return load_nearest(lanes, e, *nearest);
  if (step.kind == LaneStep::Kind::any || lanes.analysis.guarded(e, lanes.axis))
    return gather(lanes, id);
  // Under a condition, points may be inside by that condition only.
  if (!lanes.masks.mask.empty() && lanes.analysis.may_leave(e))
    return gather(lanes, id);
  const std::string guard = guard_of(lanes, e);
  const std::string value = loaded(lanes, e.ref, e.coords);
  if (guard.empty())
    return {value};
  return {guard + " ? " + value + " : " + text_outside(lanes, e), binding::kChoose};
}

Code element_on_lanes(LaneScope &lanes, const Expr &e, ExprId id) {
  if (!lanes.is_vector(e.ref) || !lanes.analysis.is_one_element(e.args, lanes.axis))
    return gather(lanes, id);
  const auto checks = lanes.printer.array_checks(e.ref, e.args);
  const std::string value = lanes.element(e.ref, {}, e.args);
  if (checks.empty())
    return {value};
  return {lanes.printer.inside(checks).text + " ? " + value + " : " + lanes.lanes_type(e.type) + "(0)",
          binding::kChoose};
}

Code inside_lanes(LaneScope &lanes, const Expr &e, ExprId id) {
  const std::optional<Border> found = border_of(lanes, e);
  if (!found)
    return gather(lanes, id);
  lanes.helper("lanes_inside");
  const std::string text = "inside<" + std::to_string(found->step) + ">(" + found->at + ", " + found->extent + ", " +
                           lanes.masks.active + ")";
  if (found->fixed.empty())
    return {text};
  return {lanes.printer.inside(found->fixed).text + " ? " + text + " : " + lanes.lanes_type(Type::boolean) + "(false)",
          binding::kChoose};
}

Code row_of(LaneScope &lanes, const Expr &e, ExprId id) {
  const std::string rows = rows_of(lanes, e);
  if (rows.empty())
    return gather(lanes, id);
  return {lanes.helper("rows_of") + "<" + kLaneCount + ">(" + rows + ")"};
}

Code gather(LaneScope &lanes, ExprId id) {
  const Expr &e = lanes.expr(id);
  if (const std::optional<Code> row = load_in_row(lanes, e))
    return lanes.reads.place == Standing::within ? Code{name_of_gathered(lanes, row->text, e)} : *row;
  lanes.note(e.type);
  std::set<VarId> vectors;
  walk(lanes.kernel, id, [&](ExprId at) {
    const Expr &inner = lanes.expr(at);
    if ((inner.op == Op::read || inner.op == Op::element) && lanes.is_vector(inner.ref))
      vectors.insert(inner.ref);
    return true;
  });
  std::map<ExprId, std::string> places = names_of_coordinates(lanes, e);
  const bool by_lane =
      !vectors.empty() || std::ranges::any_of(places, [&](const auto &place) { return lanes.varies(place.first); });
  const std::string first = lanes.printer.axis_name(lanes.axis);
  const std::string own = name_of_one(lanes);
  lanes.printer.rename_axis(lanes.axis, own);
  std::swap(lanes.printer.by_lane, vectors);
  std::swap(lanes.printer.places, places);
  const std::string text =
      lanes.reads.as_bits ? lanes.printer.unconverted(id, lanes.type(e.ref))->text : lanes.scalar(id).text;
  std::swap(lanes.printer.places, places);
  std::swap(lanes.printer.by_lane, vectors);
  lanes.printer.rename_axis(lanes.axis, first);
  const std::string point = mentions_word(text, own) ? " " + own : "",
                    lane = by_lane && mentions_word(text, "lane") ? ", int lane" : "";
  const std::string value =
      lanes.helper("gather") + "<" + (lanes.reads.as_bits ? "uint16_t" : Spelling::arithmetic(e.type)) + ">(" + first +
      ", " + lanes.masks.current() + ", [&](int64_t" + point + lane + ") IN_SET { return " + text + "; })";
  return {lanes.reads.place == Standing::within ? name_of_gathered(lanes, value, e) : value};
}

std::string loaded(LaneScope &lanes, VarId var, const std::vector<Coordinate> &coords) {
  const Type type = lanes.type(var);
  lanes.note(type);
  if (lanes.kind_of(var) == Storage::Kind::scalar || lanes.is_vector(var))
    return lanes.element(var, coords);
  const LaneStep step = lanes.step_of(var, coords);
  std::string element = lanes.element(var, coords);
  const auto turned = lanes.reads.turned.find(element);
  if (turned != lanes.reads.turned.end())
    element = turned->second;
  const bool neighbours = step.kind == LaneStep::Kind::neighbour || turned != lanes.reads.turned.end();
  const bool once = lanes.reads.place == Standing::named && type != Type::boolean;
  std::string text = neighbours
                         ? lanes.helper(once ? "load_once" : "load") + "(&" + element + ", " + lanes.masks.active + ")"
                         : load_field(lanes, var, element, step);
  if (text.empty())
    text = lanes.helper("load_every") + "(&" + element + ", " + lanes.printer.size_text(step.stride) + ", " +
           lanes.masks.active + ")";
  return widened_half(lanes, text, type);
}

std::string unconverted(LaneScope &lanes, ExprId value, Type to) {
  const Expr &e = lanes.expr(value);
  if (!lanes.printer.is_moved(value, to) || lanes.is_vector(e.ref))
    return "";
  if (!lanes.varies(value))
    return lanes.printer.unconverted(value, to)->text;
  lanes.reads.as_bits = true;
  const std::string text = read_on_lanes(lanes, e, value).text;
  lanes.reads.as_bits = false;
  return text;
}

std::string widened_half(LaneScope &lanes, const std::string &text, Type type) {
  if (!is_half(type) || lanes.reads.as_bits)
    return text;
  lanes.helper(type == Type::bf16 ? "lanes_from_bf16" : "lanes_from_f16");
  return std::string(type == Type::bf16 ? "from_bf16(" : "from_f16(") + text + ")";
}

} // namespace kgen
