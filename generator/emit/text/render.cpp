// kainjow mustache renders a missing name as nothing; here it is an error. The check walks the template's tags itself.
#include "emit/text/render.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <kainjow/mustache.hpp>
#include <set>
#include <sstream>

#include "support/check.h"
#include "support/embedded.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {
namespace {

namespace mustache = kainjow::mustache;

mustache::data to_data(const View &view) {
  mustache::data out;
  for (const auto &[name, value] : view.values) {
    if (const auto *text = std::get_if<std::string>(&value)) {
      out.set(name, *text);
    } else if (const auto *flag = std::get_if<bool>(&value)) {
      out.set(name, *flag ? mustache::data::type::bool_true : mustache::data::type::bool_false);
    } else {
      mustache::data list{mustache::data::type::list};
      for (const View &item : std::get<Views>(value))
        list << to_data(item);
      out.set(name, list);
    }
  }
  return out;
}

void all_names(const View &view, std::set<std::string> &names) {
  for (const auto &[name, value] : view.values) {
    names.insert(name);
    if (const auto *list = std::get_if<Views>(&value))
      for (const View &item : *list)
        all_names(item, names);
  }
}

[[noreturn]] void template_error(const std::string &path, const std::string &what) {
  std::fprintf(stderr, "kgen: template %s: %s\n", path.c_str(), what.c_str());
  std::exit(70);
}

// Names in sections over empty lists need no value: nothing of them is rendered.
void check_names(const std::string &path, const std::string &text, const View &view) {
  std::set<std::string> given, used;
  all_names(view, given);
  std::vector<std::string> silent; // open sections that render nothing
  for (size_t at = 0; (at = text.find("{{", at)) != std::string::npos;) {
    size_t end = text.find("}}", at);
    if (end == std::string::npos)
      template_error(path, "a tag is not closed");
    std::string tag = text.substr(at + 2, end - at - 2);
    at = end + 2;
    char kind = ' ';
    if (!tag.empty() && (tag[0] == '{' || tag[0] == '#' || tag[0] == '/' || tag[0] == '^' || tag[0] == '&'))
      kind = tag[0], tag.erase(0, 1);
    if (kind == '{')
      ++at;
    used.insert(tag);
    if (kind == '#' || kind == '^') {
      const auto it = view.values.find(tag);
      const bool empty =
          it != view.values.end() && std::holds_alternative<Views>(it->second) && std::get<Views>(it->second).empty();
      if (empty || !silent.empty())
        silent.push_back(tag);
    }
    if (kind == '/' && !silent.empty() && silent.back() == tag) {
      silent.pop_back();
      continue;
    }
    if (silent.empty() && given.count(tag) == 0)
      template_error(path, "no value for `" + tag + "`");
  }
  for (const std::string &name : given)
    if (used.count(name) == 0)
      template_error(path, "the value `" + name + "` is not used");
}

// The tags of a template, each once, and its sections of helpers.
std::set<std::string> parts_of(const std::string &text) {
  std::set<std::string> out;
  for (size_t at = 0; (at = text.find("{{", at)) != std::string::npos;) {
    const size_t end = text.find("}}", at);
    if (end == std::string::npos)
      break;
    const std::string tag = text.substr(at + 2, end - at - 2);
    out.insert("{{" + std::string(trim(tag.substr(std::min(tag.find_first_not_of("{&#/^ "), tag.size())))) + "}}");
    at = end;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("//@ "))
      out.insert(line.substr(0, line.find(':')));
  return out;
}

// Empty, or what would make a template of the same name fail where kgen's own does not.
std::string template_fault(const std::string &text, const std::string &ours) {
  const std::set<std::string> theirs = parts_of(text), wanted = parts_of(ours);
  for (const std::string &part : theirs)
    if (wanted.count(part) == 0)
      return "kgen has nothing for " + ticked(part);
  for (const std::string &part : wanted)
    if (theirs.count(part) == 0)
      return ticked(part) + " is missing";
  mustache::mustache engine(text);
  return engine.is_valid() ? "" : engine.error_message();
}

} // namespace

bool check_templates(const std::string &folder, Diagnostics &diags) {
  bool good = true;
  for (const EmbeddedFile &file : embedded_templates()) {
    const std::string path = folder + "/" + std::string(file.path);
    std::error_code error;
    if (folder.empty() || !std::filesystem::exists(path, error))
      continue;
    std::string reason;
    const std::optional<std::string> text = read_file(path, kLargestSource, reason);
    const std::string fault = text ? template_fault(*text, std::string(file.text)) : reason;
    good = good && fault.empty();
    if (!fault.empty())
      diags.add(DiagId::template_wrong, Place{path, 0, 0, 0}, {path, fault});
  }
  return good;
}

std::string Templates::text(const std::string &path) const {
  std::string reason;
  if (!folder_.empty())
    if (std::optional<std::string> text = read_file(folder_ + "/" + path, kLargestSource, reason))
      return *text;
  const std::optional<std::string_view> embedded = find_embedded(embedded_templates(), path);
  if (!embedded)
    template_error(path, "there is no such template");
  return std::string(*embedded);
}

std::string Templates::render(const std::string &path, const View &view) const {
  const std::string source = text(path);
  check_names(path, source, view);
  mustache::mustache engine(source);
  engine.set_custom_escape([](const std::string &s) { return s; });
  if (!engine.is_valid())
    template_error(path, engine.error_message());
  return engine.render(to_data(view));
}

Views line_views(std::string_view text) {
  Views out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out.push_back(View().set("line", std::string(text.substr(0, end))));
    if (end == std::string_view::npos)
      break;
    text.remove_prefix(end + 1);
  }
  return out;
}

void HelperSections::add(std::string_view text) {
  std::string name;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("//@ ", 0) != 0) {
      KGEN_CHECK(!sections.empty());
      sections.back().second += line + "\n";
      continue;
    }
    const size_t colon = line.find(':');
    name = line.substr(4, colon == std::string::npos ? std::string::npos : colon - 4);
    sections.push_back({name, ""});
    if (colon == std::string::npos)
      continue;
    std::istringstream rest(line.substr(colon + 1));
    for (std::string need; rest >> need;)
      needs[name].push_back(need);
  }
}

std::set<std::string> HelperSections::with_needs(const std::set<std::string> &wanted) const {
  std::set<std::string> out;
  std::vector<std::string> todo(wanted.begin(), wanted.end());
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    if (!out.insert(name).second)
      continue;
    if (const auto found = needs.find(name); found != needs.end())
      todo.insert(todo.end(), found->second.begin(), found->second.end());
  }
  return out;
}

} // namespace kgen
