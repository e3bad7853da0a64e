#include "emit/text/each_once.h"

#include <algorithm>
#include <optional>

#include "emit/text/aligned_text.h"
#include "emit/text/comments.h"
#include "support/text.h"

namespace kgen {
namespace {

using Group = std::vector<const Printed *>;

const Variant &variant(const Printed &printed) { return printed.function->variations[0]->variant; }

// What the names of functions begin with.
size_t count_common_parts(const Group &group) {
  const std::vector<std::string> first = split(group[0]->function->stem, '_');
  size_t common = first.size();
  for (const Printed *one : group) {
    const std::vector<std::string> parts = split(one->function->stem, '_');
    common = std::min<size_t>(common, std::ranges::mismatch(first, parts).in1 - first.begin());
  }
  return common;
}

std::string joined_parts(const std::string &stem, size_t begin, size_t end) {
  const std::vector<std::string> parts = split(stem, '_');
  return join({parts.begin() + static_cast<std::ptrdiff_t>(begin), parts.begin() + static_cast<std::ptrdiff_t>(end)},
              "_");
}

// softmax; or, where another template has that name, softmax_bf16_or_f16.
std::string common_name(const Group &group) {
  return joined_parts(group[0]->function->stem, 0, count_common_parts(group));
}
std::string name_with_types(const Group &group) {
  const size_t common = count_common_parts(group);
  std::string out = common_name(group);
  for (size_t i = 0; i < std::min<size_t>(group.size(), 2); ++i) {
    const std::string &stem = group[i]->function->stem;
    const std::string types = joined_parts(stem, common, split(stem, '_').size());
    out += i == 0 ? "_" + types : group.size() == 2 ? "_or_" + types : "_and_others";
  }
  return out;
}

std::set<std::string> words_of_all(const Group &group) {
  std::set<std::string> out;
  for (const Printed *one : group)
    for (const std::string &text : one->texts)
      out.merge(words_of(text));
  return out;
}

// One for each type that differs between the functions, under a name that their texts do not have.
std::vector<TypeParameter> parameters_of(const Group &group, const std::set<std::string> &words) {
  std::vector<TypeParameter> out;
  for (const auto &[name, type] : variant(*group[0]).types) {
    TypeParameter parameter{name, {}};
    for (const Printed *one : group)
      parameter.types.push_back(variant(*one).types.at(name));
    if (std::ranges::adjacent_find(parameter.types, std::not_equal_to<>()) == parameter.types.end())
      continue;
    while (words.count(parameter.name) != 0 || c_name(parameter.name) != parameter.name)
      parameter.name += "Element";
    out.push_back(std::move(parameter));
  }
  return out;
}

struct Template {
  std::vector<TypeParameter> parameters;
  std::vector<StemNames> stems;
  std::vector<std::string> texts;
  std::set<std::string> names, templates, helpers; // names: of all that it defines
};

// Would a name hide something that the texts use, or another one of the file?
bool is_taken(const std::set<std::string> &made, const std::set<std::string> &words,
              const std::set<std::string> &others) {
  return std::ranges::any_of(made, [&](const std::string &name) {
    return words.count(name) != 0 || others.count(name) != 0 || is_helper_function(name) || c_name(name) != name;
  });
}

// Lanes<Value<T>, kLanesOf<T>>: Vector<T>
void name_vectors(const std::string &parameter, AlignedText &made) {
  const size_t before = made.text.size();
  for (const std::string &value : {"Value<" + parameter + ">", parameter})
    replace_all(made.text, "Lanes<" + value + ", kLanesOf<" + parameter + ">>", "Vector<" + parameter + ">");
  if (made.text.size() != before)
    made.helpers.insert("Vector");
}

std::optional<Template> aligned(const Group &group, const std::string &name, const std::set<std::string> &words) {
  Template out;
  out.parameters = parameters_of(group, words);
  out.stems = {{{}, name}, {{}, camel(name)}};
  for (const Printed *one : group) {
    out.stems[0].own.push_back(c_name(one->function->stem));
    out.stems[1].own.push_back(camel(c_name(one->function->stem)));
  }
  for (size_t t = 0; t < group[0]->texts.size(); ++t) {
    std::vector<std::string> texts;
    for (const Printed *one : group)
      texts.push_back(one->texts[t]);
    std::optional<AlignedText> made = align(texts, out.parameters, out.stems, out.templates);
    if (!made)
      return std::nullopt;
    for (const TypeParameter &parameter : out.parameters)
      name_vectors(parameter.name, *made);
    out.texts.push_back(std::move(made->text));
    out.helpers.merge(made->helpers);
    if (made->is_template)
      out.templates.insert(made->defined.begin(), made->defined.end());
    out.names.merge(made->defined);
  }
  return out;
}

class EachOnce {
public:
  EachOnce(Spelling &spelling, PrintedNames &names) : spelling_(spelling), names_(names) {}

