// Polynomials over atoms, and the search for a proof that one is not negative. The search is bounded by kBudget
// replacements for one proof; what is not found within it counts as not provable here (isl or a check may settle it).
#include "analysis/symbols.h"

#include <algorithm>

#include "analysis/facts.h"

namespace kgen {
namespace {

constexpr int kBudget = 400;
constexpr int kTotalBudget = 20000; // of all proofs with one set of symbols
constexpr int kDepth = 16;
constexpr size_t kMaxTerms = 200;

void add_term(Polynomial &p, const Monomial &m, int64_t c) {
  int64_t &slot = p.terms[m];
  if (__builtin_add_overflow(slot, c, &slot))
    p.overflow = true;
  if (slot == 0)
    p.terms.erase(m);
  if (p.terms.size() > kMaxTerms)
    p.overflow = true;
}

Polynomial of_atom(int id) {
  Polynomial p;
  p.terms[{id}] = 1;
  return p;
}

const Axis *find_axis(const Kernel &kernel, std::string_view name) {
  for (const Axis &axis : kernel.axes)
    if (axis.name == name)
      return &axis;
  return nullptr;
}

GridId find_grid(const Kernel &kernel, std::string_view name) {
  for (size_t g = 0; g < kernel.grid.size(); ++g)
    if (kernel.grid[g].name == name)
      return static_cast<GridId>(g);
  return kNone;
}

bool is_argument(const Axis &axis) { return axis.size.op == Size::Op::axis && axis.size.name == axis.name; }

} // namespace

Polynomial Polynomial::constant(int64_t value) {
  Polynomial p;
  if (value != 0)
    p.terms[{}] = value;
  return p;
}

std::optional<int64_t> Polynomial::as_constant() const {
  if (overflow || terms.size() > 1)
    return std::nullopt;
  if (terms.empty())
    return 0;
  if (!terms.begin()->first.empty())
    return std::nullopt;
  return terms.begin()->second;
}

Polynomial operator+(const Polynomial &a, const Polynomial &b) {
  Polynomial out = a;
  out.overflow |= b.overflow;
  for (const auto &[m, c] : b.terms)
    add_term(out, m, c);
  return out;
}

Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial out;
  out.overflow = a.overflow || b.overflow;
  for (const auto &[ma, ca] : a.terms)
    for (const auto &[mb, cb] : b.terms) {
      Monomial m;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), std::back_inserter(m));
      int64_t c = 0;
      if (__builtin_mul_overflow(ca, cb, &c))
        out.overflow = true;
      else
        add_term(out, m, c);
      if (out.overflow)
        return out;
    }
  return out;
}

Polynomial operator-(const Polynomial &a, const Polynomial &b) { return a + b * Polynomial::constant(-1); }

Symbols::Symbols(const Kernel &kernel, std::vector<Size> positive) : kernel_(kernel), positive_(std::move(positive)) {
  // Of axes that are computed from others, it is the definition that is positive.
  for (const Size &size : positive_)
    for (const Axis &axis : kernel_.axes)
      if (size == Size::axis(axis.name) && !is_argument(axis))
        assumed_.push_back(polynomial(axis.size) - Polynomial::constant(1));
}

void Symbols::add_variable(const std::string &name, const Size &count, uint64_t bit) {
  variables_[name] = {count, bit};
}

int Symbols::find_atom(const Size &canonical) {
  const auto found = by_text_.find(to_string(canonical));
  return found == by_text_.end() ? kNone : found->second;
}

// Adds the atom unless one with the same text is there.
Polynomial Symbols::atom_polynomial(Atom atom) {
  const std::string text = to_string(atom.size);
  const auto found = by_text_.find(text);
  if (found != by_text_.end())
    return of_atom(found->second);
  const int id = static_cast<int>(atoms_.size());
  for (const Polynomial &arg : atom.args) {
    atom.steps |= steps_of(arg);
    atom.reads_table |= reads_table(arg);
  }
  if (std::find(positive_.begin(), positive_.end(), atom.size) != positive_.end())
    atom.low = std::max<int64_t>(atom.low.value_or(1), 1);
  atoms_.push_back(std::move(atom));
  by_text_[text] = id;
  return of_atom(id);
}

