// A spec is seen as lines, a line as words: names, numbers, signs and the space between them. Strings of the TOML and
// statements of the body need no parser for this, their words are words too.
#include "mutate.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::bytes {
namespace {

// What may stand where a number stands.
constexpr std::string_view kNumbers[] = {
    "0",          "1",           "2",          "3",           "7",     "8",      "16",         "64",
    "127",        "128",         "1024",       "65536",       "-1",    "1e30",   "0.1",        "2147483647",
    "2147483648", "-2147483648", "4294967295", "10000000000", "1e999", "1e-999", "0x7fffffff", "9223372036854775807"};

// What may stand where a name stands: types, builtins, words of the language and of specs.
constexpr std::string_view kWords[] = {"f64",
                                       "f32",
                                       "f16",
                                       "bf16",
                                       "i64",
                                       "i32",
                                       "i8",
                                       "u64",
                                       "u8",
                                       "bool",
                                       "real",
                                       "double",
                                       "int64_t",
                                       "int",
                                       "auto",
                                       "const",
                                       "x",
                                       "y",
                                       "z",
                                       "N",
                                       "M",
                                       "K",
                                       "i",
                                       "T",
                                       "sum",
                                       "prod",
                                       "max",
                                       "min",
                                       "mean",
                                       "any",
                                       "all",
                                       "argmax",
                                       "argmin",
                                       "cumsum",
                                       "cummax",
                                       "cumprod",
                                       "linrec",
                                       "dot",
                                       "where",
                                       "at",
                                       "inside",
                                       "index",
                                       "size",
                                       "block",
                                       "first",
                                       "last",
                                       "present",
                                       "round_like",
                                       "exp",
                                       "log",
                                       "sqrt",
                                       "pow",
                                       "abs",
                                       "sign",
                                       "floor",
                                       "round",
                                       "fma",
                                       "clamp",
                                       "isnan",
                                       "popcount",
                                       "bitcast",
                                       "inf",
                                       "nan",
                                       "random",
                                       "assert",
                                       "softmax",
                                       "logsumexp",
                                       "gelu",
                                       "if",
                                       "else",
                                       "for",
                                       "while",
                                       "break",
                                       "continue",
                                       "true",
                                       "false",
                                       "inputs",
                                       "outputs",
                                       "scratch",
                                       "scalars",
                                       "tables",
                                       "axes",
                                       "grid",
                                       "params",
                                       "types",
                                       "batch",
                                       "schedule",
                                       "outside",
                                       "layout",
                                       "optional",
                                       "alias",
                                       "partial",
                                       "overwrite",
                                       "atomic",
                                       "offset",
                                       "squeeze",
                                       "whole",
                                       "axis",
                                       "semantics",
                                       "parallel",
                                       "arbitrary",
                                       "sequential",
                                       "at_most",
                                       "sorted",
                                       "unique",
                                       "range",
                                       "multiple_of",
                                       "equals",
                                       "ragged",
                                       "over",
                                       "cdiv",
                                       "kernel",
                                       "body",
                                       "functions",
                                       "return",
                                       "cumsum_exclusive",
                                       "cumsum_reverse",
                                       "random_bits",
                                       "erfinv",
                                       "atan2"};

constexpr std::string_view kSigns[] = {
    "+", "-", "*",  "/",  "%", "==", "!=",  "<",  "<=", ">",   ">=",     "&&", "||", "!",  "~",  "&",
    "|", "^", "<<", ">>", "?", ":",  "=",   "+=", "-=", "*=",  "/=",     "++", "--", "(",  ")",  "[",
    "]", "{", "}",  ",",  ";", ".",  "...", "'",  "\"", "'''", "\"\"\"", "\n", "#",  "//", "/*", "*/"};

// Whole lines: first those of the declarations, then statements. Names are those that small specs use.
constexpr std::string_view kLines[] = {
    "types.T = [\"f32\", \"f16\", \"i32\"]",
    "params.p = [1, 2]",
    "params.act = [\"relu\", \"tanh\"]",
    "scalars.alpha = \"f32\"",
    "axes.N = [4, 8]",
    "axes.N = 4",
    "axes.N = { multiple_of = 8 }",
    "axes.P = { equals = \"N / 2 + 1\" }",
    "axes.I = 3",
    "axes.N = { ragged = \"t\", over = \"B\" }",
    "tables.t = \"i64[B + 1]\"",
    "tables.t = { type = \"i32[N]\", sorted = true, unique = true, range = \"N\" }",
    "tables.t = { type = \"i32[N]\", where = \"host\" }",
    "inputs.x = \"T[..., N]\"",
    "inputs.x = \"f32[(G C), N=4]\"",
    "inputs.x = { type = \"f32[N, M]\", block = [4, \"squeeze\"], index = [\"i\", \"j\"] }",
    "inputs.x = { type = \"f32[N]\", block = [4], offset = [\"2*i - 1\"], outside = -1 }",
    "inputs.x = { type = \"f32[N]\", optional = true, layout = \"strided\" }",
    "outputs.y = { type = \"f32[N]\", partial = true, atomic = true }",
    "outputs.y = { type = \"f32[N]\", alias = \"x\" }",
    "outputs.y = { type = \"f32[N]\", overwrite = true, block = [8], index = [\"t[i]\"] }",
    "scratch.s = \"f32[N]\"",
    "scratch.s = \"f32[]\"",
    "grid.i = { axis = \"N\", block = 4, semantics = \"arbitrary\" }",
    "grid.j = { axis = \"M\", block = [8, 16] }",
    "grid.k = { size = \"cdiv(N, 4)\", semantics = \"parallel\" }",
    "grid.k = { size = \"t[i]\", at_most = 7, semantics = \"arbitrary\" }",
    "batch.B = [\"x\", \"y\"]",
    "schedule.openmp.precision = \"strict\"",
    "functions = 'real f(real v, axis A) { return v - max(v, A); }'",
    "functions_from = \"boxes.h\"",
    "real s = sum(x, N);",
    "auto e = exp(x - max(x, N));",
    "y = x;",
    "y += x;",
    "y = dot(x, x, N, where(index(N) < 3));",
    "y = at(x, N = index(N) - 1);",
    "at(y, N = index(N)) += x;",
    "if (x > 0) y = x; else y = 0;",
    "if (first(i)) s = 0;",
    "if (last(i)) y = s;",
    "s += sum(x, N);",
    "for (int k = 0; k < 4; ++k) y += k;",
    "while (s > 1) s /= 2;",
    "float a[4]; for (int k = 0; k < 4; ++k) a[k] = k;",
    "y = cumsum(x, N);",
    "y = linrec(x, x, N);",
    "y = argmax(x, N);",
    "y = random(1, index(N));",
    "y = round_like(x, y);",
};

class Changer {
public:
  Changer(std::string text, unsigned seed) : random_(seed), text_(std::move(text)) {}

