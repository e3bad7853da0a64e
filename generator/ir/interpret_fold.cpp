// Folds and scans. Sums are accumulated wider than their type (f32 in double, f64 in long double) and rounded once, so
// that the interpreter's own error is far below any target's.
#include <cmath>

#include "ir/interpret_run.h"
#include "support/check.h"

namespace kgen::interpreter {

namespace {

bool is_nan(Value v, Type type) { return is_floating(type) && std::isnan(v.number); }

bool less(Value a, Value b, Type type) {
  if (is_floating(type))
    return a.number < b.number;
  if (type == Type::u64)
    return static_cast<uint64_t>(a.integer) < static_cast<uint64_t>(b.integer);
  return a.integer < b.integer;
}

// Whether v takes the place of best; NaN is taken and kept.
bool replaces(Value v, Value best, bool greatest, Type type) {
  if (is_nan(best, type))
    return false;
  return is_nan(v, type) || (greatest ? less(best, v, type) : less(v, best, type));
}

constexpr int64_t kNowhere = INT64_MIN; // nothing was found yet; windows may begin at negative indices

// Of a sum whose terms together have this magnitude: may some of them alone be more than the type holds, so that
// the order of adding decides between an infinity, the other one, NaN, and what they come to?
bool overflows_in_some_order(double total, double magnitude, Type type) {
  const double most = largest_finite(type);
  if (!std::isfinite(total))
    return magnitude > most;
  const double above = (magnitude + total) / 2, below = (magnitude - total) / 2;
  return (above > most && (below > most || total <= most)) || (below > most && total >= -most);
}

// What a fold has so far, for each kept lane.
struct Cells {
  Monoid monoid;
  Type element, accumulator;
  bool wide, reference;
  std::vector<double> narrow_sum;
  std::vector<long double> wide_sum;
  std::vector<int64_t> integer_sum;
  std::vector<Value> best;
  std::vector<int64_t> index, count;
  std::vector<double> magnitude, rival; // rival: the most that another candidate may be (argmax, argmin)
  std::vector<double> unrounded;        // sum of terms of which some are too large for the type, as they are
  std::vector<uint8_t> flags, coarse;   // coarse: elements too fine for sums to be exact

  bool sums() const { return monoid == Monoid::sum || monoid == Monoid::product || monoid == Monoid::mean; }
  bool extreme() const { return monoid == Monoid::min || monoid == Monoid::max; }
  bool indexed() const { return monoid == Monoid::argmin || monoid == Monoid::argmax; }
  bool greatest() const { return monoid == Monoid::max || monoid == Monoid::argmax; }
  bool floating() const { return is_floating(accumulator); }

  Cells(const Expr &e, Type element_type, int64_t cells, bool in_reference)
      : monoid(e.monoid), element(element_type), accumulator(e.accumulator), wide(accumulator == Type::f64),
        reference(in_reference) {
    double one = monoid == Monoid::product ? 1 : 0;
    count.assign(cells, 0);
    if (sums() && floating()) {
      wide ? wide_sum.assign(cells, one) : narrow_sum.assign(cells, one);
    } else if (extreme() || indexed()) {
      best.assign(cells, greatest() ? lowest_value(element) : highest_value(element));
      index.assign(cells, kNowhere);
    } else {
      integer_sum.assign(cells, monoid == Monoid::product || monoid == Monoid::all ? 1 : 0);
    }
    if (reference) {
      magnitude.assign(cells, monoid == Monoid::product ? 1 : 0);
      rival.assign(cells, -INFINITY);
      unrounded.assign(cells, 0);
      flags.assign(cells, 0);
      coarse.assign(cells, 0);
    }
  }

