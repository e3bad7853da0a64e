#include "body/companions.h"

#include <algorithm>
#include <map>

#include "body/definitions.h"
#include "support/text.h"

namespace kgen::body {
namespace {

// Those with so many axes; with `kept` also a where behind the first `given` parameters that follow the axes.
std::string companion(const Definition &f, size_t axis, size_t axes, bool kept, size_t given) {
  std::vector<std::string> takes, passes, bound;
  for (size_t a = 1; a <= axes; ++a)
    bound.push_back("kgen_axis_" + std::to_string(a));
  for (size_t p = 0; p < f.parameters.size(); ++p) {
    const Parameter &parameter = f.parameters[p];
    if (p == axis) {
      for (const std::string &one : bound) // exactly an axis, which as a number would do for what follows as well
        takes.push_back((takes.size() == axis ? "axis " : "kgen_an_axis auto ") + one);
      passes.push_back("kgen_axes(" + join(bound, ", ") + (kept ? ", kgen_kept)" : ")"));
    } else if (p < axis || p - axis <= given) {
      takes.push_back(parameter.declaration + (kept ? "" : " " + parameter.standard));
      passes.push_back(parameter.name);
    }
  }
  if (kept)
    takes.push_back("kgen_where kgen_kept");
  return f.before + f.name + "(" + join(takes, ", ") + ") { return " + f.name + "(" + join(passes, ", ") + "); }\n";
}

std::string companions_for(const Definition &f, size_t most_axes) {
  const auto is_axis = [](const Parameter &p) { return p.is_axis; };
  const bool named = std::ranges::all_of(f.parameters, [](const Parameter &p) { return !p.name.empty(); });
  if (std::ranges::count_if(f.parameters, is_axis) != 1 || !named)
    return "";
  const auto axis = static_cast<size_t>(std::ranges::find_if(f.parameters, is_axis) - f.parameters.begin());
  const size_t behind = f.parameters.size() - axis - 1;
  std::string out;
  for (size_t axes = 1; axes <= most_axes; ++axes) {
    if (axes > 1)
      out += companion(f, axis, axes, false, behind);
    for (size_t given = 0; given <= behind; ++given)
      if (given == behind || !f.parameters[axis + 1 + given].standard.empty())
        out += companion(f, axis, axes, true, given);
  }
  return out;
}

} // namespace

std::vector<Companions> companions_of(std::string_view text, size_t most_axes) {
  const std::vector<Definition> definitions = definitions_in(text);
  std::map<std::string, int> times;
  for (const Definition &f : definitions)
    ++times[f.name];
  std::vector<Companions> out;
  for (const Definition &f : definitions)
    if (std::string made = times[f.name] == 1 ? companions_for(f, most_axes) : ""; !made.empty())
      out.push_back({f.end, std::move(made)});
  return out;
}

} // namespace kgen::body
