// Templates, strictly: every name in a template needs a value, every value must be used, nothing is escaped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/diagnostics.h"

namespace kgen {

struct View;
using Views = std::vector<View>;

// What a template sees: names for texts, flags and lists.
struct View {
  std::map<std::string, std::variant<std::string, bool, Views>> values;
  View &set(const std::string &name, std::string text) {
    values[name] = std::move(text);
    return *this;
  }
  View &set(const std::string &name, bool flag) {
    values[name] = flag;
    return *this;
  }
  View &set(const std::string &name, Views list) {
    values[name] = std::move(list);
    return *this;
  }
};

// Where templates come from: embedded, or a folder that overrides single files.
class Templates {
public:
  explicit Templates(std::string folder = "") : folder_(std::move(folder)) {}
  std::string text(const std::string &path) const;
  // Fails as a bug of kgen on a name without value.
  std::string render(const std::string &path, const View &view) const;

private:
  std::string folder_;
};

// What is wrong with the files of a folder that override templates: they must use the values that kgen's own use, and
// have the sections of helpers that those have. False after messages. No folder is right.
bool check_templates(const std::string &folder, Diagnostics &diags);

// One view {line: ...} for each line.
Views line_views(std::string_view text);

// Sections of helper functions, `//@ name: needs...`; those asked for with what they need, in file order.
struct HelperSections {
  std::vector<std::pair<std::string, std::string>> sections; // name, text
  std::map<std::string, std::vector<std::string>> needs;
  void add(std::string_view text);
  // The names asked for and all that they need.
  std::set<std::string> with_needs(const std::set<std::string> &wanted) const;
};

} // namespace kgen