  void add_value(int64_t cell, Value v, int64_t at_index) {
    switch (monoid) {
    case Monoid::sum:
    case Monoid::mean:
      if (!floating())
        integer_sum[cell] =
            static_cast<int64_t>(static_cast<uint64_t>(integer_sum[cell]) + static_cast<uint64_t>(as_integer(v)));
      else if (wide)
        wide_sum[cell] += as_number(v);
      else
        narrow_sum[cell] += as_number(v);
      return;
    case Monoid::product:
      if (!floating())
        integer_sum[cell] =
            static_cast<int64_t>(static_cast<uint64_t>(integer_sum[cell]) * static_cast<uint64_t>(as_integer(v)));
      else if (wide)
        wide_sum[cell] *= as_number(v);
      else
        narrow_sum[cell] *= as_number(v);
      return;
    case Monoid::all:
      integer_sum[cell] &= truth(v);
      return;
    case Monoid::any:
      integer_sum[cell] |= truth(v);
      return;
    default:
      if (index[cell] == kNowhere || replaces(v, best[cell], greatest(), element)) {
        best[cell] = v;
        index[cell] = at_index;
      }
    }
  }

  double as_number(Value v) const { return is_floating(element) ? v.number : convert(v, element, Type::f64).number; }
  int64_t as_integer(Value v) const {
    return is_floating(element) ? convert(v, element, accumulator).integer : v.integer;
  }
  int64_t truth(Value v) const { return is_floating(element) ? v.number != 0 : v.integer != 0; }

  // Magnitude and marks, before add_value of the same element.
  void add_marks(int64_t cell, Value v, double m, uint8_t f, double bound) {
    bool inexact = (f & kInexact) != 0;
    flags[cell] |= f;
    if (!is_floating(element)) {
      magnitude[cell] += std::fabs(as_number(v));
      unrounded[cell] += as_number(v);
      return;
    }
    if (indexed() || extreme()) {
      double sign = greatest() ? 1 : -1, reach = sign * v.number + (inexact ? bound * m : 0);
      if (index[cell] == kNowhere || replaces(v, best[cell], greatest(), element)) {
        if (index[cell] != kNowhere) // the one that is replaced becomes a rival
          rival[cell] = std::max(rival[cell], sign * best[cell].number + (coarse[cell] ? bound * magnitude[cell] : 0));
        magnitude[cell] = m;
        coarse[cell] = inexact;
      } else {
        rival[cell] = std::max(rival[cell], reach);
        if (extreme() && reach >= sign * best[cell].number - bound * magnitude[cell])
          magnitude[cell] = std::max(magnitude[cell], m);
      }
      return;
    }
    if (monoid == Monoid::product) {
      double before = wide ? static_cast<double>(wide_sum[cell]) : narrow_sum[cell];
      magnitude[cell] = magnitude[cell] * std::fabs(v.number) + std::fabs(before) * m + std::fabs(before * v.number);
      coarse[cell] |= !is_exact(before * v.number, accumulator);
      return;
    }
    magnitude[cell] += m;
    unrounded[cell] += std::isinf(v.number) && m > 0 ? std::copysign(m, v.number) : v.number;
    coarse[cell] |= v.number * 16 != std::nearbyint(v.number * 16);
  }

  Value finish(int64_t cell, Type to) const {
    if (indexed())
      return convert(integer_value(index[cell] == kNowhere ? -1 : index[cell]), Type::i64, to);
    if (extreme())
      return convert(best[cell], element, to);
    if (monoid == Monoid::any || monoid == Monoid::all)
      return convert(integer_value(integer_sum[cell]), Type::i64, to);
    if (!floating())
      return convert(integer_value(wrap(integer_sum[cell], accumulator)), accumulator, to);
    long double sum = wide ? wide_sum[cell] : narrow_sum[cell];
    if (monoid == Monoid::mean)
      sum = count[cell] == 0 ? NAN : sum / count[cell];
    double rounded = static_cast<double>(sum);
    if (reference && is_floating(to))
      return number_value(std::fabs(rounded) > largest_finite(to) ? std::copysign(INFINITY, rounded) : rounded);
    return convert(number_value(round_to(rounded, accumulator)), accumulator, to);
  }

