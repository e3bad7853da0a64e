// Columns are code points there and bytes here, so the lines are looked at once more.
#include "cli/sarif.h"

#include <map>
#include <sstream>

#include "cli/commands.h"
#include "emit/text/hash.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {

namespace {

// The URI of a path: relative ones stay relative, so that a file made on one machine fits another.
std::string uri_of(const std::string &path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = path.starts_with("/") ? "file://" : "";
  for (const char c : path) {
    const unsigned char byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      ((out += '%') += kHex[byte >> 4]) += kHex[byte & 15];
  }
  return out;
}

class Report {
public:
  std::string text(const Diagnostics &diags) {
    std::string results;
    for (const Diagnostic &d : diags.sorted())
      results += (results.empty() ? "\n        " : ",\n        ") + result(d);
    std::ostringstream out;
    out << "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n"
        << "  \"runs\": [\n    {\n      \"tool\": {\"driver\": {\"name\": \"kgen\", \"semanticVersion\": "
        << json_string(KGEN_VERSION) << ", \"rules\": [" << rules_ << (rules_.empty() ? "" : "\n      ") << "]}},\n"
        << "      \"columnKind\": \"unicodeCodePoints\",\n      \"results\": [" << results
        << (results.empty() ? "" : "\n      ") << "]\n    }\n  ]\n}\n";
    return out.str();
  }

private:
  static const char *level(Severity severity) {
    constexpr const char *kLevels[] = {"error", "warning", "note"};
    return kLevels[static_cast<size_t>(severity)];
  }

  static std::string message(const std::string &text) { return "{\"text\": " + json_string(text) + "}"; }

  // The rule's place in the list of those that were broken.
  size_t rule(DiagId id) {
    const auto [it, fresh] = rule_of_.emplace(id, rule_of_.size());
    const DiagnosticRow &row = diagnostic_row(id);
    if (fresh)
      rules_ += (rules_.empty() ? "\n        " : ",\n        ") + ("{\"id\": " + json_string(row.code)) +
                ", \"name\": " + json_string(row.name) + ", \"shortDescription\": " + message(pattern_text(row.text)) +
                ", \"defaultConfiguration\": {\"level\": \"" + level(row.severity) + "\"}}";
    return it->second;
  }

  // Of the code points before a byte of a line; columns count from 1.
  int column(const Place &place, int bytes) {
    auto it = lines_.find(place.file);
    if (it == lines_.end()) {
      std::string reason;
      it = lines_.emplace(place.file, split(read_file(place.file, kLargestSource, reason).value_or(""), '\n')).first;
    }
    if (static_cast<size_t>(place.line) > it->second.size())
      return bytes;
    const std::string &line = it->second[static_cast<size_t>(place.line) - 1];
    return 1 + static_cast<int>(display_width(std::string_view(line).substr(0, static_cast<size_t>(bytes) - 1)));
  }

  std::string location(const Place &place) {
    std::string out =
        "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": " + json_string(uri_of(place.file)) + "}";
    if (place.line > 0) {
      out += ", \"region\": {\"startLine\": " + std::to_string(place.line);
      if (place.column > 0)
        out += ", \"startColumn\": " + std::to_string(column(place, place.column)) +
               ", \"endColumn\": " + std::to_string(column(place, place.column + std::max(place.length, 1)));
      out += "}";
    }
    return out + "}";
  }

  std::string result(const Diagnostic &d) {
    const std::string help = d.help.empty() ? std::string(diagnostic_row(d.id).help) : d.help;
    std::string out = "{\"ruleId\": " + json_string(diagnostic_row(d.id).code) +
                      ", \"ruleIndex\": " + std::to_string(rule(d.id)) + ", \"level\": \"" + level(d.severity) +
                      "\",\n         \"message\": " + message(d.text + (help.empty() ? "" : "\nhelp: " + help));
    if (!d.place.file.empty() && d.place.file != kCommandLine)
      out += ",\n         \"locations\": [" + location(d.place) + "}]";
    std::string related;
    for (const Label &label : d.labels)
      related += (related.empty() ? "" : ", ") + location(label.place) + ", \"message\": " + message(label.text) + "}";
    if (!related.empty())
      out += ",\n         \"relatedLocations\": [" + related + "]";
    // The same finding after lines above it have come or gone.
    std::string same = hash_of(std::string(diagnostic_row(d.id).code) + d.place.file + d.text);
    if (const int before = told_[same]++; before > 0)
      same += ":" + std::to_string(before);
    return out + ",\n         \"partialFingerprints\": {\"kgenFinding/v1\": " + json_string(same) + "}}";
  }

  std::string rules_;
  std::map<DiagId, size_t> rule_of_;
  std::map<std::string, int> told_; // how often, by fingerprint
  std::map<std::string, std::vector<std::string>> lines_;
};

} // namespace

std::string sarif_text(const Diagnostics &diags) { return Report().text(diags); }

} // namespace kgen
