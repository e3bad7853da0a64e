// The backward kernel as a TOML document.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grad/functions.h"
#include "spec/spec.h"

namespace kgen::grad {

struct GradientOutput {
  std::string name; // d_x
  std::string of;   // x: an input or a scalar
  std::string type; // of a scalar; empty: as x
  bool atomic = false;
};

struct Document {
  std::string prefix = "d_";
  std::string body, functions;
  std::string functions_from;   // the file of just these functions
  std::set<std::string> used;   // what the body reads
  std::set<std::string> params; // parameters that stay
  std::map<std::string, CalledDerivatives> derivatives;
  std::vector<std::string> differentiated; // forward outputs
  std::vector<GradientOutput> outputs;
  std::vector<std::vector<Type>> types; // the rows of types that stay, one type for each parameter
  std::map<std::pair<std::string, std::string>, std::string> renamed; // axes of arrays that differ in size along them
  std::map<std::string, Size> body_axes; // the forward kernel's axes that the body goes along
  std::map<std::string, Size> made_axes; // axes of the body alone, and their sizes
};

// The functions that the body calls, and those of their derivatives that it calls. Where there are no such derivatives,
// the file of the forward kernel's functions may stay. False after errors.
bool add_functions(const Spec &spec, bool functions_from_stay, Document &document, Diagnostics &diags);

std::string backward_document(const Spec &spec, const Document &document);

} // namespace kgen::grad
