// new: a commented spec to start from, which generates as it is.
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "emit/text/render.h"
#include "spec/format_document.h"
#include "spec/spec.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace fs = std::filesystem;

namespace {

int refuse(const std::string &text, int code) {
  std::cerr << "kgen: " << text << "\n";
  return code;
}

} // namespace

int make_new(const Options &options) {
  const std::string &name = options.specs[0];
  if (!is_identifier(name))
    return refuse("a kernel's name is a C name, as in `kgen new my_kernel`, not " + name, kBadCommandLine);
  const std::string path = (fs::path(options.output) / (name + ".toml")).lexically_normal().generic_string();
  std::error_code error;
  if (fs::exists(path, error))
    return refuse(path + " exists already", kBadFiles);
  Diagnostics diags;
  if (!check_templates(options.templates, diags))
    return report(diags, options);
  const std::string text =
      Templates(options.templates).render("new/" + options.like + ".toml", View().set("name", name));
  // A name that is a word of C or of the language is found out by reading the spec.
  std::vector<std::string> written;
  if (load_spec(path, text, {}, diags) && write_files({{path, format_document(text)}}, written, diags))
    std::cout << path << "\nTo generate: kgen " << path << " -o generated\n"
              << "To have reviews fold the files away, in .gitattributes: generated/** linguist-generated=true\n";
  return report(diags, options);
}

} // namespace kgen
