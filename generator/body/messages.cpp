// A table from how Clang's message begins to what kgen says instead; what is not in the table is passed on, tidied.
// Clang 19's wording is pinned by the unit tests of this file.
#include "body/messages.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "body/builtins.h"
#include "body/foreign_names.h"
#include "body/library.h"
#include "support/text.h"

namespace kgen::body {
namespace {

constexpr std::string_view kDidYouMean = "; did you mean '";

// The n-th quoted stretch.
std::string quoted_part(std::string_view text) {
  const size_t begin = text.find('\'');
  const size_t end = begin == std::string_view::npos ? begin : text.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string() : std::string(text.substr(begin + 1, end - begin - 1));
}

// What stands at a place, shortened.
std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  return text.size() > kMost ? std::string(text.substr(0, kMost)) + "..." : std::string(text);
}

void replace_all(std::string &text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// kgen_axis<2> -> axis K
void replace_tags(std::string &text, std::string_view tag, std::string_view noun,
                  const std::vector<std::string> &names) {
  for (size_t at = text.find(tag); at != std::string::npos; at = text.find(tag, at + 1)) {
    size_t end = at + tag.size();
    size_t id = 0;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0)
      id = id * 10 + static_cast<size_t>(text[end++] - '0');
    if (end < text.size() && text[end] == '>' && id < names.size())
      text.replace(at, end + 1 - at, std::string(noun) + " " + names[id]);
  }
}

// In kgen's words and quotes.
std::string tidy(std::string text, const Unit &unit) {
  for (size_t i = 0; i < unit.variants->size(); ++i) {
    const std::string scope = "kgen_v" + std::to_string(i) + "::";
    replace_all(text, scope + "kgen_user::kgen_body::", "");
    replace_all(text, scope + "kgen_user::", "");
    replace_all(text, scope, "");
  }
  replace_all(text, "kgen::", "");
  replace_all(text, "'const ", "'");
  replace_tags(text, "kgen_axis<", "axis", unit.axes);
  replace_tags(text, "kgen_grid<", "grid dimension", unit.grid);
  replace_all(text, "kgen_where", "where(...)");
  replace_all(text, "kgen_coordinate", "a coordinate");
  bool open = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    if (text[i] != '\'' || (!open && !starts))
      continue;
    text[i] = '`';
    open = !open;
  }
  return text;
}

// "'real[2]' (aka 'float[2]')": what a name stands for is noise.
std::string without_aliases(std::string text) {
  for (size_t at = text.find(" (aka '"); at != std::string::npos; at = text.find(" (aka '", at)) {
    const size_t end = text.find("')", at);
    if (end == std::string::npos)
      break;
    text.erase(at, end + 2 - at);
  }
  return text;
}

constexpr std::string_view kUndeclared = "use of undeclared identifier '";

constexpr const char *kFunctionSet = "a function has this name; declare an output or a local variable to assign it";

constexpr std::string_view kOneElement =
    "a body computes one element: `x` is that of the array at hand, another is `at(x, N = e)`";

// What Clang says that a reader of C++ alone would not understand, and help for what it says well. An empty text leaves
// Clang's.
struct Saying {
  std::string_view start, text, help;
};
constexpr Saying kSayings[] = {
    {"expected unqualified-id", "a name is missing here", "a name begins with a letter or `_`"},
    {"'axis' does not refer", "an axis is no argument by name", "it follows the value: `sum(x, N)`"},
    {"member reference base type", "values have no members", "sizes are `size(N)`, other elements `at(x, N = e)`"},
    {"called object type", "a value cannot be called", "a product is written with `*`"},
    {"subscripted value is not", "a value has no `[...]`", kOneElement},
    {"'break' statement not", "`break` outside of a loop", "it ends a `for` or `while`"},
    {"'continue' statement not", "`continue` outside of a loop", "it goes on with the next turn of a `for` or `while`"},
    {"array initializer must be", "", "write `real t[2] = {1, 2};`"},
    {"declaration of variable", "", "give it a value, or name its type"},
    {"cannot combine with previous", "", "a declaration names one type"},
    {"integer literal is too large", "", "the largest number is 9223372036854775807"},
    {"unexpected type name", "", "a type converts a value: `T(x)`"},
    {"a type specifier is required", "a declaration without a type", "outputs and scratch are assigned as they are"},
    {"invalid suffix", "", "numbers may end in `f`, `u` or `l`"},
    {"no matching literal operator", "a number with an unknown ending", "numbers may end in `f`, `u` or `l`"},
    {"invalid digit", "", "a number that begins with 0 is octal: write it without"},
    {"array size is not", "the size of an array is not constant", "write a number; what an axis has is a plain local"},
    {"cannot cast from type 'float' to pointer", "there are no pointers in a body", "`float(x)` converts a value"},
    {"expected ':'", "", "a choice has two sides: `condition ? a : b`"},
    {"expected '(' after", "", "conditions stand in parentheses"},
    {"expected ';'", "", "statements end with `;`"},
    {"implicit conversion from '_Complex", "complex numbers are not in the body language", "compute with two values"},
};

