// completion and reference: the command line as the tables have it, in the languages of shells, man and Markdown.
#include <iostream>
#include <sstream>

#include "cli/commands.h"
#include "grad/rules.h"
#include "support/text.h"

namespace kgen {

namespace {

std::vector<std::string> names_of(const OptionRow &row) { return split(row.names, ','); }
bool is_argument(const OptionRow &row) { return row.names[0] != '-'; }
bool takes_value(const OptionRow &row) { return !std::holds_alternative<bool Options::*>(row.member); }

std::vector<OptionRow> options_of(Command command) {
  std::vector<OptionRow> out;
  for (const OptionRow &row : option_rows())
    if (takes(row, command))
      out.push_back(row);
  return out;
}

std::string command_names() {
  std::string out;
  for (const CommandRow &row : command_rows())
    out += (out.empty() ? "" : " ") + std::string(row.name);
  return out;
}

// Quotes of a shell's single-quoted string are left and entered again.
std::string quoted(const std::string &text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash() {
  std::ostringstream out;
  out << "# kgen completion bash > /etc/bash_completion.d/kgen\n"
      << "_kgen() {\n"
      << "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=generate options= values=\n"
      << "  case ${COMP_WORDS[1]} in " << join(split(command_names(), ' '), "|")
      << ") command=${COMP_WORDS[1]} ;; esac\n"
      << "  case $command in\n";
  for (const CommandRow &command : command_rows()) {
    std::string options, values;
    for (const OptionRow &row : options_of(command.command)) {
      const std::string choices = row.choices;
      if (is_argument(row)) {
        if (!choices.empty())
          values += "      " + std::string(command.name) + ") values='" + choices + "' ;;\n";
        continue;
      }
      for (const std::string &name : names_of(row))
        options += (options.empty() ? "" : " ") + name;
      if (!choices.empty())
        values += "      " + join(names_of(row), "|") + ") values='" + choices + "' ;;\n";
    }
    out << "    " << command.name << ")\n      options='" << options << "'\n      case $before in\n"
        << values << "      esac ;;\n";
  }
  out << "  esac\n"
      << "  if [[ -n $values ]]; then\n"
      << "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
      << "  elif [[ $word == -* ]]; then\n"
      << "    COMPREPLY=($(compgen -W \"$options --help\" -- \"$word\"))\n"
      << "  else\n"
      << "    ((COMP_CWORD > 1)) || COMPREPLY=($(compgen -W '" << command_names() << "' -- \"$word\"))\n"
      << "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
      << "  fi\n"
      << "}\n"
      << "complete -o filenames -F _kgen kgen\n";
  return out.str();
}

std::string zsh() {
  std::ostringstream out;
  auto escaped = [](const std::string &text) {
    std::string result;
    for (char c : text)
      result += c == ':' || c == '[' || c == ']' ? std::string("\\") + c : std::string(1, c);
    return result;
  };
  out << "#compdef kgen\n# kgen completion zsh > a folder of $fpath, as _kgen\n_kgen() {\n"
      << "  local -a commands\n  commands=(\n";
  for (const CommandRow &command : command_rows())
    out << "    " << quoted(std::string(command.name) + ":" + escaped(command.help)) << "\n";
  out << "  )\n  if ((CURRENT == 2)); then _describe command commands; _files; return; fi\n"
      << "  local command=${words[2]}\n  (( ${commands[(I)$command:*]} )) || command=generate\n  case $command in\n";
  for (const CommandRow &command : command_rows()) {
    out << "    " << command.name << ") _arguments";
    for (const OptionRow &row : options_of(command.command)) {
      const std::string choices = *row.choices != 0 ? "(" + std::string(row.choices) + ")" : "_files";
      if (is_argument(row)) {
        out << " \\\n      " << quoted("*:" + std::string(row.names) + ":" + choices);
        continue;
      }
      for (const std::string &name : names_of(row))
        out << " \\\n      "
            << quoted("*" + name + "[" + escaped(row.help) + "]" + (takes_value(row) ? ":value:" + choices : ""));
    }
    out << " ;;\n";
  }
  out << "  esac\n}\n_kgen \"$@\"\n";
  return out.str();
}

std::string fish() {
  std::ostringstream out;
  out << "# kgen completion fish > ~/.config/fish/completions/kgen.fish\n";
  for (const CommandRow &command : command_rows()) {
    out << "complete -c kgen -n __fish_use_subcommand -a " << command.name << " -d " << quoted(command.help) << "\n";
    for (const OptionRow &row : options_of(command.command)) {
      out << "complete -c kgen -n '__fish_seen_subcommand_from " << command.name << "'";
      if (!is_argument(row))
        for (const std::string &name : names_of(row))
          out << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
      if (*row.choices != 0)
        out << " -x -a " << quoted(row.choices);
      else if (!is_argument(row) && takes_value(row))
        out << " -r";
      out << " -d " << quoted(row.help) << "\n";
    }
  }
  return out.str();
}

std::string shown_names(const OptionRow &row) {
  return join(names_of(row), ", ") + (takes_value(row) && !is_argument(row) ? " VALUE" : "");
}

std::string man() {
  std::ostringstream out;
  auto escaped = [](const std::string &text) {
    std::string result;
    for (char c : text)
      result += c == '-' ? "\\-" : c == '\\' ? "\\\\" : std::string(1, c);
    return result;
  };
  out << ".TH KGEN 1\n.SH NAME\nkgen \\- turns declarative kernel specs into CUDA and OpenMP sources\n"
      << ".SH SYNOPSIS\n.B kgen\n[\\fIcommand\\fR] \\fIargument\\fR... [\\fIoption\\fR...]\n.SH COMMANDS\n";
  for (const CommandRow &command : command_rows()) {
    out << ".SS " << command.name << "\n" << escaped(command.help) << ".\n";
    for (const OptionRow &row : options_of(command.command))
      out << ".TP\n.B " << escaped(shown_names(row)) << "\n" << escaped(help_of(row)) << "\n";
  }
  out << ".SH EXIT STATUS\n";
  for (const ExitRow &row : exit_rows())
    out << ".TP\n.B " << row.code << "\n" << escaped(row.means) << "\n";
  return out.str();
}

std::string markdown() {
  std::ostringstream out;
  auto cell = [](const std::string &text) { return join(split(text, '|'), "\\|"); };
  out << "# The commands\nWritten by `kgen reference markdown`. `kgen SPEC... -o FOLDER` is short for `kgen "
         "generate`.\n";
  for (const CommandRow &command : command_rows()) {
    out << "\n## kgen " << command.name << "\n" << command.help << "\n\n| argument | is |\n|---|---|\n";
    for (const OptionRow &row : options_of(command.command))
      out << "| `" << cell(shown_names(row)) << "` | " << cell(help_of(row)) << " |\n";
  }
  out << "\n## Exit codes\n| code | means |\n|---|---|\n";
  for (const ExitRow &row : exit_rows())
    out << "| " << row.code << " | " << row.means << " |\n";
  return out.str();
}

// Messages in the order of their codes.
std::string diagnostics_page() {
  std::ostringstream out;
  auto cell = [](const std::string &text) { return join(split(join(split(text, '|'), "\\|"), '<'), "&lt;"); };
  constexpr const char *kSeverities[] = {"error", "warning", "note"};
  out << "# All messages\nWritten by `kgen reference diagnostics`. A message also says what helps in its own "
         "case, with the names and sizes\nat hand; `tests/bad` has a spec for each.\n\n"
      << "| code | is | says | what helps |\n|---|---|---|---|\n";
  for (const DiagnosticRow &row : diagnostic_rows())
    out << "| " << row.code << " | " << kSeverities[static_cast<size_t>(row.severity)] << " | "
        << cell(pattern_text(row.text)) << " | " << cell(pattern_text(row.help)) << " |\n";
  return out.str();
}

// What `kgen grad` takes the derivative of an operation to be.
std::string derivatives_page() {
  std::ostringstream out;
  auto cell = [](const std::string &text) { return join(split(text, '|'), "\\|"); };
  out << "# Derivatives of the operations\nWritten by `kgen reference derivatives`. `a`, `b` and `c` are the "
         "arguments, "
         "`r` is the result. What is not listed has the\nderivative 0; functions of the library go by their bodies, "
         "but "
         "for those in the second table.\n\n| operation | by | is |\n|---|---|---|\n";
  const auto list = [&](const std::vector<grad::DerivativeRow> &rows) {
    for (const grad::DerivativeRow &row : rows) {
      const std::vector<std::string> parts = split(row.derivatives, ';');
      for (size_t i = 0; i < parts.size(); ++i)
        out << "| `" << row.name << "` | " << static_cast<char>('a' + i) << " | `" << cell(std::string(trim(parts[i])))
            << "` |\n";
    }
  };
  list(grad::operation_derivatives());
  out << "\n| function | by | is |\n|---|---|---|\n";
  list(grad::library_derivatives());
  return out.str();
}

// What `--decide` and a schedule can pin.
std::string decisions_page() {
  std::ostringstream out;
  out << "# Decisions\nWritten by `kgen reference decisions`. These numbers decide how fast a kernel is, never what it "
         "computes\n(sums are added in another order where their parts change). `--decide KEY=VALUE` sets one, "
         "`--decide KEY@N=VALUE` for\nthe axis `N` only, `--decide least` all to their least legal values. Those "
         "marked `schedule` may be pinned in a spec:\n`schedule.openmp.KEY = VALUE`. Where nothing is pinned, the rule "
         "gives the number; the machine that kgen runs on has no\npart in it.\n\n"
         "| key | for | rule gives | legal | what |\n|---|---|---|---|---|\n";
  for (const DecisionRow &row : decision_rows()) {
    const char *targets = row.targets == Targets::both ? "both" : row.targets == Targets::cuda ? "CUDA" : "OpenMP";
    const TargetKind target = row.targets == Targets::cuda ? TargetKind::cuda : TargetKind::openmp;
    out << "| `" << row.key << "` | " << targets << (row.is_for_users ? ", `schedule`" : "") << " | "
        << row.rule(machine_of(target)) << " | " << legal_values(row) << " | " << row.about << " |\n";
  }
  return out.str();
}

} // namespace

std::string pattern_text(std::string_view row) {
  std::string out;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i] == '{' && i + 2 < row.size() && row[i + 2] == '}')
      out += "...", i += 2;
    else
      out += row[i];
  return out;
}

int completion(const Options &options) {
  const std::string &shell = options.specs[0];
  std::cout << (shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish());
  return kOk;
}

int reference(const Options &options) {
  const std::string &format = options.specs[0];
  std::cout << (format == "man"           ? man()
                : format == "markdown"    ? markdown()
                : format == "derivatives" ? derivatives_page()
                : format == "decisions"   ? decisions_page()
                                          : diagnostics_page());
  return kOk;
}

} // namespace kgen
