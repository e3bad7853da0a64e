// Nodes as text of the body language.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "grad/absent.h"
#include "grad/graph.h"
#include "grad/widths.h"

namespace kgen::grad {

class Text {
public:
  Text(const Graph &graph, const std::map<NodeId, std::string> &names, const Widths &widths, Absent &absent)
      : graph_(graph), names_(names), widths_(widths), absent_(absent) {}

  // A named node as what it is computed from.
  std::string definition(NodeId id) const { return piece(id, false, true).text; }
  std::string use(NodeId id) const { return piece(id, false, false).text; }
  // The same, 0 where optional inputs that it reads are absent, but for those that are surely there.
  std::string asked_definition(NodeId id) const { return asked(piece(id, false, true), absent_.read_by(id)).text; }
  std::string asked_use(NodeId id, const Absent::Inputs &there = {}) const;
  // As a coordinate, where the name of an axis is its index.
  std::string coordinate(NodeId id) const;
  std::string places(const Node &node, size_t first) const;
  // What is asked of the sizes and parameters of a call.
  std::string requirements() const;

private:
  struct Piece {
    std::string text;
    int strength;
    Type type;         // in C++: a whole number as a literal is no floating one
    bool bare = false; // a literal, or an array that may be narrower than `real`
    bool literal = false;
  };
  Piece piece(NodeId id, bool floating, bool defines) const;
  Piece written(const Node &n, bool floating) const;
  Piece piece(NodeId id, bool floating = false) const { return piece(id, floating, false); }
  Piece number(const Node &n, bool floating) const;
  Piece floating(double value, bool as_such) const;
  Piece operation(const Node &n, bool floating) const;
  Piece infix(const std::string &sign, NodeId a, NodeId b, int strength, Type type) const;
  Piece factor(NodeId id) const;
  void add_factors(NodeId id, std::vector<NodeId> &out) const;
  static bool take_minus(Piece &piece);
  static double divisor(double number);
  std::vector<Piece> multiplied(const Node &n, double number, bool minus) const;
  std::vector<Piece> divided_by(const Node &n, double number) const;
  Piece product(const Node &n, double sign) const;
  Piece sum(const Node &n) const;
  // Is it computed in doubles where `real` is double? What is computed from such that are not, is not, either.
  bool says_real(const Piece &piece) const { return is_floating(piece.type) && !(piece.bare && widths_.doubles); }
  static bool any_floating(const std::vector<Piece> &pieces);
  static std::string list_of(const std::vector<Piece> &pieces);
  static Piece made_real(const Piece &piece);
  void make_real(std::vector<Piece> &pieces) const;
  bool rounds(NodeId id) const;
  Piece operand(const Node &n) const;
  std::string bits_type(const Node &n) const;
  Piece choice(const Node &n, bool floating) const;
  Piece where_there(const Absent::Inputs &inputs, NodeId id, bool floating) const;
  Piece asked(const Piece &piece, const Absent::Inputs &inputs) const;
  Piece fold(const Node &n) const;
  Piece call(const std::string &name, const Node &n, bool floating) const;
  std::string within(const Piece &piece, int strength) const {
    return piece.strength < strength ? "(" + piece.text + ")" : piece.text;
  }
  bool factors_of(NodeId id, std::vector<NodeId> &out) const;
  std::string axes(AxisSet set) const;

  const Graph &graph_;
  const std::map<NodeId, std::string> &names_;
  const Widths &widths_;
  Absent &absent_;
  mutable Absent::Inputs there_; // have been asked for around what is written
  mutable bool in_coordinate_ = false;
  mutable std::map<std::tuple<NodeId, bool, bool, Absent::Inputs>, Piece> pieces_; // of what has no name
};

std::string type_name(Type type); // of a local
std::string number_text(double value);

} // namespace kgen::grad