  // After finish.
  void finish_marks(int64_t cell, Type to, Value value, double bound, double &m, uint8_t &f) const {
    m = 0;
    f = flags[cell] & kUndecided;
    if (indexed()) {
      double sign = greatest() ? 1 : -1;
      bool inexact = (flags[cell] & kInexact) != 0;
      double low = index[cell] == kNowhere || !is_floating(element)
                       ? INFINITY
                       : sign * best[cell].number - (coarse[cell] ? bound * magnitude[cell] : 0);
      if (inexact && rival[cell] >= low)
        f |= kUndecided;
      return;
    }
    if (!is_floating(to))
      return;
    m = std::isfinite(value.number) ? std::max(magnitude[cell], std::fabs(value.number)) : 0;
    bool inexact = (flags[cell] & kInexact) != 0;
    if (sums()) {
      double limit = std::ldexp(1.0, type_row(accumulator).significand_bits - 4);
      inexact = inexact || coarse[cell] != 0 || !(magnitude[cell] < limit);
      if (monoid != Monoid::product && floating() &&
          overflows_in_some_order(unrounded[cell], magnitude[cell], accumulator))
        f |= kUndecided;
      if (monoid == Monoid::mean) {
        m = count[cell] == 0 ? 0 : magnitude[cell] / count[cell] + std::fabs(value.number);
        inexact = inexact || !is_exact(value.number, to);
      }
    }
    if (inexact)
      f |= kInexact;
  }
};

} // namespace

// A fold or scan keeps its value while nothing changes, so that chunks of what stands around it do not repeat it.
Tensor Run::remembered(ExprId id, Tensor (Run::*compute)(ExprId)) {
  const Expr &e = kernel_.expr(id);
  MaskPtr outer = mask_;
  // A condition says nothing about the lanes that are folded.
  AxisSet folded = e.op == Op::scan ? AxisSet::of(e.axis) : e.reduced;
  mask_ = project(mask_, AxisSet(~folded.bits()));
  Box saved = box_;
  if (e.op == Op::scan) // never in parts
    box_[e.axis] = range_of({id}, e.axis);
  std::vector<Range> ranges;
  for (AxisId axis : e.axes.list())
    ranges.push_back(box_[axis]);
  Memo &memo = memo_[id];
  uint64_t mask = mask_ ? mask_->id : 0;
  if (memo.epoch != epoch_ || memo.mask != mask || memo.ranges != ranges) {
    Tensor tensor = (this->*compute)(id);
    memo_[id] = {epoch_, mask, std::move(ranges), std::move(tensor)};
  }
  Tensor out = memo_[id].tensor;
  if (e.op == Op::scan)
    out = out.shifted((saved[e.axis].lo - box_[e.axis].lo) * out.stride_of(e.axis));
  box_ = saved;
  mask_ = outer;
  return out;
}

Tensor Run::fold(ExprId id) {
  const Expr &e = kernel_.expr(id);
  ExprId element_id = e.args[0], where_id = e.args.size() > 1 ? e.args[1] : kNone;
  Type element_type = kernel_.expr(element_id).type;
  AxisSet lanes = kernel_.expr(element_id).axes | e.reduced;
  if (where_id != kNone)
    lanes |= kernel_.expr(where_id).axes;
  for (AxisId axis : e.reduced.list())
    if (kernel_.axes[axis].ragged != kNone && e.axes.contains(kernel_.axes[axis].over))
      lanes |= AxisSet::of(kernel_.axes[axis].over);
  AxisSet kept = lanes - e.reduced;
  Box saved = box_;
  int64_t reduced_count = 1;
  for (AxisId axis : e.reduced.list()) {
    box_[axis] = range_of({element_id, where_id}, axis);
    reduced_count *= box_[axis].count();
  }
  result_.longest_reduction = std::max(result_.longest_reduction, reduced_count);
  Buffer *buffer;
  int64_t cells_count;
  Tensor out = new_tensor(kept, buffer, cells_count);
  Cells cells(e, element_type, cells_count, reference_);
  AxisId index_axis = cells.indexed() ? e.reduced.list().front() : kNone;
  MaskPtr ragged = ragged_mask(lanes);
  MaskPtr outer = mask_;
  Box entry = box_;
  double bound = model().bound;

  for_each_chunk(lanes, [&] {
    Tensor where;
    mask_ = outer;
    if (ragged && (info_[element_id].dynamic || (where_id != kNone && info_[where_id].dynamic)))
      mask_ = minus(mask_, minus(nullptr, ragged));
    if (where_id != kNone) {
      where = eval_to(where_id, Type::boolean, false);
      if (info_[element_id].dynamic)
        mask_ = and_mask(mask_, where, false, false);
      bool any = false;
      Loop probe(where.axes, box_);
      probe.add(where);
      probe.run([&](const int64_t *at, int64_t n, const int64_t *stride) {
        for (int64_t i = 0; i < n && !any; ++i) {
          int64_t lane = at[0] + i * stride[0];
          any = where.data[lane].integer != 0 || (reference_ && (where.flags[lane] & kUndecided) != 0);
        }
      });
      if (!any)
        return;
    }
    Tensor element = eval(element_id);
    int64_t base = 0;
    for (AxisId axis : kept.list())
      base += (box_[axis].lo - entry[axis].lo) * out.stride_of(axis);
    const uint8_t *rows = ragged ? ragged->lanes.data() + mask_offset(*ragged) : nullptr;
    auto row = [&](const int64_t *at, int64_t n, const int64_t *stride, int64_t first_index, int64_t index_step) {
      work(n);
      if (where_id == kNone && !ragged && !reference_ && e.monoid == Monoid::sum && !cells.narrow_sum.empty() &&
          is_floating(element_type)) { // the common case, short
        const Value *values = element.data + at[0];
        double *sums = cells.narrow_sum.data() + base + at[1];
        for (int64_t i = 0; i < n; ++i)
          sums[i * stride[1]] += values[i * stride[0]].number;
        return;
      }
      for (int64_t i = 0; i < n; ++i) {
        int64_t cell = base + at[1] + i * stride[1];
        uint8_t doubt = 0;
        if (rows && rows[at[3] + i * stride[3]] == 0)
          continue;
        if (where_id != kNone) {
          int64_t lane = at[2] + i * stride[2];
          doubt = reference_ ? where.flags[lane] & kUndecided : 0;
          if (where.data[lane].integer == 0) {
            if (doubt != 0)
              cells.flags[cell] |= kUndecided;
            continue;
          }
        }
        int64_t lane = at[0] + i * stride[0];
        Value v = element.data[lane];
        if (reference_)
          cells.add_marks(cell, v, element.magnitudes[lane], element.flags[lane] | doubt, bound);
        cells.add_value(cell, v, first_index + i * index_step);
        ++cells.count[cell];
      }
    };
    Tensor none; // strides 0 where there is no condition, no ragged axis
    if (index_axis == kNone) {
      Loop loop(lanes, box_);
      loop.add(element);
      loop.add(out);
      loop.add(where_id == kNone ? none : where);
      ragged ? loop.add(*ragged) : loop.add(none);
      loop.run([&](const int64_t *at, int64_t n, const int64_t *stride) { row(at, n, stride, 0, 0); });
      return;
    }
    for_each_row(lanes, [&](AxisId inner, int64_t n) {
      int64_t ragged_at = 0;
      for (AxisId axis : ragged ? ragged->axes.list() : std::vector<AxisId>())
        ragged_at += axis == inner ? 0 : (pos_[axis] - box_[axis].lo) * ragged->stride_of(axis);
      int64_t at[4] = {row_offset(element, inner), row_offset(out, inner),
                       where_id == kNone ? 0 : row_offset(where, inner), ragged_at};
      int64_t stride[4] = {element.stride_of(inner), out.stride_of(inner), where.stride_of(inner),
                           ragged ? ragged->stride_of(inner) : 0};
      bool along = inner == index_axis;
      row(at, n, stride, start_[index_axis] + (along ? box_[inner].lo : pos_[index_axis]), along ? 1 : 0);
    });
  });

  mask_ = outer;
  box_ = saved;
  if (where_id == kNone && !ragged) // the short loop does not count
    cells.count.assign(cells.count.size(), reduced_count);
  for (int64_t cell = 0; cell < cells_count; ++cell) {
    buffer->values[cell] = cells.finish(cell, e.type);
    if (reference_)
      cells.finish_marks(cell, e.type, buffer->values[cell], bound, buffer->magnitudes[cell], buffer->flags[cell]);
  }
  return out;
}

namespace {

// What a scan carries along.
struct Carry {
  ScanKind kind;
  Type type;
  long double number = 0;
  int64_t integer = 0;
  Value best;
  double magnitude = 0;
  uint8_t flags = 0;
  bool coarse = false;
  // Of products and recurrences: what all terms together are at most, and what they are multiples of.
  double most = 0, grain = INFINITY;

