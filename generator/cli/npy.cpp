#include "cli/npy.h"

#include <cstring>
#include <fstream>

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

// The text of a value of the header's dictionary.
std::string_view header_value(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos || (at = header.find(':', at)) == std::string_view::npos)
    return {};
  std::string_view rest = header.substr(at + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.empty())
    return {};
  size_t end = rest[0] == '('    ? rest.find(')') + 1
               : rest[0] == '\'' ? rest.find('\'', 1) + 1
                                 : rest.find_first_of(",}");
  return rest.substr(0, end);
}

std::optional<std::vector<int64_t>> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  if (text.empty() || text[0] != '(')
    return std::nullopt;
  int64_t value = 0;
  bool digits = false;
  for (char c : text.substr(1)) {
    if (c >= '0' && c <= '9') {
      if (value > (int64_t{1} << 56) / 10)
        return std::nullopt;
      value = value * 10 + (c - '0');
      digits = true;
    } else if (c == ',' || c == ')') {
      if (digits)
        shape.push_back(value);
      value = 0;
      digits = false;
    } else if (c != ' ') {
      return std::nullopt;
    }
  }
  return shape;
}

} // namespace

std::optional<Array> parse_npy(const std::string &bytes, Type wanted, std::string &reason) {
  std::string_view view = bytes;
  if (view.size() < 12 || view.substr(0, kMagic.size()) != kMagic) {
    reason = "not a .npy file";
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
  std::string_view header = view.substr(8 + length_bytes, length);
  std::string_view descr = header_value(header, "descr");
  bool known = false;
  for (const NpyRow &row : kRows)
    known = known || (row.type == wanted && descr == "'" + std::string(row.name) + "'");
  if (!known) {
    reason = "its elements are " + std::string(descr) + ", which does not do for " + std::string(type_row(wanted).name);
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> shape = parse_shape(header_value(header, "shape"));
  if (!shape || (header_value(header, "fortran_order") == "True" && shape->size() > 1)) {
    reason = "it is not a dense array in C order";
    return std::nullopt;
  }
  Array array{wanted, std::move(*shape), {}};
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