class MessageReporter {
public:
  // `only`: the variants that have this mistake, in words; empty if all have it.
  MessageReporter(const ClangMessage &message, const Span &span, std::string only, const Unit &unit, Reporter &reporter)
      : message_(message), text_(without_aliases(message.text)), span_(span), only_(std::move(only)), unit_(unit),
        reporter_(reporter) {}

  void run() {
    using Handler = void (MessageReporter::*)();
    static constexpr std::pair<std::string_view, Handler> kHandlers[] = {
        {kUndeclared, &MessageReporter::undeclared},
        {"unknown type name '", &MessageReporter::undeclared},
        {"no template named '", &MessageReporter::undeclared},
        {"cannot assign to ", &MessageReporter::not_assignable},
        {"expression is not assignable", &MessageReporter::no_place},
        {"non-object type '", &MessageReporter::function_set},
        {"assigning to '", &MessageReporter::incompatible},
        {"cannot initialize a variable", &MessageReporter::incompatible},
        {"array subscript is not an integer", &MessageReporter::fraction},
        {"indirection requires pointer", &MessageReporter::star},
        {"variable has incomplete type 'void'", &MessageReporter::void_local},
        {"expected expression", &MessageReporter::no_expression},
        {"expected ';'", &MessageReporter::goes_on},
        {"expected ')'", &MessageReporter::goes_on},
        {"function '", &MessageReporter::unknown_result},
        {"redefinition of '", &MessageReporter::name_taken},
        {"no matching function for call to '", &MessageReporter::wrong_call},
        {"too few arguments to function call", &MessageReporter::passed_on},
        {"variable '", &MessageReporter::unset},
        {"non-void function", &MessageReporter::no_result},
        {"void function 'kgen_statements'", &MessageReporter::early_return},
        {"call to function '", &MessageReporter::declared_late},
        {"invalid operands to binary expression", &MessageReporter::operands},
        {"type '", &MessageReporter::subscript},
        {"cannot deduce type of initializer list", &MessageReporter::list_value},
        {"cannot use builtin operator '<=>'", &MessageReporter::list_value},
        {"no viable overloaded '='", &MessageReporter::no_axis},
        {"reference to overloaded function", &MessageReporter::function_name},
        {"recursive template instantiation", &MessageReporter::recursion},
    };
    if (message_.used_from && text_.find("kgen_axis<") != std::string::npos)
      return axis_argument();
    if (message_.used_from && text_.find("kgen_grid<") != std::string::npos)
      return grid_argument();
    if (not_a_value())
      return;
    for (const auto &[start, handler] : kHandlers)
      if (std::string_view(text_).starts_with(start))
        return (this->*handler)();
    passed_on();
  }

private:
  void add(DiagId id, const std::vector<std::string> &arguments, std::string help = {}) {
    if (Diagnostic *d = reporter_.add(id, span_, arguments))
      d->help = only_.empty() ? std::move(help) : only_ + (help.empty() ? "" : "; " + help);
  }

  // Clang's own suggestion, if it is a name that the user could write.
  std::string suggestion() const {
    const size_t at = text_.find(kDidYouMean);
    if (at == std::string::npos)
      return {};
    const std::string name = quoted_part(std::string_view(text_).substr(at));
    return name.find("kgen") == std::string::npos ? name : std::string();
  }