  Carry(ScanKind scan_kind, Type accumulator) : kind(scan_kind), type(accumulator), best(lowest_value(accumulator)) {
    number = kind == ScanKind::product ? 1 : 0;
    integer = kind == ScanKind::product ? 1 : 0;
    magnitude = kind == ScanKind::product ? 1 : 0;
    most = magnitude;
    grain = kind == ScanKind::product ? 1 : INFINITY;
  }

  void add(Value v, Value factor, bool reference) {
    uint64_t total = static_cast<uint64_t>(integer), own = static_cast<uint64_t>(v.integer);
    if (kind == ScanKind::max) {
      if (replaces(v, best, true, type))
        best = v;
    } else if (!is_floating(type)) {
      total = kind == ScanKind::sum       ? total + own
              : kind == ScanKind::product ? total * own
                                          : total * static_cast<uint64_t>(factor.integer) + own;
      integer = wrap(static_cast<int64_t>(total), type);
    } else {
      number = kind == ScanKind::sum       ? number + v.number
               : kind == ScanKind::product ? number * v.number
                                           : number * factor.number + v.number;
      // A recurrence does not end in its sum: what it carries has the type's precision, as on every target.
      if (kind == ScanKind::linear && !reference)
        number = round_to(static_cast<double>(number), type);
    }
  }