Polynomial Symbols::axis_polynomial(const std::string &name) {
  const Axis *axis = find_axis(kernel_, name);
  Atom atom;
  atom.kind = Atom::Kind::axis;
  atom.size = Size::axis(name);
  atom.name = name;
  atom.low = 0;
  if (axis != nullptr && !is_argument(*axis)) {
    const Polynomial value = polynomial(axis->size);
    if (value.as_constant())
      return value;
    atom.defined.push_back(value);
  }
  return atom_polynomial(std::move(atom));
}

Polynomial Symbols::step_polynomial(const std::string &name) {
  const int known = find_atom(Size::grid(name));
  if (known != kNone)
    return of_atom(known);
  Atom atom;
  atom.kind = Atom::Kind::step;
  atom.size = Size::grid(name);
  atom.name = name;
  atom.low = 0;
  const auto variable = variables_.find(name);
  if (variable != variables_.end()) {
    atom.upper.push_back(polynomial(variable->second.first) - Polynomial::constant(1));
    atom.steps = variable->second.second;
    return atom_polynomial(std::move(atom));
  }
  const GridId grid = find_grid(kernel_, name);
  if (grid != kNone) {
    const Polynomial steps = polynomial(grid_steps(kernel_, grid));
    if (steps.as_constant() == 1)
      return Polynomial::constant(0);
    atom.grid = grid;
    atom.steps = fixed_steps_ ? 0 : uint64_t{1} << grid;
    atom.upper.push_back(steps - Polynomial::constant(1));
  } else {
    atom.low.reset(); // some value that nothing is known of
  }
  return atom_polynomial(std::move(atom));
}

// Lower bounds, and the rough upper one, of a quotient, once its arguments are known.
void Symbols::bound_quotient(Atom &atom) {
  const Polynomial &e = atom.args[0];
  const Polynomial &d = atom.args[1];
  if (!nonnegative(d - Polynomial::constant(1)))
    return;
  const bool natural = nonnegative(e);
  if (atom.kind == Atom::Kind::modulo) {
    atom.low = 0;
    atom.upper.push_back(d - Polynomial::constant(1));
    if (natural)
      atom.upper.push_back(e);
    return;
  }
  if (!natural)
    return;
  atom.low = atom.kind == Atom::Kind::cdiv && nonnegative(e - Polynomial::constant(1)) ? 1 : 0;
  if (atom.kind == Atom::Kind::divide && nonnegative(e - d))
    atom.low = 1;
  // Of t < rounds * d the quotient is less than rounds.
  if (atom.kind == Atom::Kind::divide && e.terms.size() == 1 && e.terms.begin()->first.size() == 1 &&
      e.terms.begin()->second == 1)
    for (const Polynomial &most : atoms_[e.terms.begin()->first[0]].upper)
      if (const auto rounds = divide(most + Polynomial::constant(1), d))
        atom.upper.push_back(*rounds - Polynomial::constant(1));
  atom.upper.push_back(e);
}

// By what is declared of the table, or is so because its entries are where rows of a ragged axis begin.
void Symbols::bound_entry(Atom &atom) {
  const Table &table = kernel_.tables[atom.table];
  if (table.range) {
    atom.low = 0;
    atom.upper.push_back(polynomial(*table.range) - Polynomial::constant(1));
  }
  for (const Axis &axis : kernel_.axes)
    if (axis.ragged == atom.table) {
      atom.low = 0;
      atom.upper.push_back(polynomial(Size::axis(axis.name)));
    }
}