  void undeclared() {
    const std::string name = quoted_part(text_);
    const std::string meaning = describe_name(*unit_.spec, name);
    std::string help;
    if (std::ranges::any_of(unit_.spec->batch, [&](const BatchDecl &b) { return b.axis == name; }))
      help = "the axis of a batch has no name in the body, which is written for one of its elements";
    else if (!span_.source->is_body() && !meaning.empty())
      help = "functions do not see what `" + name + "` is in the body (" + meaning + "): make it an argument" +
             (meaning == "an axis" ? ", `axis " + name + "`" : "");
    else if (const auto type = find_type(name); type && !is_half(*type))
      help = "in the body `" + name + "` is `" + std::string(type_row(*type).c_type) +
             "`; what is stored is converted to the type of its output";
    else if (type || name == "half" || name == "bfloat16")
      help =
          "in the body there are `real float double bool`, `int int64_t` and the like, and the spec's type parameters";
    else if (const std::string_view instead = instead_of(name); !instead.empty())
      help = instead;
    else if (name.find("_derivative") != std::string::npos)
      help = "the derivative of a function of `functions` is one, too: write `real " + name + "(real v) { ... }` there";
    else if (const std::string meant = suggestion(); meant.size() > 1 || (!meant.empty() && !is_set(name)))
      help = "did you mean `" + meant + "`?";
    else if (has_member())
      help = "functions are called by their own names: `exp(x)`";
    else if (span_.source->is_body() && is_index())
      help = std::string(kOneElement);
    else if (help = near_name(name); help.empty() && !span_.source->is_body() && is_called())
      help = "declare functions before they are called";
    if (is_set(name))
      help += (help.empty() ? "" : " if not, ") + std::string("declare it where it is first set: `real ") + name +
              " = ...`";
    else if (help.empty() && is_coordinate())
      help = "a coordinate is named by an axis of the array: `at(x, N = e)`";
    add(DiagId::body_undeclared, {name}, help);
  }

  char next_to(size_t at, bool before) const {
    const std::string_view text = span_.source->text();
    at = before ? text.substr(0, at).find_last_not_of(" \n") : text.find_first_not_of(" \n", at);
    return at == std::string_view::npos ? ';' : text[at];
  }
  bool stands_before_assignment(const std::string &name) const {
    const std::string_view text = span_.source->text();
    const size_t sign = text.find_first_not_of(" \n", span_.begin + name.size());
    return sign != std::string_view::npos && text[sign] == '=' && text.substr(sign, 2) != "==";
  }
  // `m = mean(x, N);`
  bool is_set(const std::string &name) const {
    return span_.source->is_body() && stands_before_assignment(name) &&
           std::string_view(";{})").find(next_to(span_.begin, true)) != std::string_view::npos;
  }
  // `at(x, K = 1)`
  bool is_coordinate() const {
    return next_to(span_.begin, true) == ',' && stands_before_assignment(quoted_part(text_));
  }

  // `x[i]`
  bool is_index() const {
    const std::string_view before = std::string_view(span_.source->text()).substr(0, span_.begin);
    const size_t last = before.find_last_not_of(" \n");
    return last != std::string_view::npos && before[last] == '[';
  }

  void subscript() {
    if (text_.find("does not provide a subscript operator") == std::string::npos)
      return passed_on();
    add(DiagId::body_cpp, {"a value has no `[...]`"}, std::string(kOneElement));
  }

  // `np.exp(x)`
  bool has_member() const {
    const std::string &text = span_.source->text();
    const size_t after = span_.begin + span_.length;
    return after < text.size() && text[after] == '.';
  }

  bool is_called() const {
    const std::string &text = span_.source->text();
    const size_t after = text.find_first_not_of(" \n", span_.begin + span_.length);
    return after != std::string::npos && text[after] == '(';
  }

  std::string near_name(const std::string &name) const {
    std::vector<std::string> names = known_names(unit_, span_.source->is_body());
    if (unit_.functions != nullptr)
      for (const std::string &word : unit_.functions->identifiers)
        if (word.size() > 2)
          names.push_back(word);
    std::erase(names, name);
    const std::optional<std::string> meant = nearest(name, names);
    return meant ? "did you mean `" + *meant + "`?" : "";
  }

