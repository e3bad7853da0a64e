// .npy files: what numpy writes is read, what is written numpy reads, and what does not fit is refused.
#include "cli/npy.h"

#include <doctest/doctest.h>

using namespace kgen;

namespace {

std::string file(const std::string &header, const std::string &data) {
  std::string padded = header + "\n";
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(padded.size() & 255);
  out += static_cast<char>(padded.size() >> 8);
  return out + padded + data;
}

std::string reason_of(const std::string &bytes, Type type) {
  std::string reason;
  return parse_npy(bytes, type, reason) ? "" : reason;
}

} // namespace

TEST_CASE("every type and shape survives") {
  for (Type type : {Type::f64, Type::f32, Type::f16, Type::bf16, Type::i64, Type::i32, Type::i16, Type::i8, Type::u64,
                    Type::u32, Type::u16, Type::u8, Type::boolean})
    for (std::vector<int64_t> shape : std::vector<std::vector<int64_t>>{{}, {3}, {2, 3}, {0, 5}}) {
      Array array{type, shape, {}};
      for (int64_t i = 0; i < array.elements() * bytes_of(type); ++i)
        array.bytes.push_back(static_cast<unsigned char>(type == Type::boolean ? i % 2 : i));
      std::string reason, bytes = format_npy(array);
      CHECK((bytes.find('\n') + 1) % 64 == 0);
      std::optional<Array> back = parse_npy(bytes, type, reason);
      REQUIRE_MESSAGE(back, reason);
      CHECK(back->shape == shape);
      CHECK(back->bytes == array.bytes);
    }
}

TEST_CASE("headers as numpy writes them, in any order of keys") {
  std::string reason;
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(parse_npy(file(header, "12345678"), Type::f32, reason));
  CHECK(parse_npy(file("{'shape': (2, 1), 'fortran_order': False, 'descr': '<f4'}", "12345678"), Type::f32, reason));
  CHECK(parse_npy(file("{'descr': '|V2', 'fortran_order': False, 'shape': ()}", "12"), Type::bf16, reason));
}

TEST_CASE("what does not fit is refused with a reason") {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(reason_of("", Type::f32) == "not a .npy file");
  CHECK(reason_of(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), Type::f32) == "the header is cut off");
  CHECK(reason_of(file(header, "1234567"), Type::f32) == "its size does not fit its shape");
  CHECK(reason_of(file(header, "12345678"), Type::f64) == "its elements are '<f4', which does not do for f64");
  CHECK(reason_of(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", "12345678"), Type::f32) ==
        "its columns lie one after the other, not its rows (Fortran order)");
  CHECK(reason_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}", ""),
                  Type::f32) == "its size does not fit its shape");
  CHECK(reason_of(file("{'descr'", ""), Type::f32) != "");
}

TEST_CASE("headers that NumPy reads mean the same here") {
  std::string reason;
  for (const char *order : {"True ", "True\t", "True", " True  "})
    for (const char *form : {"{'descr': '<f4', 'shape': (2, 1), 'fortran_order': @}",
                             "{ 'fortran_order' :@, 'shape': (2,1,) ,'descr':\"<f4\" , }"}) {
      std::string header = form;
      header.replace(header.find('@'), 1, order);
      CHECK(reason_of(file(header, "12345678"), Type::f32).find("Fortran order") != std::string::npos);
      header.replace(header.find("True"), 4, "False");
      const std::optional<Array> array = parse_npy(file(header, "12345678"), Type::f32, reason);
      REQUIRE_MESSAGE(array, header);
      CHECK(array->shape == std::vector<int64_t>{2, 1});
    }
}

TEST_CASE("headers that NumPy refuses are refused") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  auto with = [&](const std::string &from, const std::string &to) {
    std::string header = good;
    return header.replace(header.find(from), from.size(), to);
  };
  for (const std::string &header : {with("(2,)", "(2,,)"),
                                    with("(2,)", "(2)"),
                                    with("(2,)", "(2, )(7)"),
                                    with("(2,)", "(,2)"),
                                    with("(2,)", "(-2,)"),
                                    with("(2,)", "(2.0,)"),
                                    with("(2,)", "[2]"),
                                    with("(2,)", "(2,"),
                                    with("False", "None"),
                                    with("False", "Falsee"),
                                    with("'fortran_order': False, ", ""),
                                    with("'descr': '<f4', ", ""),
                                    with("'shape': (2,), ", ""),
                                    with("'shape'", "'descr': '<f4', 'shape'"),
                                    with("'shape'", "'extra': 1, 'shape'"),
                                    good + "{}",
                                    with("{", ""),
                                    with("}", ""),
                                    with(", 'shape'", " 'shape'"),
                                    with("'<f4'", "[('a', '<f4')]"),
                                    with("(2,)", "(99999999999999999999,)")})
    CHECK_MESSAGE(reason_of(file(header, "12345678"), Type::f32) != "", header);
  for (const char version : {0, 4, 9}) {
    std::string bytes = file(good, "12345678");
    bytes[6] = version;
    CHECK(reason_of(bytes, Type::f32).find("version") != std::string::npos);
  }
}
