// Gradients that the lanes store which read the input.
#include <algorithm>
#include <utility>

#include "grad/reverse.h"

namespace kgen::grad {

std::vector<InputGradient::Addition> stored_alone(Graph &graph, const InputGradient &gradient) {
  using Places = std::vector<std::pair<AxisId, NodeId>>;
  std::map<Places, std::vector<Part>> by_place;
  std::vector<InputGradient::Addition> out;
  if (!gradient.whole.empty() || !gradient.slices.empty() || !gradient.additions.empty())
    return out;
  for (const InputGradient::Stored &stored : gradient.stored) {
    std::vector<Part> &parts = by_place[stored.there.places];
    if (parts.empty())
      out.push_back(stored.there);
    parts.push_back(stored.there.part);
  }
  const auto is_number = [&](NodeId id) { return graph.node(id).kind == Node::Kind::number; };
  const auto apart = [&](const Places &a, const Places &b) { // at some axis, by different numbers
    return std::any_of(a.begin(), a.end(), [&](const auto &place) {
      return is_number(place.second) && std::any_of(b.begin(), b.end(), [&](const auto &other) {
               return other.first == place.first && is_number(other.second) && other.second != place.second;
             });
    });
  };
  for (size_t i = 0; i < out.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (!apart(out[i].places, out[k].places))
        return {};
  for (InputGradient::Addition &one : out)
    one.part = joined(graph, by_place.at(one.places));
  std::sort(out.begin(), out.end(), [&](const auto &a, const auto &b) { // by their places
    for (size_t i = 0; i < a.places.size() && i < b.places.size(); ++i)
      if (a.places[i].second != b.places[i].second)
        return graph.node(a.places[i].second).integer < graph.node(b.places[i].second).integer;
    return false;
  });
  return out;
}

void settle_stored(Graph &graph, Gradients &gradients, Trouble &trouble) {
  for (auto &[name, gradient] : gradients.of) {
    if (gradient.stored.empty() || !stored_alone(graph, gradient).empty())
      continue;
    for (const InputGradient::Stored &stored : std::exchange(gradient.stored, {}))
      if (stored.whole)
        gradient.whole.push_back(*stored.whole);
      else if (stored.may_add)
        gradient.additions.push_back(stored.there);
      else
        trouble.refuse_read(stored.there.place);
  }
}

} // namespace kgen::grad