Polynomial Symbols::operation(const Size &size) {
  static const std::map<Size::Op, Atom::Kind> kKinds = {
      {Size::Op::cdiv, Atom::Kind::cdiv},     {Size::Op::divide, Atom::Kind::divide},
      {Size::Op::modulo, Atom::Kind::modulo}, {Size::Op::min, Atom::Kind::min},
      {Size::Op::max, Atom::Kind::max},       {Size::Op::table, Atom::Kind::table}};
  Atom atom;
  std::vector<Size> canonical;
  for (const Size &arg : size.args) {
    atom.args.push_back(polynomial(arg));
    canonical.push_back(size_of(atom.args.back()));
  }
  const auto kind = kKinds.find(size.op);
  atom.kind = kind == kKinds.end() ? Atom::Kind::other : kind->second;
  atom.size = size;
  atom.size.args = canonical;
  const int saved = budget_;
  switch (atom.kind) {
  case Atom::Kind::cdiv:
  case Atom::Kind::divide:
    if (atom.args[1].as_constant() == 1)
      return atom.args[0];
    if (const auto exact = divide(atom.args[0], atom.args[1]);
        exact && nonnegative(atom.args[1] - Polynomial::constant(1)))
      return *exact;
    bound_quotient(atom);
    break;
  case Atom::Kind::modulo:
    if (is_multiple(atom.args[0], atom.args[1]))
      return Polynomial{};
    if (divide(atom.args[0], atom.args[1]) && nonnegative(atom.args[1] - Polynomial::constant(1)))
      return Polynomial{};
    bound_quotient(atom);
    break;
  case Atom::Kind::min:
  case Atom::Kind::max: {
    const bool is_max = atom.kind == Atom::Kind::max;
    const Polynomial difference = atom.args[0] - atom.args[1];
    if (nonnegative(difference))
      return is_max ? atom.args[0] : atom.args[1];
    if (nonnegative(difference * Polynomial::constant(-1)))
      return is_max ? atom.args[1] : atom.args[0];
    for (const Polynomial &arg : atom.args)
      if (nonnegative(arg))
        atom.low = 0;
    if (!is_max && !(nonnegative(atom.args[0]) && nonnegative(atom.args[1])))
      atom.low.reset();
    for (const int64_t low : {1})
      if (const auto enough = [&](const Polynomial &p) { return nonnegative(p - Polynomial::constant(low)); };
          is_max ? enough(atom.args[0]) || enough(atom.args[1]) : enough(atom.args[0]) && enough(atom.args[1]))
        atom.low = low;
    break;
  }
  case Atom::Kind::table:
    atom.reads_table = true;
    for (size_t t = 0; t < kernel_.tables.size(); ++t)
      if (kernel_.tables[t].name == size.name)
        atom.table = static_cast<int>(t);
    if (atom.table != kNone)
      bound_entry(atom);
    break;
  default:
    break;
  }
  budget_ = saved;
  return atom_polynomial(std::move(atom));
}

Polynomial Symbols::polynomial(const Size &size) {
  switch (size.op) {
  case Size::Op::integer:
    return Polynomial::constant(size.value);
  case Size::Op::axis:
    return axis_polynomial(size.name);
  case Size::Op::grid:
    return step_polynomial(size.name);
  case Size::Op::grid_size: {
    const GridId grid = find_grid(kernel_, size.name);
    return grid == kNone ? operation(size) : polynomial(grid_steps(kernel_, grid));
  }
  case Size::Op::negate:
    return polynomial(size.args[0]) * Polynomial::constant(-1);
  case Size::Op::add:
    return polynomial(size.args[0]) + polynomial(size.args[1]);
  case Size::Op::subtract:
    return polynomial(size.args[0]) - polynomial(size.args[1]);
  case Size::Op::multiply:
    return polynomial(size.args[0]) * polynomial(size.args[1]);
  default:
    return operation(size);
  }
}

