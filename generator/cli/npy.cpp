#include "cli/npy.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <utility>

#include "support/text.h"

namespace kgen {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyRow {
  Type type;
  std::string_view name; // as written; the first row of a type counts
};
constexpr NpyRow kRows[] = {
    {Type::f64, "<f8"},  {Type::f32, "<f4"}, {Type::f16, "<f2"}, {Type::bf16, "<u2"}, {Type::bf16, "|V2"},
    {Type::bf16, "<V2"}, {Type::i64, "<i8"}, {Type::i32, "<i4"}, {Type::i16, "<i2"},  {Type::i8, "|i1"},
    {Type::u64, "<u8"},  {Type::u32, "<u4"}, {Type::u16, "<u2"}, {Type::u8, "|u1"},   {Type::boolean, "|b1"},
};

// The header: a dictionary of Python with three keys, in any order, blanks anywhere. NumPy writes it in one way only,
// others in other ways, and it must not be misread: what is not understood is refused.
class Header {
public:
  explicit Header(std::string_view text) : rest_(text) {}

  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;

  bool parse() {
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take("{"))
      return false;
    while (!take("}")) {
      const std::optional<std::string> key = string();
      if (!key || !take(":"))
        return false;
      const bool read = *key == "descr"           ? !std::exchange(has_descr, true) && assign(string(), descr)
                        : *key == "fortran_order" ? !std::exchange(has_order, true) && assign(boolean(), fortran_order)
                        : *key == "shape"         ? !std::exchange(has_shape, true) && assign(tuple(), shape)
                                                  : false;
      if (!read || (!take(",") && !next_is('}')))
        return false;
    }
    skip_blanks();
    return rest_.empty() && has_descr && has_order && has_shape;
  }

private:
  template <class T> static bool assign(std::optional<T> from, T &to) {
    if (from)
      to = std::move(*from);
    return from.has_value();
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool next_is(char c) {
    skip_blanks();
    return rest_.starts_with(c);
  }

  bool take(std::string_view word) {
    skip_blanks();
    const bool found = rest_.starts_with(word);
    rest_.remove_prefix(found ? word.size() : 0);
    return found;
  }

  std::optional<std::string> string() {
    if (!next_is('\'') && !next_is('"'))
      return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string out(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out;
  }

  std::optional<bool> boolean() {
    if (take("True"))
      return true;
    return take("False") ? std::optional(false) : std::nullopt;
  }

  std::optional<int64_t> number() {
    skip_blanks();
    int64_t value = 0;
    const auto [end, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (fault != std::errc() || value < 0)
      return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    take("L"); // as Python 2 wrote it
    return value;
  }

  // (), (2,), (2, 3), (2, 3,): without a comma, parentheses alone make no tuple.
  std::optional<std::vector<int64_t>> tuple() {
    std::vector<int64_t> out;
    bool comma = true;
    if (!take("("))
      return std::nullopt;
    while (!take(")")) {
      const std::optional<int64_t> value = comma ? number() : std::nullopt;
      if (!value)
        return std::nullopt;
      out.push_back(*value);
      comma = take(",");
    }
    return out.size() == 1 && !comma ? std::nullopt : std::optional(std::move(out));
  }

  std::string_view rest_;
};

} // namespace

std::optional<Array> parse_npy(const std::string &bytes, Type wanted, std::string &reason) {
  std::string_view view = bytes;
  if (view.size() < 12 || view.substr(0, kMagic.size()) != kMagic) {
    reason = "not a .npy file";
    return std::nullopt;
  }
  if (view[6] < 1 || view[6] > 3) {
    reason = "it is a .npy file of version " + std::to_string(view[6]) + "; there are 1, 2 and 3";
    return std::nullopt;
  }
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(view[i])); };
  size_t length_bytes = view[6] == 1 ? 2 : 4, length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length |= byte(8 + i) << (8 * i);
  size_t data = 8 + length_bytes + length;
  if (data > view.size()) {
    reason = "the header is cut off";
    return std::nullopt;
  }
  Header header(view.substr(8 + length_bytes, length));
  if (!header.parse()) {
    reason = "its header is none of NumPy's: type, order and shape of one array";
    return std::nullopt;
  }
  const bool known =
      std::ranges::any_of(kRows, [&](const NpyRow &row) { return row.type == wanted && header.descr == row.name; });
  if (!known) {
    reason = "its elements are '" + printable(header.descr) + "', which does not do for " +
             std::string(type_row(wanted).name);
    return std::nullopt;
  }
  if (header.fortran_order && header.shape.size() > 1) {
    reason = "its columns lie one after the other, not its rows (Fortran order)";
    return std::nullopt;
  }
  Array array{wanted, std::move(header.shape), {}};
  size_t want = 1;
  for (int64_t extent : array.shape)
    if (__builtin_mul_overflow(want, static_cast<size_t>(extent), &want))
      want = kLargestArray;
  if (want > kLargestArray || view.size() - data != want * bytes_of(wanted)) {
    reason = "its size does not fit its shape";
    return std::nullopt;
  }
  array.bytes.assign(view.begin() + data, view.end());
  return array;
}

std::string format_npy(const Array &array) {
  std::string_view name;
  for (const NpyRow &row : kRows)
    if (row.type == array.type && name.empty())
      name = row.name;
  std::string shape;
  for (int64_t extent : array.shape)
    shape += std::to_string(extent) + ",";
  if (array.shape.size() > 1)
    shape.pop_back();
  std::string header = "{'descr': '" + std::string(name) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char *>(array.bytes.data()), array.bytes.size());
  return out;
}

bool write_npy(const std::string &path, const Array &array, std::string &reason) {
  std::ofstream file(path, std::ios::binary);
  std::string bytes = format_npy(array);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    reason = "the file cannot be written";
  return static_cast<bool>(file);
}

} // namespace kgen