  void add_marks(Value v, double m, uint8_t f, Value factor, double factor_magnitude) {
    flags |= f;
    if (!is_floating(type))
      return;
    double before = std::fabs(static_cast<double>(number));
    if (kind == ScanKind::max) {
      magnitude = std::max(magnitude, m);
      return;
    }
    magnitude = kind == ScanKind::sum ? magnitude + m
                : kind == ScanKind::product
                    ? magnitude * std::fabs(v.number) + before * m + before * std::fabs(v.number)
                    : magnitude * std::fabs(factor.number) + before * factor_magnitude + m +
                          0.25 * std::fabs(static_cast<double>(number) * factor.number + v.number);
    if (kind == ScanKind::sum) {
      coarse = coarse || v.number * 16 != std::nearbyint(v.number * 16);
      return;
    }
    // A product or a recurrence is exact in whatever order its steps are joined when all terms are multiples of one
    // power of two, and few.
    const double by = kind == ScanKind::linear ? factor.number : v.number;
    most = most * std::fabs(by) + (kind == ScanKind::linear ? std::fabs(v.number) : 0);
    grain = std::min(grain * grain_of(by), kind == ScanKind::linear ? grain_of(v.number) : INFINITY);
    coarse = coarse || most > std::ldexp(grain, type_row(type).significand_bits - 1);
  }

  // The greatest power of two that the number is a multiple of.
  static double grain_of(double number) {
    if (number == 0 || !std::isfinite(number))
      return INFINITY;
    int exponent = 0;
    const auto digits = static_cast<int64_t>(std::ldexp(std::fabs(std::frexp(number, &exponent)), 53));
    return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
  }