Size Symbols::size_of(const Polynomial &p) const {
  // Positive terms first, so that the text reads well.
  std::vector<std::pair<Monomial, int64_t>> terms(p.terms.begin(), p.terms.end());
  std::stable_sort(terms.begin(), terms.end(), [](const auto &a, const auto &b) {
    return std::pair(a.second < 0, a.first.empty()) < std::pair(b.second < 0, b.first.empty());
  });
  std::optional<Size> sum;
  for (const auto &[m, c] : terms) {
    const bool subtract = c < 0 && sum.has_value();
    std::optional<Size> product;
    const int64_t factor = subtract ? -c : c;
    if (factor != 1 || m.empty())
      product = Size::integer(factor);
    for (int id : m)
      product = product ? Size::make(Size::Op::multiply, {*product, atoms_[id].size}) : atoms_[id].size;
    sum = sum ? Size::make(subtract ? Size::Op::subtract : Size::Op::add, {*sum, *product}) : *product;
  }
  return sum.value_or(Size::integer(0));
}

uint64_t Symbols::steps_of(const Polynomial &p) const {
  uint64_t steps = 0;
  for (const auto &[m, c] : p.terms)
    for (int id : m)
      steps |= atoms_[id].steps;
  return steps;
}

bool Symbols::reads_table(const Polynomial &p) const {
  for (const auto &[m, c] : p.terms)
    for (int id : m)
      if (atoms_[id].reads_table)
        return true;
  return false;
}

bool Symbols::contains(const Polynomial &p, int atom) {
  return std::any_of(p.terms.begin(), p.terms.end(),
                     [&](const auto &term) { return std::binary_search(term.first.begin(), term.first.end(), atom); });
}

std::optional<std::pair<Polynomial, Polynomial>> Symbols::linear(const Polynomial &p, int atom) {
  Polynomial c, rest;
  for (const auto &[m, k] : p.terms) {
    const auto [from, to] = std::equal_range(m.begin(), m.end(), atom);
    if (to - from > 1)
      return std::nullopt;
    if (from == to) {
      add_term(rest, m, k);
      continue;
    }
    Monomial less = m;
    less.erase(less.begin() + (from - m.begin()));
    add_term(c, less, k);
  }
  c.overflow = rest.overflow = p.overflow;
  return std::pair(c, rest);
}

std::optional<Polynomial> Symbols::divide(const Polynomial &p, const Polynomial &d) {
  if (p.overflow || d.overflow || d.terms.empty())
    return std::nullopt;
  const auto &[lead, lead_c] = *d.terms.rbegin();
  Polynomial rest = p, quotient;
  for (int round = 0; !rest.terms.empty(); ++round) {
    const auto &[m, c] = *rest.terms.rbegin();
    if (round > 50 || c % lead_c != 0 || !std::includes(m.begin(), m.end(), lead.begin(), lead.end()))
      return std::nullopt;
    Monomial less;
    std::set_difference(m.begin(), m.end(), lead.begin(), lead.end(), std::back_inserter(less));
    Polynomial term;
    term.terms[less] = c / lead_c;
    quotient = quotient + term;
    rest = rest - term * d;
    if (rest.overflow)
      return std::nullopt;
  }
  return quotient;
}

bool Symbols::plainly_nonnegative(const Polynomial &p) const {
  bool natural = true, shifts = false;
  for (const auto &[m, c] : p.terms) {
    natural = natural && c >= 0;
    for (int id : m) {
      if (!atoms_[id].low)
        return false;
      natural = natural && *atoms_[id].low >= 0;
      shifts = shifts || *atoms_[id].low != 0;
    }
  }
  if (natural || !shifts || p.overflow)
    return natural && !p.overflow;
  Polynomial shifted;
  for (const auto &[m, c] : p.terms) {
    Polynomial term = Polynomial::constant(c);
    for (int id : m)
      term = term * (of_atom(id) + Polynomial::constant(*atoms_[id].low));
    shifted = shifted + term;
  }
  return !shifted.overflow &&
         std::all_of(shifted.terms.begin(), shifted.terms.end(), [](const auto &term) { return term.second >= 0; });
}

