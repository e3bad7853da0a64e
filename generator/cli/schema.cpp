// schema: the keys of specs as a JSON schema (draft 4), for editors: `#:schema kgen.schema.json` in the first line of a
// spec. A test holds the keys against those that the loader reads.
#include <iostream>
#include <sstream>

#include "cli/commands.h"

namespace kgen {

namespace {

// What a value may be, as JSON.
constexpr const char *kText = R"("type": "string")";
constexpr const char *kFlag = R"("type": "boolean")";
constexpr const char *kNumber = R"("type": "number")";
constexpr const char *kSize = R"("type": ["integer", "string"])";
constexpr const char *kSizes =
    R"("anyOf": [{"type": ["integer", "string"]}, {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1}])";
constexpr const char *kList = R"("type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1)";
constexpr const char *kNames = R"("type": "array", "items": {"type": "string"}, "minItems": 1)";
constexpr const char *kAny = R"("type": ["integer", "number", "string", "array"])";
constexpr const char *kTypes = R"("type": "array", "items": {"type": ["string", "array"]}, "minItems": 1)";
constexpr const char *kName = R"("type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$")";

struct KeyRow {
  const char *section; // a key of the root whose entries are tables with this key; "": the root itself
  const char *key;     // "*": any name of the user's own
  const char *value;
  const char *help;
};

constexpr KeyRow kKeys[] = {
    {"", "kernel", kName, "the name of the kernel, of its functions and files"},
    {"", "doc", kText, "what it computes; goes into the emitted files"},
    {"", "license", kText, "for the head of emitted files"},
    {"", "body", kText, "the statements for one element, in single quotes"},
    {"", "functions", kText, "functions that the body calls, in single quotes"},
    {"", "functions_from", kText, "the same from a file below the spec's folder or an --include folder"},
    {"types", "*", kTypes,
     "a type parameter: one set of functions for each choice; `only` lists the rows that go together"},
    {"params", "*", kAny, "a constant or the name of a function; a list makes one set of functions for each choice"},
    {"scalars", "*", kText, "an argument at run time: its element type"},
    {"batch", "*", kNames, "a leading parallel dimension of these operands"},
    {"axes", "*", kSizes, "a size, a list of sizes, or a derived size"},
    {"axes", "multiple_of", kSize, "checked by the function"},
    {"axes", "equals", kSize, "derived from other sizes"},
    {"axes", "ragged", kText, "the table of row starts"},
    {"axes", "over", kText, "the axis whose rows have different lengths"},
    {"inputs outputs scratch", "*", kText, "element type and axes: \"f32[M, N]\""},
    {"inputs outputs scratch", "type", kText, "element type and axes: \"f32[M, N]\""},
    {"inputs outputs scratch", "outside", kNumber, "what `at` and offset windows read outside of the array; default 0"},
    {"inputs outputs scratch", "layout", R"("enum": ["strided", "dense"])", "strided: its strides are arguments"},
    {"inputs outputs scratch", "optional", kFlag, "callers may pass null; the body asks present(x)"},
    {"inputs outputs scratch", "alias", kText, "of an output: the input whose memory it takes over"},
    {"inputs outputs scratch", "partial", kFlag, "of an output: elements may stay as they were"},
    {"inputs outputs scratch", "overwrite", kFlag, "of an output: the last of several steps wins"},
    {"inputs outputs scratch", "atomic", kFlag, "of an output: parallel steps may add to the same elements"},
    {"inputs outputs scratch", "block", kList, "the window: a size, \"whole\" or \"squeeze\" for each dimension"},
    {"inputs outputs scratch", "index", kList, "which block"},
    {"inputs outputs scratch", "offset", kList, "which element the window begins with"},
    {"grid", "axis", kText, "the axis that it blocks"},
    {"grid", "block", kSizes, "positions in a step; of a list each is right"},
    {"grid", "size", kSize, "the number of steps"},
    {"grid", "at_most", kSize, "the most steps that there can be"},
    {"grid", "semantics", R"("enum": ["parallel", "arbitrary", "sequential"])", "may its steps run in any order"},
    {"tables", "*", kText, "whole numbers that windows, sizes and the body may use: \"i32[S]\""},
    {"tables", "type", kText, "element type and extents: \"i32[S]\""},
    {"tables", "sorted", kFlag, "entries never fall"},
    {"tables", "unique", kFlag, "no entry comes twice"},
    {"tables", "range", kSize, "entries are below this"},
    {"tables", "where", R"("enum": ["host", "device"])", "where CUDA launchers find it"},
    {"schedule", "openmp", R"("type": "object")", "pinned choices of the plan"},
    {"schedule", "cuda", R"("type": "object")", "pinned choices of the plan"},
};

std::string property(const KeyRow &row) {
  std::string help;
  for (const char *c = row.help; *c != 0; ++c)
    help += *c == '"' ? std::string("\\\"") : std::string(1, *c);
  return std::string("{") + row.value + ", \"description\": \"" + help + "\"}";
}

std::string properties(const std::string &section, const std::string &indent) {
  std::string out;
  for (const KeyRow &row : kKeys)
    if (row.section == section && row.key != std::string("*"))
      out += (out.empty() ? "" : ",\n") + indent + "\"" + row.key + "\": " + property(row);
  return "{\n" + out + "\n" + indent.substr(2) + "}";
}

// Entries under names of the user's own: a plain value, a table of keys, or either.
std::string named_entries(const std::string &section) {
  std::string plain;
  bool keys = false;
  for (const KeyRow &row : kKeys) {
    if (row.section != section)
      continue;
    if (row.key == std::string("*"))
      plain = property(row);
    else
      keys = true;
  }
  const std::string table = "{\n        \"type\": \"object\", \"additionalProperties\": false, \"properties\": " +
                            properties(section, "          ") + "}";
  return !keys ? plain : plain.empty() ? table : "{\"anyOf\": [" + plain + ", " + table + "]}";
}

} // namespace

int schema(const Options &) {
  std::ostringstream out;
  out << "{\n  \"$schema\": \"http://json-schema.org/draft-04/schema#\",\n  \"title\": \"a kgen spec\",\n"
      << "  \"type\": \"object\",\n  \"required\": [\"kernel\", \"body\"],\n  \"additionalProperties\": false,\n"
      << "  \"properties\": {\n";
  for (const KeyRow &row : kKeys)
    if (*row.section == 0)
      out << "    \"" << row.key << "\": " << property(row) << ",\n";
  for (const char *section :
       {"types", "params", "scalars", "batch", "axes", "inputs outputs scratch", "grid", "tables"}) {
    std::istringstream names(section);
    for (std::string name; names >> name;)
      out << "    \"" << name << "\": {\"type\": \"object\", \"additionalProperties\": " << named_entries(section)
          << "},\n";
  }
  out << "    \"schedule\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": "
      << properties("schedule", "      ") << "}\n  }\n}\n";
  std::cout << out.str();
  return kOk;
}

} // namespace kgen
