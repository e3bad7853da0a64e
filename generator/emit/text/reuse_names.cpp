#include "emit/text/reuse_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "support/naming.h"
#include "support/text.h"

namespace kgen {
namespace {

using BlockId = int;

// Texts have many more words than names, so words are looked up where they stand. Nothing goes through the map in
// order.
struct WordHash {
  using is_transparent = void;
  size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};
template <class Value> using ByWord = std::unordered_map<std::string, Value, WordHash, std::equal_to<>>;

// The blocks of a text, one in another, and the words in them. A loop is a block with its head, a function with its
// parameters, whether it has a name or not.
class Blocks {
public:
  void read(const std::string &text);
  // The innermost one around all places where the word stands; -1: there are none.
  BlockId around(const std::string &word) const;
  bool is_inside(BlockId inner, BlockId outer) const;

private:
  enum class Open { parenthesis, braces, statement };
  struct Level {
    Open kind;
    BlockId block;
  };

  BlockId here() const { return levels_.empty() ? 0 : levels_.back().block; }
  void open(Open kind, bool block);
  void close(Open kind);
  void end_statement();
  void stands_here(std::string_view word);

  std::vector<BlockId> outer_ = {-1}; // of each block; the file comes first
  std::vector<Level> levels_;
  ByWord<BlockId> around_;
};

// Calls visit(begin, end, comment) for each word outside of literals, and for each other character of code.
template <class Visit> void for_each_token(const std::string &text, const Visit &visit) {
  bool comment = false;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (is_word(text[at])) {
      end = static_cast<size_t>(std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_word) -
                                text.begin());
      visit(at, end, comment);
    } else if (comment) {
      comment = text[at] != '\n';
    } else if (text.compare(at, 2, "//") == 0) {
      comment = true;
    } else if (text[at] == '"' || text[at] == '\'') {
      while (end < text.size() && text[end] != text[at])
        end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
      visit(at, end, comment);
    }
    at = end;
  }
}

void Blocks::open(Open kind, bool block) {
  BlockId id = here();
  if (block) {
    outer_.push_back(id);
    id = static_cast<BlockId>(outer_.size()) - 1;
  }
  levels_.push_back({kind, id});
}

void Blocks::end_statement() {
  while (!levels_.empty() && levels_.back().kind == Open::statement)
    levels_.pop_back();
}

void Blocks::close(Open kind) {
  end_statement();
  if (!levels_.empty() && levels_.back().kind == kind)
    levels_.pop_back();
  if (kind == Open::braces)
    end_statement();
}

void Blocks::stands_here(std::string_view word) {
  const auto it = around_.find(word);
  if (it == around_.end()) {
    around_.emplace(word, here());
    return;
  }
  while (!is_inside(here(), it->second))
    it->second = outer_[it->second];
}

void Blocks::read(const std::string &text) {
  for_each_token(text, [&](size_t begin, size_t end, bool comment) {
    const std::string_view token = std::string_view(text).substr(begin, end - begin);
    const bool lambda = token == "[" && (text.compare(begin, 2, "[=") == 0 || text.compare(begin, 2, "[&") == 0);
    if (!comment && (token == "for" || lambda || (levels_.empty() && is_word(token[0]))))
      open(Open::statement, true);
    switch (token[0]) {
    case '(':
      return open(Open::parenthesis, false);
    case ')':
      return close(Open::parenthesis);
    case '{':
      return open(Open::braces, true);
    case '}':
      return close(Open::braces);
    case ';':
      return end_statement();
    default:
      if (is_word(token[0]))
        stands_here(token);
    }
  });
  levels_.clear();
}

BlockId Blocks::around(const std::string &word) const {
  const auto it = around_.find(word);
  return it == around_.end() ? -1 : it->second;
}

bool Blocks::is_inside(BlockId inner, BlockId outer) const {
  while (inner > outer) // outer ones come first
    inner = outer_[inner];
  return inner == outer;
}

class Reuse {
public:
  Reuse(const std::vector<std::string> &functions, const Names &names) : names_(names) {
    for (const std::string &text : functions)
      blocks_.read(text);
    std::vector<const Names::Claim *> others;
    std::set<std::string> second; // names that are not the first wish, and those that go with them
    for (const Names::Claim &claim : names.claims()) {
      const std::string wish = wishes_of(claim.base, {claim.suffixes.front()}).front();
      if (claim.name != wish || second.count(claim.base) != 0)
        second.insert(claim.name), others.push_back(&claim);
      else
        take(claim.name, claim.name);
    }
    for (const Names::Claim *claim : others)
      take(claim->name, name_for(*claim));
  }

  std::string renamed(const std::string &text) const {
    std::string out;
    size_t done = 0;
    for_each_token(text, [&](size_t begin, size_t end, bool) {
      const auto it = now_.find(std::string_view(text).substr(begin, end - begin));
      if (it == now_.end())
        return;
      out += text.substr(done, begin - done) + it->second;
      done = end;
    });
    return out + text.substr(done);
  }

private:
  std::string name_for(const Names::Claim &claim) {
    const auto base = now_.find(claim.base);
    const std::vector<std::string> wishes = wishes_of(base == now_.end() ? claim.base : base->second, claim.suffixes);
    const BlockId block = blocks_.around(claim.name);
    const auto is_taken = [&](const std::string &name) { return !is_free(name, block); };
    if (const std::optional<std::string> name = first_free(wishes, is_taken))
      return *name;
    for (int &n = tried_.try_emplace({wishes.back(), block}, 2).first->second;; ++n)
      if (const std::string name = in_words(wishes.back(), n); is_free(name, block))
        return name;
  }

  bool is_free(const std::string &name, BlockId block) const {
    if (!names_.is_claimed(name) && (!names_.is_free(name) || blocks_.around(name) >= 0))
      return false;
    const auto it = taken_.find(name);
    return it == taken_.end() || std::none_of(it->second.begin(), it->second.end(), [&](BlockId other) {
             return blocks_.is_inside(block, other) || blocks_.is_inside(other, block);
           });
  }

  void take(const std::string &name, const std::string &now) {
    if (const BlockId block = blocks_.around(name); block >= 0)
      taken_[now].push_back(block), now_[name] = now;
  }

  const Names &names_;
  Blocks blocks_;
  ByWord<std::string> now_;
  std::map<std::string, std::vector<BlockId>> taken_;    // where each name is had
  std::map<std::pair<std::string, BlockId>, int> tried_; // how often a wish was tried in a block
};

} // namespace

std::vector<std::string> reuse_names(std::vector<std::string> functions, const Names &names) {
  const Reuse reuse(functions, names);
  for (std::string &text : functions)
    text = reuse.renamed(text);
  return functions;
}

} // namespace kgen