  void not_assignable() {
    const std::string_view text = text_;
    std::string name = quoted_part(text);
    if (text.starts_with("cannot assign to return value")) // of at(an input, ...)
      return add(DiagId::body_not_assignable, {"at(...)", "an element of an input"});
    std::string meaning = describe_name(*unit_.spec, name);
    if (meaning.empty() || !text.starts_with("cannot assign to variable '"))
      meaning = "a constant";
    const bool input = meaning == "an input";
    add(DiagId::body_not_assignable, {name, meaning},
        input ? "copy it to a local, or declare an output with `alias = \"" + name + "\"`" : "");
  }

  // A template made for an axis or a grid dimension, of which it cannot make a value.
  void axis_argument() {
    span_ = *message_.used_from;
    add(DiagId::body_axis_value, {tag_name("kgen_axis<", unit_.axes)}, "the position along it is `index(...)`");
  }

  void grid_argument() {
    span_ = *message_.used_from;
    const std::string name = tag_name("kgen_grid<", unit_.grid);
    add(DiagId::body_cpp, {"`" + name + "` is a grid dimension, which this function cannot take"},
        "write `int64_t(" + name + ")`");
  }

  std::string tag_name(std::string_view tag, const std::vector<std::string> &names) const {
    const size_t id = std::stoul(text_.substr(text_.find(tag) + tag.size()));
    return id < names.size() ? names[id] : "";
  }

  // Where a number is wanted: what the prelude has classes for.
  bool not_a_value() {
    if (text_.find("kgen_where") != std::string::npos)
      add(DiagId::body_coordinate, {"`where` is no value"},
          "it stands last in a reduction: sum(x, N, where(x > 0)); one of two values is `x > 0 ? x : 0`");
    else if (text_.find("kgen_table") != std::string::npos)
      add(DiagId::body_cpp, {"a table is no value"}, "read its entries: `t[i]`");
    else
      return false;
    return true;
  }

  std::string_view user_text() const {
    return std::string_view(span_.source->text()).substr(span_.begin, span_.length);
  }

  void no_place() { add(DiagId::body_not_assignable, {shown(user_text()), "a value"}); }

  void function_name() {
    const bool where = user_text() == "where";
    if (!where && stands_before_assignment(std::string(user_text()))) {
      add(DiagId::body_undeclared, {std::string(user_text())}, kFunctionSet);
      return;
    }
    add(DiagId::body_function, {"a function is no value"},
        where ? "a condition stands last in a reduction: sum(x, N, where(x > 0))" : "call it");
  }

  void incompatible() {
    if (text_.find("function type>") != std::string::npos || text_.ends_with(")'"))
      return add(DiagId::body_function, {"a function is no value"}, "call it");
    if (text_.ends_with("'void'"))
      return add(DiagId::body_cpp, {"this has no value"}, "`assert(condition)` is a statement of its own");
    if (text_.find(" *'") != std::string::npos)
      return add(DiagId::body_address, {"pointers"});
    if (text_.ends_with("]'"))
      return add(DiagId::body_array, {"an array is no value"}, "name one element");
    passed_on();
  }

  void fraction() {
    add(DiagId::body_array, {"an index is a whole number"}, "write `int(...)`, which drops the fraction");
  }

  void star() {
    const std::string &text = span_.source->text();
    const size_t at = span_.begin;
    if (text.substr(at, 2) == "**" || (at > 0 && text.substr(at - 1, 2) == "**"))
      return add(DiagId::body_cpp, {"`**` is no operator"}, "write `pow(x, 2)`, or `x * x`");
    add(DiagId::body_address, {"pointers"});
  }

  void void_local() {
    add(DiagId::body_type, {"void"}, "there are `real float double bool`, `int int64_t` and the like");
  }

  void no_expression() {
    if (user_text().starts_with("else"))
      return add(DiagId::body_cpp, {"this `else` has no `if`"},
                 "an `if` has one statement and one `else`; several statements stand in braces");
    add(DiagId::body_cpp, {"a value is missing here"}, "an operator like `+` stands between two values");
  }