  Value value() const {
    if (kind == ScanKind::max)
      return best;
    if (!is_floating(type))
      return integer_value(integer);
    return number_value(static_cast<double>(number));
  }
};

} // namespace

Tensor Run::scan(ExprId id) {
  const Expr &e = kernel_.expr(id);
  ExprId value_id = e.scan == ScanKind::linear ? e.args[1] : e.args[0];
  Range along = box_[e.axis];
  result_.longest_reduction = std::max(result_.longest_reduction, along.count());
  AxisSet axes = e.axes | AxisSet::of(e.axis);
  MaskPtr ragged = ragged_mask(axes), outer = mask_;
  if (ragged)
    mask_ = minus(mask_, minus(nullptr, ragged));
  Tensor v = eval_to(value_id, e.accumulator, false);
  Tensor factor = e.scan == ScanKind::linear ? eval_to(e.args[0], e.accumulator, false) : Tensor();
  mask_ = outer;
  Buffer *buffer;
  int64_t lanes;
  Tensor out = new_tensor(axes, buffer, lanes);
  work(lanes);
  const uint8_t *rows = ragged ? ragged->lanes.data() + mask_offset(*ragged) : nullptr;
  int64_t n = along.count(), step_v = v.stride_of(e.axis), step_f = factor.stride_of(e.axis);
  int64_t step_o = out.stride_of(e.axis), step_r = ragged ? ragged->stride_of(e.axis) : 0;
  Box box = box_;
  box[e.axis] = {0, 1};
  Loop loop(axes, box);
  loop.add(out);
  loop.add(v);
  loop.add(factor);
  Tensor none;
  ragged ? loop.add(*ragged) : loop.add(none);
  double limit = std::ldexp(1.0, type_row(e.accumulator).significand_bits - 4);
  loop.run([&](const int64_t *at, int64_t count, const int64_t *stride) {
    for (int64_t i = 0; i < count; ++i) {
      Carry carry(e.scan, e.accumulator);
      for (int64_t k = 0; k < n && n > 0; ++k) {
        int64_t p = e.reverse ? n - 1 - k : k;
        if (rows && rows[at[3] + i * stride[3] + p * step_r] == 0)
          continue;
        int64_t from = at[1] + i * stride[1] + p * step_v, to = at[0] + i * stride[0] + p * step_o;
        Value multiplier = factor.data ? factor.data[at[2] + i * stride[2] + p * step_f] : integer_value(0);
        auto put = [&] {
          buffer->values[to] = carry.value();
          if (reference_) {
            bool small = e.scan == ScanKind::linear || e.scan == ScanKind::product || carry.magnitude < limit;
            bool exact = (carry.flags & kInexact) == 0 && !carry.coarse && small;
            buffer->magnitudes[to] = carry.magnitude;
            if (e.scan == ScanKind::sum && is_floating(e.accumulator) &&
                overflows_in_some_order(static_cast<double>(carry.number), carry.magnitude, e.accumulator))
              carry.flags |= kUndecided;
            buffer->flags[to] = (carry.flags & kUndecided) | (exact || !is_floating(e.accumulator) ? 0 : kInexact);
          } else if (is_floating(e.accumulator)) {
            buffer->values[to].number = round_to(buffer->values[to].number, e.accumulator);
          }
        };
        if (e.exclusive)
          put();
        if (reference_) {
          int64_t f = at[2] + i * stride[2] + p * step_f;
          carry.add_marks(v.data[from], v.magnitudes[from], v.flags[from] | (factor.data ? factor.flags[f] : 0),
                          multiplier, factor.data ? factor.magnitudes[f] : 0);
        }
        carry.add(v.data[from], multiplier, reference_);
        if (!e.exclusive)
          put();
      }
    }
  });
  return converted(out, e.accumulator, e.type);
}

} // namespace kgen::interpreter
