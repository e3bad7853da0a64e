// Reading and writing in a folder of its own.
#include <filesystem>
#include <fstream>
#include <random>

#include <doctest/doctest.h>

#include "support/files.h"

using namespace kgen;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("kgen_files_test_" + std::to_string(std::random_device()()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  size_t files() const {
    size_t count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(path))
      count += entry.is_regular_file();
    return count;
  }
};

std::string said(const Diagnostics &diags) { return diags.empty() ? "" : diags.sorted()[0].text; }

} // namespace

TEST_CASE("a file is read whole, or it is said why not") {
  const Folder folder;
  std::ofstream(folder / "a") << std::string("x\0y\n", 4);
  std::string reason;
  CHECK(read_file(folder / "a", 4, reason) == std::string("x\0y\n", 4));
  CHECK(!read_file(folder / "a", 3, reason));
  CHECK(reason == "it is larger than 3 bytes");
  CHECK(!read_file(folder.path.string(), 3, reason));
  CHECK(reason == "it is a folder");
  Diagnostics diags;
  CHECK(!read_source(folder / "none", diags));
  CHECK(said(diags) == "cannot read " + (folder / "none") + ": No such file or directory");
}

TEST_CASE("files are written with their folders, and left alone when they hold the text") {
  const Folder folder;
  Diagnostics diags;
  std::vector<std::string> written;
  const std::vector<OutputFile> files = {{folder / "x/y/a.h", "one\n"}, {folder / "b.cu", ""}};
  CHECK(write_files(files, written, diags));
  CHECK(written.size() == 2);
  const auto time = fs::last_write_time(folder / "b.cu");
  written.clear();
  CHECK(write_files({{folder / "x/y/a.h", "two\n"}, {folder / "b.cu", ""}}, written, diags));
  CHECK(written == std::vector<std::string>{folder / "x/y/a.h"});
  CHECK(fs::last_write_time(folder / "b.cu") == time);
  std::string reason;
  CHECK(read_file(folder / "x/y/a.h", 100, reason) == "two\n");
  CHECK(folder.files() == 2);
  fs::permissions(folder / "b.cu", fs::perms::owner_all);
  CHECK(write_files({{folder / "b.cu", "changed"}}, written, diags));
  CHECK(fs::status(folder / "b.cu").permissions() == fs::perms::owner_all);
  CHECK(diags.empty());
}

TEST_CASE("when one file cannot be written, none is") {
  const Folder folder;
  std::ofstream(folder / "file") << "";
  fs::create_directories(folder / "folder");
  for (const std::string bad : {"file/below", "folder"}) {
    Diagnostics diags;
    std::vector<std::string> written;
    CHECK(!write_files({{folder / "good", "text"}, {folder / bad, "text"}}, written, diags));
    CHECK(said(diags).starts_with("cannot write " + (folder / bad) + ": "));
    CHECK(written.empty());
    CHECK(folder.files() == 1);
  }
}