  // Words of Python and of NumPy behind a value.
  void goes_on() {
    const std::string &text = span_.source->text();
    const auto is_next = [&](std::string_view word) {
      const size_t at = text.find_first_not_of(" \n", span_.begin);
      return at != std::string::npos && text.compare(at, word.size(), word) == 0;
    };
    if (is_next("if "))
      return add(DiagId::body_cpp, {"`if` begins a statement"}, "a choice of two values is `x > 0 ? x : 0`");
    if (is_next("where "))
      return add(DiagId::body_cpp, {"`where` stands between values"},
                 "a condition stands last in a reduction: sum(x, N, where(x > 0))");
    passed_on();
  }

  void unknown_result() {
    if (text_.find("deduced return type") == std::string::npos)
      return passed_on();
    const std::string name = quoted_part(text_);
    add(DiagId::body_function, {"the result of `" + name.substr(0, name.find('<')) + "` is not known yet"},
        "write its type instead of `auto`; functions do not call themselves");
  }

  void name_taken() {
    const std::string name = quoted_part(text_);
    std::string meaning = span_.source->is_body() ? describe_name(*unit_.spec, name) : "";
    if (meaning.empty())
      meaning = span_.source->is_body() ? "a local" : "declared";
    add(DiagId::body_name_taken, {name, meaning},
        span_.source->is_body() ? "use another name for this local"
                                : "functions, and the names within one, each have a name of their own");
  }

  void wrong_call() {
    const std::string name = quoted_part(text_);
    if (const BuiltinRow *row = find_builtin(name))
      return add(DiagId::body_arguments, {name, std::string(row->takes)});
    for (const std::string &note : message_.notes)
      if (note.find("const qualifier") != std::string::npos || note.find("expects an lvalue") != std::string::npos)
        return; // a reference, refused where it is declared
    std::string help;
    for (const LibraryFunction &function : library_functions())
      if (function.name == name)
        help = "it is `" + function.signature + "`";
    const bool users = unit_.functions != nullptr && unit_.functions->identifiers.contains(name);
    if ((help.empty() || users) && !message_.notes.empty())
      help = candidate(message_.notes.front());
    add(DiagId::body_cpp, {"these are not the arguments of `" + name + "`"}, help);
  }

  std::string candidate(const std::string &note) const {
    const size_t colon = note.find(": ");
    return tidy(colon == std::string::npos ? note : note.substr(colon + 2), unit_);
  }

  void unset() {
    if (text_.find("uninitialized") == std::string::npos)
      return passed_on();
    const bool sometimes = text_.find("whenever") != std::string::npos;
    const Span condition = std::exchange(span_, message_.used_at.value_or(span_));
    Diagnostic *d = reporter_.add(DiagId::body_unset, span_, {quoted_part(text_)});
    if (d == nullptr)
      return;
    d->help = sometimes ? "it is not assigned on every way: give it a value where it is declared"
                        : "give it a value where it is declared";
    if (sometimes && message_.used_at)
      d->labels.push_back({condition.source->place(condition.begin, condition.length), "not assigned on one side"});
  }

  void no_result() { add(DiagId::body_function, {"a function must return a value on every way through it"}); }

  void early_return() { add(DiagId::body_unsupported, {"`return`s from the body"}, "put the rest under an `if`"); }

  void declared_late() {
    const std::string name = quoted_part(text_);
    add(DiagId::body_undeclared, {name}, "declare it before the function that calls it");
  }

  void operands() {
    const bool floating = text_.find("float") != std::string::npos || text_.find("double") != std::string::npos;
    const bool power = floating && user_text().starts_with("^");
    add(DiagId::body_cpp, {tidy(text_, unit_)},
        power      ? "a power is `pow(x, 2)`, or `x * x`: `^` takes whole numbers"
        : floating ? "`%`, shifts and `& | ^` take whole numbers"
                   : "");
  }

  void list_value() {
    const bool list = text_.find("list") != std::string::npos;
    add(DiagId::body_unsupported, {list ? "lists as values" : "`<=>`s"});
  }

