// new: a commented spec to start from, which generates as it is.
#include <cctype>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "emit/render.h"
#include "spec/spec.h"
#include "support/embedded.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFolder = "new/";

std::vector<std::string> kinds() {
  std::vector<std::string> out;
  for (const EmbeddedFile &file : embedded_templates())
    if (file.path.starts_with(kFolder))
      out.push_back(fs::path(file.path).stem().string());
  return out;
}

bool is_name(const std::string &name) {
  auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

int refuse(const std::string &text, int code) {
  std::cerr << "kgen: " << text << "\n";
  return code;
}

} // namespace

int make_new(const Options &options) {
  const std::string &name = options.specs[0];
  const std::vector<std::string> all = kinds();
  if (std::find(all.begin(), all.end(), options.like) == all.end())
    return refuse("--like takes " + join(all, ", ") + ", not " + options.like, kBadCommandLine);
  if (!is_name(name))
    return refuse("a kernel's name is a C name, as in `kgen new my_kernel`, not " + name, kBadCommandLine);
  const std::string path = (fs::path(options.output) / (name + ".toml")).lexically_normal().generic_string();
  std::error_code error;
  if (fs::exists(path, error))
    return refuse(path + " exists already", kBadFiles);
  const std::string text =
      Templates(options.templates).render(std::string(kFolder) + options.like + ".toml", View().set("name", name));
  // A name that is a word of C or of the language is found out by reading the spec.
  Diagnostics diags;
  std::vector<std::string> written;
  if (load_spec(path, text, {}, diags) && write_files({{path, text}}, written, diags))
    std::cout << path << "\nTo generate: kgen " << path << " -o generated\n"
              << "To have reviews fold the files away, in .gitattributes: generated/** linguist-generated=true\n";
  return report(diags, options);
}

} // namespace kgen
