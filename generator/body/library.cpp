// Cuts the library into its functions: paragraphs of comment lines and one definition. Bodies get only those that they
// mention, because every definition would be parsed again for every variant.
#include "body/library.h"

#include <cctype>

#include "support/check.h"
#include "support/embedded.h"
#include "support/text.h"

namespace kgen::body {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

LibraryFunction read_function(std::string_view paragraph) {
  LibraryFunction out;
  while (paragraph.starts_with("//")) {
    const size_t end = paragraph.find('\n');
    out.doc += (out.doc.empty() ? "" : " ") + std::string(trim(paragraph.substr(2, end - 2)));
    paragraph.remove_prefix(end + 1);
  }
  out.text = paragraph;
  const size_t open = paragraph.find('(');
  size_t begin = open;
  while (begin > 0 && is_name(paragraph[begin - 1]))
    --begin;
  out.name = paragraph.substr(begin, open - begin);
  out.signature = trim(paragraph.substr(0, paragraph.find('{')));
  return out;
}

std::vector<LibraryFunction> read_functions(std::string_view of) {
  const std::optional<std::string_view> file = find_embedded(embedded_prelude(), of);
  KGEN_CHECK(file.has_value());
  std::vector<LibraryFunction> out;
  size_t at = file->find("\n\n") + 2; // the first paragraph is about the file
  while (at < file->size()) {
    const size_t end = std::min(file->find("\n\n", at), file->size());
    out.push_back(read_function(file->substr(at, end - at)));
    at = end + 2;
  }
  return out;
}

bool mentions_name(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if ((at == 0 || !is_name(text[at - 1])) && (at + name.size() == text.size() || !is_name(text[at + name.size()])))
      return true;
  return false;
}

} // namespace

const std::vector<LibraryFunction> &library_functions() {
  static const std::vector<LibraryFunction> functions = read_functions("library.h");
  return functions;
}

const std::vector<LibraryFunction> &library_derivatives() {
  static const std::vector<LibraryFunction> functions = read_functions("derivatives.body");
  return functions;
}

std::string library_text(const std::set<std::string, std::less<>> &names) {
  // A function uses only those before it, so one pass from the end finds all that is needed.
  std::string out;
  std::vector<std::string_view> needed;
  for (const std::vector<LibraryFunction> *functions : {&library_derivatives(), &library_functions()})
    for (auto it = functions->rbegin(); it != functions->rend(); ++it) {
      bool used = names.contains(it->name);
      for (std::string_view text : needed)
        used = used || mentions_name(text, it->name);
      if (!used)
        continue;
      needed.push_back(it->text);
      out = std::string(it->text) + "\n" + out;
    }
  return out;
}

} // namespace kgen::body