  std::vector<std::string> run(const std::vector<Printed> &printed) {
    std::vector<Group> groups;
    for (const Printed &one : printed)
      add(one, groups);
    std::vector<std::string> out;
    for (const Group &group : groups) {
      const std::optional<Template> joined = group.size() > 1 ? made(group) : std::nullopt;
      if (joined)
        note(group, *joined);
      for (size_t i = 0; i < (joined ? 1 : group.size()); ++i) {
        const std::vector<std::string> &texts = joined ? joined->texts : group[i]->texts;
        out.insert(out.end(), texts.begin(), texts.end());
      }
    }
    return out;
  }

private:
  // To the first group whose functions it is like.
  void add(const Printed &one, std::vector<Group> &groups) const {
    for (Group &group : groups) {
      const Printed &first = *group[0];
      if (variant(first).params != variant(one).params || first.texts.size() != one.texts.size())
        continue;
      Group together = group;
      together.push_back(&one);
      if (made(together)) {
        group = std::move(together);
        return;
      }
    }
    groups.push_back({&one});
  }

  // The template, under the first name that is free.
  std::optional<Template> made(const Group &group) const {
    const std::set<std::string> words = words_of_all(group);
    for (const std::string &name : names_of_type_helpers())
      if (words.count(name) != 0)
        return std::nullopt;
    for (const std::string &name : {common_name(group), name_with_types(group)})
      for (const char *end : {"", "_kernel"}) {
        std::optional<Template> out = aligned(group, c_name(name) + end, words);
        if (!out || !is_taken(out->names, words, taken_))
          return out;
      }
    return std::nullopt;
  }

  // What the template needs, and how launchers name its instances.
  void note(const Group &group, const Template &joined) {
    for (const std::string &helper : joined.helpers)
      spelling_.helper(helper);
    for (size_t i = 0; i < group.size(); ++i) {
      std::string arguments;
      for (const TypeParameter &parameter : joined.parameters) {
        arguments += (arguments.empty() ? "" : ", ") + Spelling::element_type(parameter.types[i]);
        if (is_half(parameter.types[i]))
          spelling_.helper(Spelling::element_type(parameter.types[i]));
      }
      for (const std::string &name : joined.names) {
        const bool is_template = joined.templates.count(name) != 0;
        names_.add(printed_name(joined, i, name),
                   {name, is_template ? arguments : "", is_template ? parameters(joined, i) : Parameters()});
      }
    }
    taken_.insert(joined.names.begin(), joined.names.end());
  }

  using Parameters = std::vector<PrintedNames::Parameter>;
  static Parameters parameters(const Template &made, size_t i) {
    Parameters out;
    for (const TypeParameter &p : made.parameters) {
      const Type type = p.types[i];
      const bool halves = std::ranges::any_of(p.types, is_half);
      out.push_back({p.name, halves ? "Stored<" + p.name + ">" : p.name, Spelling::c_type(type),
                     halves ? "Value<" + p.name + ">" : p.name, Spelling::c_type(is_half(type) ? Type::f32 : type)});
    }
    return out;
  }

  // What function i had in place of the template's name.
  static std::string printed_name(const Template &made, size_t i, const std::string &name) {
    for (const StemNames &stem : made.stems)
      if (name.starts_with(stem.shared))
        return stem.own[i] + name.substr(stem.shared.size());
    return name;
  }

  Spelling &spelling_;
  PrintedNames &names_;
  std::set<std::string> taken_;
};

} // namespace

PrintedNames::Instance PrintedNames::instance(const std::string &printed) const {
  const auto found = instances_.find(printed);
  return found == instances_.end() ? Instance{printed, "", {}, ""} : found->second;
}

static std::string listed(const std::string &first, const std::string &more) {
  return first + (first.empty() || more.empty() ? "" : ", ") + more;
}

void PrintedNames::rename(const std::string &name, const std::string &other, const std::string &size) {
  bool known = false;
  for (auto &[printed, instance] : instances_)
    if (instance.name == name) {
      instance.name = other;
      instance.sizes = listed(instance.sizes, size);
      known = true;
    }
  if (!known)
    instances_[name] = {other, "", {}, size};
}

static std::string with_arguments(const std::string &name, const std::string &arguments) {
  return name + (arguments.empty() ? "" : "<" + arguments + ">");
}

std::string PrintedNames::of(const std::string &printed, const std::string &first) const {
  const Instance found = instance(printed);
  return with_arguments(found.name, listed(listed(first, found.arguments), found.sizes));
}

std::string PrintedNames::in_template(const std::string &printed, const std::string &first) const {
  const Instance found = instance(printed);
  std::vector<std::string> names;
  for (const Parameter &parameter : found.parameters)
    names.push_back(parameter.name);
  return with_arguments(found.name, listed(listed(first, join(names, ", ")), found.sizes));
}

std::vector<std::string> each_once(const std::vector<Printed> &printed, Spelling &spelling, PrintedNames &names) {
  return EachOnce(spelling, names).run(printed);
}

} // namespace kgen