  void change(const std::string &other) {
    struct Row {
      void (Changer::*apply)(const std::string &other);
      unsigned weight;
    };
    static constexpr Row kChanges[] = {
        {&Changer::replace_word, 8}, {&Changer::remove_word, 2}, {&Changer::double_word, 2}, {&Changer::swap_words, 2},
        {&Changer::insert_word, 2},  {&Changer::remove_line, 2}, {&Changer::move_line, 2},   {&Changer::double_line, 1},
        {&Changer::add_line, 3},     {&Changer::take_line, 3},   {&Changer::take_value, 4},  {&Changer::repeat_word, 1},
        {&Changer::nest, 1},         {&Changer::rename_line, 2}};
    unsigned total = 0;
    for (const Row &row : kChanges)
      total += row.weight;
    unsigned pick = static_cast<unsigned>(below(total));
    for (const Row &row : kChanges) {
      if (pick < row.weight)
        return (this->*row.apply)(other);
      pick -= row.weight;
    }
  }

  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string &text() const { return text_; }

private:
  enum class Kind { space, name, number, sign };
  struct Word {
    size_t begin, length;
    Kind kind;
  };

  static Kind kind_of(char c) {
    const auto u = static_cast<unsigned char>(c);
    return std::isspace(u) != 0               ? Kind::space
           : std::isdigit(u) != 0             ? Kind::number
           : std::isalpha(u) != 0 || c == '_' ? Kind::name
                                              : Kind::sign;
  }