bool Symbols::nonnegative(const Polynomial &p) {
  if (budget_ <= 0)
    budget_ = kBudget;
  bool proved = prove(p, 0);
  // Or it is more than something assumed.
  for (size_t i = 0; !proved && i < assumed_.size(); ++i)
    proved = prove(p - assumed_[i], 0);
  budget_ = 0;
  return proved;
}

// Is every term a multiple of the number d, by what is declared of axes?
bool Symbols::is_multiple(const Polynomial &p, const Polynomial &d) const {
  const auto number = d.as_constant();
  if (!number || *number < 1 || *number > INT32_MAX || p.overflow)
    return false;
  return std::all_of(p.terms.begin(), p.terms.end(), [&](const auto &term) {
    int64_t factor = term.second % *number;
    for (int id : term.first)
      if (const Axis *axis = atoms_[id].kind == Atom::Kind::axis ? find_axis(kernel_, atoms_[id].name) : nullptr)
        factor = factor * (axis->multiple_of % *number) % *number;
    return factor == 0;
  });
}

// c * atom + rest >= 0, by what is known of the atom.
bool Symbols::prove_with(const Polynomial &c, const Polynomial &rest, int id, int depth) {
  const Atom &atom = atoms_[id];
  for (const Polynomial &value : atom.defined)
    if (prove(c * value + rest, depth))
      return true;
  const bool rising = plainly_nonnegative(c);
  const bool falling = !rising && plainly_nonnegative(c * Polynomial::constant(-1));
  const Polynomial one = Polynomial::constant(1);
  if (falling)
    for (const Polynomial &bound : atom.upper)
      if (prove(c * bound + rest, depth))
        return true;
  switch (atom.kind) {
  case Atom::Kind::cdiv:
  case Atom::Kind::divide: {
    const Polynomial &e = atom.args[0];
    const Polynomial &d = atom.args[1];
    if ((!rising && !falling) || !prove(d - one, depth))
      return false;
    // Multiplied by d >= 1: cdiv * d lies in e .. e + d - 1, the floor's in e - d + 1 .. e.
    const bool up = atom.kind == Atom::Kind::cdiv;
    const Polynomial bound = is_multiple(e, d) ? e : rising ? (up ? e : e - d + one) : (up ? e + d - one : e);
    const auto exact = divide(c, d);
    return exact ? prove(*exact * bound + rest, depth) : prove(c * bound + rest * d, depth);
  }
  case Atom::Kind::min:
  case Atom::Kind::max: {
    const bool helps = atom.kind == Atom::Kind::min ? falling : rising;
    const bool first = prove(c * atom.args[0] + rest, depth);
    if (helps && first)
      return true;
    return (helps || first) && prove(c * atom.args[1] + rest, depth);
  }
  default:
    return false;
  }
}

bool Symbols::prove(const Polynomial &p, int depth) {
  if (p.overflow || depth > kDepth || --budget_ <= 0 || ++spent_ > kTotalBudget)
    return false;
  if (const auto value = p.as_constant())
    return *value >= 0;
  if (plainly_nonnegative(p))
    return true;
  // Steps first, for their bounds bring in the quotients that then cancel.
  std::vector<std::pair<int, int>> order;
  for (const auto &[m, c] : p.terms)
    for (int id : m) {
      static constexpr int kRank[] = {6, 0, 1, 4, 5, 2, 3, 3, 7};
      order.emplace_back(kRank[static_cast<int>(atoms_[id].kind)], -id);
    }
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (const auto &[rank, negative_id] : order) {
    const auto split = linear(p, -negative_id);
    if (split && prove_with(split->first, split->second, -negative_id, depth + 1))
      return true;
  }
  return false;
}

Size expand_axes(const Kernel &kernel, const Size &size) {
  return rewrite(size, [&](const Size &node) -> std::optional<Size> {
    if (node.op != Size::Op::axis)
      return std::nullopt;
    const Axis *axis = find_axis(kernel, node.name);
    if (axis == nullptr || is_argument(*axis))
      return std::nullopt;
    return expand_axes(kernel, axis->size);
  });
}

} // namespace kgen
