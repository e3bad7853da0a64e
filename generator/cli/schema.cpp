// schema: the keys of specs as a JSON schema (draft 4), for editors: `#:schema kgen.schema.json` in the first line of a
// spec. Which keys there are, and what they hold, is said by the tables from which the loader reads them.
#include <algorithm>
#include <iostream>
#include <map>

#include "cli/commands.h"
#include "spec/keys.h"
#include "support/text.h"

namespace kgen {

namespace {

// What a value may be, as JSON.
std::string form_text(Form form) {
  switch (form) {
  case Form::text:
    return R"("type": "string")";
  case Form::name:
    return R"("type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$")";
  case Form::flag:
    return R"("type": "boolean")";
  case Form::number:
    return R"("type": "number")";
  case Form::integer:
    return R"("type": "integer")";
  case Form::size:
    return R"("type": ["integer", "string"])";
  case Form::sizes:
    return "\"anyOf\": [{" + form_text(Form::size) + "}, {" + form_text(Form::list) + "}]";
  case Form::list:
    return "\"type\": \"array\", \"items\": {" + form_text(Form::size) + "}, \"minItems\": 1";
  case Form::names:
    return R"("type": "array", "items": {"type": "string"}, "minItems": 1)";
  case Form::types:
    return R"("type": "array", "items": {"type": ["string", "array"]}, "minItems": 1)";
  case Form::any:
    return R"("type": ["integer", "number", "string", "array"])";
  case Form::table:
    break;
  }
  return R"("type": "object")";
}

std::string value_schema(const KeyInfo &info) {
  std::vector<std::string> choices;
  for (const std::string &choice : split(info.choices, ' '))
    choices.push_back(json_string(choice));
  return "{" + (info.choices.empty() ? form_text(info.form) : "\"enum\": [" + join(choices, ", ") + "]") +
         ", \"description\": " + json_string(info.help) + "}";
}

using Sections = std::map<std::string, std::vector<KeyInfo>>;

// A table within a section, which has keys and may have tables of other names: machines.
std::string inner_schema(const KeyInfo &info, const std::vector<KeyInfo> &keys) {
  std::string properties;
  for (const KeyInfo &key : keys)
    properties += (properties.empty() ? "" : ", ") + json_string(key.key) + ": " + value_schema(key);
  return R"({"type": "object", "description": )" + json_string(info.help) + ", \"properties\": {" + properties + "}}";
}

// Entries under names of the user's own: a plain value, a table of keys, or either. (Tables that have a name are those
// of the section itself.)
std::string section_schema(const Sections &sections, const std::vector<KeyInfo> &keys) {
  std::string plain, properties;
  const bool own = keys.front().form == Form::table;
  for (const KeyInfo &info : keys)
    if (info.key == "*") {
      plain = value_schema(info);
    } else {
      const auto inner = own ? sections.find(std::string(info.key)) : sections.end();
      properties += (properties.empty() ? "" : ",\n          ") + json_string(info.key) + ": " +
                    (inner == sections.end() ? value_schema(info) : inner_schema(info, inner->second));
    }
  const std::string table = "{\n        \"type\": \"object\", \"additionalProperties\": false, \"properties\": {\n"
                            "          " +
                            properties + "}}";
  if (own)
    return table;
  const std::string entry = properties.empty() ? plain
                            : plain.empty()    ? table
                                               : "{\"anyOf\": [" + plain + ", " + table + "]}";
  return "{\"type\": \"object\", \"additionalProperties\": " + entry + "}";
}

} // namespace

int schema(const Options &) {
  std::vector<std::string> order, properties; // of the root
  Sections sections;
  const std::vector<KeyInfo> keys = spec_keys();
  const auto is_inner = [&](std::string_view section) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const KeyInfo &info) { return info.form == Form::table && info.key == section; });
  };
  for (const KeyInfo &info : keys) {
    const std::string section(info.section);
    if (section.empty())
      properties.push_back(json_string(info.key) + ": " + value_schema(info));
    else if (sections[section].empty() && !is_inner(section))
      order.push_back(section);
    if (!section.empty())
      sections[section].push_back(info);
  }
  for (const std::string &section : order)
    properties.push_back(json_string(section) + ": " + section_schema(sections, sections[section]));
  std::cout << "{\n  \"$schema\": \"http://json-schema.org/draft-04/schema#\",\n  \"title\": \"a kgen spec\",\n"
            << "  \"type\": \"object\",\n  \"required\": [\"kernel\", \"body\"],\n  \"additionalProperties\": false,\n"
            << "  \"properties\": {\n    " << join(properties, ",\n    ") << "\n  }\n}\n";
  return kOk;
}

} // namespace kgen
