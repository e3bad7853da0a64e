// Rules by which products take up what the forward kernel has computed.
#include "grad/graph.h"

#include <algorithm>

namespace kgen::grad {

using Kind = Node::Kind;

void Graph::know_product(NodeId id) {
  const Node &n = node(id);
  if (n.kind == Kind::choose && is_zero(n.args[2]))
    return know_masked(id);
  if (n.kind != Kind::op || (n.op != Op::mul && n.op != Op::div) || !kgen::is_floating(n.type))
    return;
  Factors factors = factors_of(n.args[0]), more = factors_of(n.args[1]);
  for (const auto &[factor, power] : more.powers)
    factors.powers[factor] += n.op == Op::mul ? power : -power;
  if (factors.number == 1 && more.number == 1 && factors.powers.size() == 2)
    known_.emplace_back(factors, id);
}

// Rule "known quotient": e / s is y where the forward kernel has computed y = e / s.
void Graph::use_known(Factors &factors) const {
  for (const auto &[known, id] : known_)
    if (std::all_of(known.powers.begin(), known.powers.end(), [&](const auto &factor) {
          const auto found = factors.powers.find(factor.first);
          return found != factors.powers.end() && found->second * factor.second >= factor.second * factor.second;
        })) {
      for (const auto &[factor, power] : known.powers)
        if ((factors.powers[factor] -= power) == 0)
          factors.powers.erase(factor);
      ++factors.powers[id];
    }
}

void Graph::know_masked(NodeId id) {
  const Node n = node(id), quotient = node(n.args[1]);
  if (quotient.kind != Kind::op || quotient.op != Op::div || !kgen::is_floating(quotient.type))
    return;
  const NodeId divided = quotient.args[0];
  const Node e = node(divided);
  const NodeId there = e.kind == Kind::choose && e.args[0] == n.args[0] ? e.args[1] : divided;
  masked_.push_back({n.args[0], n.args[1], divided, there, quotient.args[1], id});
}

// Rule "known where": where m holds e / s is y, if the forward kernel has computed y = m ? e / s : 0.
NodeId Graph::known_where(NodeId condition, NodeId value) {
  for (const Masked &known : masked_) {
    if (condition == kNoNode || !asks(condition, known.condition) || node(value).kind != Kind::product)
      continue;
    Factors factors = factors_of(value);
    if (const auto found = factors.powers.find(known.quotient); found != factors.powers.end() && found->second == 1) {
      factors.powers.erase(found);
      ++factors.powers[known.value];
    }
    for (NodeId divided : {known.divided, known.there})
      if (const auto found = factors.powers.find(divided); found != factors.powers.end() && found->second == 1 &&
                                                           factors.powers.count(known.by) != 0 &&
                                                           factors.powers[known.by] < 0) {
        factors.powers.erase(found);
        ++factors.powers[known.by];
        ++factors.powers[known.value];
      }
    value = product(factors);
  }
  return value;
}

// Rule "mean": a sum over axes, divided by their sizes.
void Graph::use_means(Factors &factors) {
  for (const auto &[factor, power] : factors.powers) {
    const Node n = node(factor);
    if (n.kind != Kind::fold || n.monoid != Monoid::sum || n.args.size() != 1 || power != 1)
      continue;
    std::vector<NodeId> sizes;
    bool divided = true;
    for (AxisId axis : n.reduced.list()) {
      sizes.push_back(real(size_of(axis)));
      const auto found = factors.powers.find(sizes.back());
      divided = divided && found != factors.powers.end() && found->second <= -1;
    }
    if (!divided)
      continue;
    const NodeId mean = fold(Monoid::mean, n.args[0], n.reduced, kNoNode, Type::f32);
    factors.powers.erase(factor);
    for (NodeId size : sizes)
      if (++factors.powers[size] == 0)
        factors.powers.erase(size);
    ++factors.powers[mean];
    return;
  }
}

void Graph::know_sum(NodeId id) {
  const Factors factors = all_factors(id, kNoNode);
  if (factors.powers.size() != 1 || factors.powers.begin()->second != 1)
    return;
  const NodeId fold = factors.powers.begin()->first;
  if (const Node &n = node(fold); n.kind == Kind::fold && n.monoid == Monoid::sum)
    known_sums_.push_back({fold, id, factors.number});
}

// Of products of the forward kernel, too, where the condition holds.
Graph::Factors Graph::all_factors(NodeId id, NodeId where) const {
  const Node &n = node(id);
  if (n.kind == Kind::choose && where != kNoNode && asks(where, n.args[0]))
    return all_factors(n.args[1], where);
  if (n.kind != Kind::op || n.op != Op::mul)
    return factors_of(id);
  Factors out = all_factors(n.args[0], where);
  out.multiply(all_factors(n.args[1], where));
  return out;
}

// Rule "known sum": the sum of p * dot(d, v, D) along R is dot(d, o, D) where the forward kernel gives the sum o of p *
// v along R. kNoNode: it is no such sum.
NodeId Graph::by_known_sum(const Factors &factors, AxisSet over, NodeId where) {
  if (known_sums_.empty())
    return kNoNode;
  for (const auto &[inner, times] : factors.powers) {
    const Node n = node(inner);
    if (n.kind != Kind::fold || n.monoid != Monoid::sum || n.args.size() != 1 || times != 1)
      continue;
    Factors others = factors;
    others.powers.erase(inner);
    for (const KnownSum &known : known_sums_) {
      const Node &sum = node(known.fold);
      if (sum.reduced == over && (sum.args.size() > 1 ? sum.args[1] : kNoNode) == where)
        if (std::optional<Factors> rest = besides(others, n, all_factors(sum.args[0], where), over)) {
          rest->number /= known.times;
          return this->sum(mul(product(std::move(*rest)), known.value), n.reduced);
        }
    }
  }
  return kNoNode;
}

// What is left of these factors and of those of an inner sum without the given ones: nothing of it may differ along the
// axes of the outer sum.
std::optional<Graph::Factors> Graph::besides(const Factors &others, const Node &inner, const Factors &given,
                                             AxisSet over) const {
  Factors out = all_factors(inner.args[0], kNoNode);
  out.multiply(others);
  out.divide(given);
  for (const auto &[factor, power] : others.powers)
    if (!(axes(factor) & inner.reduced).empty())
      return std::nullopt;
  std::erase_if(out.powers, [](const auto &factor) { return factor.second == 0; });
  for (const auto &[factor, power] : out.powers)
    if (power < 0 || !(axes(factor) & over).empty())
      return std::nullopt;
  return out;
}

void Graph::know_logarithm(NodeId id) {
  const Node sum = node(id);
  if (sum.kind != Kind::op || (sum.op != Op::add && sum.op != Op::sub))
    return;
  std::vector<std::pair<NodeId, double>> terms;
  forward_terms(id, 1, terms);
  for (const auto &[term, times] : terms)
    if (const Node &n = node(term); n.kind == Kind::op && n.op == Op::log && (times == 1 || times == -1))
      logarithms_.push_back({term, n.args[0], id, times});
}

// Of sums and differences of the forward kernel, too.
void Graph::forward_terms(NodeId id, double times, std::vector<std::pair<NodeId, double>> &out) {
  const Node n = node(id);
  if (n.kind != Kind::op || (n.op != Op::add && n.op != Op::sub) || !kgen::is_floating(n.type))
    return terms_of(id, times, out);
  forward_terms(n.args[0], times, out);
  forward_terms(n.args[1], n.op == Op::add ? times : -times, out);
}

// x - log(t), where the sum that holds log(t) says it in no more terms than x has; else kNoNode. Of what the sum has
// besides, nothing may come in: it would cost digits where it goes out again, and a mask of infinities would be a NaN.
NodeId Graph::without_logarithm(NodeId exponent, NodeId of) {
  std::vector<std::pair<NodeId, double>> terms;
  forward_terms(exponent, 1, terms);
  const size_t before = terms.size();
  const AxisSet lanes = axes(exponent) | axes(of);
  for (const Logarithm &known : logarithms_) {
    if (known.of != of || !lanes.contains(axes(known.sum)))
      continue;
    std::vector<std::pair<NodeId, double>> may_stand = terms;
    terms_of(known.sum, 1, may_stand);
    // With sum = times * log(t) + rest, x - log(t) is x - times * (sum - rest).
    std::vector<std::pair<NodeId, double>> after = terms;
    terms_of(known.sum, -known.times, after);
    forward_terms(known.sum, known.times, after);
    terms_of(known.log, -1, after);
    std::erase_if(after, [](const auto &term) { return term.second == 0; });
    const bool comes_in = std::any_of(after.begin(), after.end(), [&](const auto &term) {
      return std::none_of(may_stand.begin(), may_stand.end(), [&](const auto &t) { return t.first == term.first; });
    });
    if (after.size() > before || comes_in)
      continue;
    NodeId out = number(0);
    for (const auto &[term, times] : after)
      out = add(out, mul(number(times), term));
    return out;
  }
  return kNoNode;
}

// Rule "known logarithm": exp(x - m) / t is exp(x - l) where the forward kernel gives l = m + log(t).
void Graph::use_logarithms(Factors &factors) {
  if (logarithms_.empty())
    return;
  for (const auto &[factor, power] : std::map(factors.powers)) {
    const Node n = node(factor);
    if (n.kind != Kind::op || n.op != Op::exp || power < 1)
      continue;
    for (const auto &[under, count] : std::map(factors.powers)) {
      const NodeId exponent = count < 0 ? without_logarithm(n.args[0], under) : kNoNode;
      if (exponent == kNoNode)
        continue;
      if (--factors.powers[factor] == 0)
        factors.powers.erase(factor);
      if (++factors.powers[under] == 0)
        factors.powers.erase(under);
      ++factors.powers[op(Op::exp, {exponent}, Type::f32)];
      return use_logarithms(factors);
    }
  }
}

} // namespace kgen::grad