  // Where Clang points at the `=`: makes that the span of the name before it, which is returned.
  std::string to_assigned_name() {
    const std::string &text = span_.source->text();
    const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    size_t end = span_.begin;
    while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0)
      --end;
    size_t begin = end;
    while (begin > 0 && is_name(text[begin - 1]))
      --begin;
    span_ = {span_.source, begin, std::max<size_t>(end - begin, 1)};
    return text.substr(begin, end - begin);
  }

  // `variance = 3`, where no variable has that name.
  void function_set() {
    const std::string name = to_assigned_name();
    add(DiagId::body_undeclared, {name}, kFunctionSet);
  }

  // `k = 3`, where k is a grid dimension: a statement, or a coordinate.
  void no_axis() {
    const std::string name = to_assigned_name();
    const size_t before =
        span_.begin == 0 ? std::string::npos : span_.source->text().find_last_not_of(" \n", span_.begin - 1);
    const bool coordinate = before != std::string::npos && span_.source->text()[before] == ',';
    const std::string meaning = describe_name(*unit_.spec, name);
    if (!coordinate && !meaning.empty())
      return add(DiagId::body_not_assignable, {name, meaning});
    add(DiagId::body_coordinate, {"only an axis can be given a coordinate"},
        meaning.empty() ? "" : "`" + name + "` is " + meaning);
  }

  void recursion() {
    const std::string &text = span_.source->text();
    size_t end = span_.begin;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    add(DiagId::body_recursion, {text.substr(span_.begin, end - span_.begin)}, "use a loop");
  }

  void passed_on() {
    for (const Saying &saying : kSayings)
      if (text_.starts_with(saying.start))
        return add(DiagId::body_cpp, {saying.text.empty() ? tidy(text_, unit_) : std::string(saying.text)},
                   std::string(saying.help));
    std::string text = text_;
    std::string help;
    if (const size_t at = text.find(kDidYouMean); at != std::string::npos) {
      if (const std::string meant = suggestion(); !meant.empty())
        help = "did you mean `" + meant + "`?";
      text.resize(at);
    }
    add(DiagId::body_cpp, {tidy(std::move(text), unit_)}, help);
  }

  const ClangMessage &message_;
  std::string text_;
  Span span_;
  std::string only_;
  const Unit &unit_;
  Reporter &reporter_;
};

Span place_of(const ClangMessage &message, const Unit &unit) {
  const Span nowhere{unit.body, 0, 1};
  return message.span ? *message.span : message.used_from ? *message.used_from : nowhere;
}

std::string only_in(const std::set<int> &variants, const Unit &unit) {
  if (variants.size() == unit.variants->size())
    return {};
  std::vector<std::string> names;
  for (int variant : variants)
    if (const std::string &name = (*unit.variants)[static_cast<size_t>(variant)].suffix;
        names.empty() || names.back() != name)
      names.push_back(name);
  return "this is so for " + enumerate(names) + " only";
}

} // namespace

void report_clang_messages(const std::vector<ClangMessage> &messages, const Unit &unit, Reporter &reporter) {
  std::map<std::pair<const SourceText *, size_t>, std::set<int>> variants;
  for (const ClangMessage &message : messages) {
    const Span span = place_of(message, unit);
    variants[{span.source, span.begin}].insert(message.variant);
  }
  std::set<std::tuple<const SourceText *, size_t, int>> said; // a second message at one place follows from the first
  std::set<std::pair<const SourceText *, size_t>> faulty, unparsed;  // statements
  std::set<std::tuple<const SourceText *, std::string, int>> missed; // a name that is not declared is told of once
  for (const ClangMessage &message : messages) {
    const Span span = place_of(message, unit);
    const size_t statement = span.source->statement(span.begin);
    if (unparsed.contains({span.source, statement}))
      continue; // what Clang makes of the rest of a statement that it could not read
    if (message.text.starts_with(kUndeclared) &&
        !missed.emplace(span.source, quoted_part(message.text), message.variant).second)
      continue;
    if (message.text.starts_with("expected "))
      unparsed.insert({span.source, statement});
    const bool is_else = span.source->text().compare(span.begin, 4, "else") == 0;
    faulty.insert({span.source, statement});
    if (!said.emplace(span.source, span.begin, message.variant).second ||
        (is_else && statement > 0 && faulty.contains({span.source, statement - 1})))
      continue; // as does an `else` after an `if` that was not understood
    MessageReporter(message, span, only_in(variants[{span.source, span.begin}], unit), unit, reporter).run();
  }
}

} // namespace kgen::body