  static std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> out;
    for (size_t i = 0; i < text.size();) {
      const size_t begin = i;
      const Kind kind = kind_of(text[i++]);
      auto goes_on = [&](char c) {
        return kind == Kind::name || kind == Kind::number
                   ? kind_of(c) == Kind::name || kind_of(c) == Kind::number || (kind == Kind::number && c == '.')
                   : kind == Kind::sign && text[begin] == c && (c == '.' || c == '\'' || c == '&' || c == '|');
      };
      while (i < text.size() && goes_on(text[i]))
        ++i;
      if (kind != Kind::space)
        out.push_back({begin, i - begin, kind});
    }
    return out;
  }

  static std::vector<std::pair<size_t, size_t>> lines_of(std::string_view text) { // offset and length with the break
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      out.emplace_back(begin, end - begin);
      begin = end;
    }
    return out;
  }

  template <size_t n> std::string any_of(const std::string_view (&list)[n]) { return std::string(list[below(n)]); }

  std::optional<Word> any_word() {
    const std::vector<Word> words = words_of(text_);
    return words.empty() ? std::nullopt : std::optional(words[below(words.size())]);
  }

  // Most often of the text's own, so that names stay declared.
  std::string any_word_like(Kind kind, const std::string &other) {
    if (below(3) > 0) {
      const std::string &from = below(4) == 0 ? other : text_;
      std::vector<Word> words = words_of(from);
      std::erase_if(words, [&](const Word &w) { return w.kind != kind; });
      if (!words.empty()) {
        const Word &word = words[below(words.size())];
        return from.substr(word.begin, word.length);
      }
    }
    return kind == Kind::number ? any_of(kNumbers) : kind == Kind::name ? any_of(kWords) : any_of(kSigns);
  }

  void replace_word(const std::string &other) {
    if (const auto word = any_word()) {
      const Kind kind = below(12) == 0 ? static_cast<Kind>(1 + below(3)) : word->kind;
      text_.replace(word->begin, word->length, any_word_like(kind, other));
    }
  }
  void remove_word(const std::string &) {
    if (const auto word = any_word())
      text_.erase(word->begin, word->length);
  }
  void insert_word(const std::string &other) {
    if (const auto word = any_word())
      text_.insert(word->begin, any_word_like(static_cast<Kind>(1 + below(3)), other) + " ");
  }
  void double_word(const std::string &) {
    if (const auto word = any_word())
      text_.insert(word->begin, text_.substr(word->begin, word->length) + " ");
  }
  void repeat_word(const std::string &) { // with the sign or name beside it
    const std::vector<Word> words = words_of(text_);
    if (words.size() < 2)
      return;
    const size_t at = below(words.size() - 1);
    const size_t end = words[at + 1].begin + words[at + 1].length;
    const std::string part = text_.substr(words[at].begin, end - words[at].begin);
    std::string all;
    for (size_t i = size_t{1} << below(8); i > 0; --i)
      all += part;
    text_.insert(words[at].begin, all);
  }
  void swap_words(const std::string &) {
    std::optional<Word> a = any_word(), b = any_word();
    if (!a || !b || a->begin == b->begin)
      return;
    if (a->begin > b->begin)
      std::swap(a, b);
    const std::string first = text_.substr(a->begin, a->length), second = text_.substr(b->begin, b->length);
    text_.replace(b->begin, b->length, first);
    text_.replace(a->begin, a->length, second);
  }
  void nest(const std::string &) { // a word in brackets, calls or blocks
    constexpr std::string_view kAround[][2] = {{"(", ")"},        {"[", "]"},       {"{", "}"},
                                               {"exp(", ")"},     {"sum(", ", N)"}, {"if (x > 0) { ", " }"},
                                               {"-(", " + 1)"},   {"max(", ", 0)"}, {"for (;;) { ", " }"},
                                               {"(x ? ", " : y)"}};
    if (const auto word = any_word()) {
      const auto &[before, after] = kAround[below(std::size(kAround))];
      std::string head, tail;
      for (size_t i = size_t{1} << below(6); i > 0; --i) {
        head += before;
        tail += after;
      }
      text_.insert(word->begin + word->length, tail);
      text_.insert(word->begin, head);
    }
  }

  std::string line(const std::string &of, std::pair<size_t, size_t> range) {
    std::string out = of.substr(range.first, range.second);
    if (!out.ends_with('\n'))
      out += '\n';
    return out;
  }
  void insert_line(const std::string &what) {
    const auto lines = lines_of(text_);
    text_.insert(lines.empty() ? 0 : lines[below(lines.size())].first, what);
  }
  void remove_line(const std::string &) {
    const auto lines = lines_of(text_);
    if (lines.size() > 1) {
      const auto [begin, length] = lines[below(lines.size())];
      text_.erase(begin, length);
    }
  }
  void move_line(const std::string &) {
    const auto lines = lines_of(text_);
    if (lines.size() < 2)
      return;
    const auto range = lines[below(lines.size())];
    const std::string what = line(text_, range);
    text_.erase(range.first, range.second);
    insert_line(what);
  }
  void double_line(const std::string &) {
    const auto lines = lines_of(text_);
    if (!lines.empty())
      insert_line(line(text_, lines[below(lines.size())]));
  }
  void add_line(const std::string &) { insert_line(any_of(kLines) + "\n"); }
  void take_line(const std::string &other) {
    const auto lines = lines_of(other);
    if (!lines.empty())
      insert_line(line(other, lines[below(lines.size())]));
  }

  // `key = value`, on one line.
  static size_t value_of(std::string_view line) {
    const size_t at = line.find('=');
    return at == std::string_view::npos ? at : at + 1;
  }
  void take_value(const std::string &other) {
    const auto mine = lines_of(text_), theirs = lines_of(other);
    if (mine.empty() || theirs.empty())
      return;
    const auto [begin, length] = mine[below(mine.size())];
    const std::string from = line(other, theirs[below(theirs.size())]);
    const size_t to_value = value_of(std::string_view(text_).substr(begin, length)), from_value = value_of(from);
    if (to_value != std::string::npos && from_value != std::string::npos)
      text_.replace(begin + to_value, length - to_value, from.substr(from_value));
  }
  // One name of a line becomes another everywhere in the text.
  void rename_line(const std::string &other) {
    const auto word = any_word();
    if (!word || word->kind != Kind::name)
      return;
    const std::string old = text_.substr(word->begin, word->length), fresh = any_word_like(Kind::name, other);
    std::string out;
    size_t end = 0;
    for (const Word &w : words_of(text_)) {
      out += text_.substr(end, w.begin - end);
      const std::string_view here = std::string_view(text_).substr(w.begin, w.length);
      out += here == old ? std::string_view(fresh) : here;
      end = w.begin + w.length;
    }
    text_ = out + text_.substr(end);
  }

  std::minstd_rand random_;
  std::string text_;
};

size_t copy_out(const std::string &text, uint8_t *out, size_t max_size) {
  const size_t size = std::min(text.size(), max_size);
  std::memcpy(out, text.data(), size);
  return size;
}

std::string text_of(const uint8_t *data, size_t size) { return {reinterpret_cast<const char *>(data), size}; }

} // namespace

size_t mutate_spec(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  Changer changer(text_of(data, size), seed);
  for (size_t count = 1 + changer.below(3); count > 0; --count)
    changer.change(changer.text());
  return copy_out(changer.text(), data, max_size);
}

size_t cross_specs(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                   size_t max_size, unsigned seed) {
  Changer changer(text_of(data, size), seed);
  const std::string from = text_of(other, other_size);
  for (size_t count = 1 + changer.below(4); count > 0; --count)
    changer.change(from);
  return copy_out(changer.text(), out, max_size);
}

} // namespace kgen::bytes
