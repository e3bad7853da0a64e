#include "emit/cuda/kernel_text.h"

#include "emit/target_file.h"

namespace kgen {

const std::string &LoopNames::of(const std::string &base, const std::string &suffix, int number) {
  std::string &name = given_[{base + suffix, number}];
  if (name.empty())
    name = names_.claim_one_of(base, {suffix, "_other" + suffix});
  return name;
}

void KernelText::barrier() {
  const std::string barrier = "__syncthreads();";
  if (printer.lines.last() != barrier)
    add(barrier);
}

void KernelText::declare_spare(const std::string &variable, const std::string &declaration) {
  spare.push_back({variable, declaration + "\n"});
  add(declaration);
}

std::string KernelText::finished() {
  std::string body = printer.lines.text();
  const auto end_of_block = [&](size_t at) {
    for (int depth = 0; at < body.size() && depth >= 0; ++at)
      depth += body[at] == '{' ? 1 : body[at] == '}' ? -1 : 0;
    return at;
  };
  for (auto one = spare.rbegin(); one != spare.rend(); ++one)
    for (size_t at = 0; (at = body.find(one->second, at)) != std::string::npos;) {
      const size_t begin = at + one->second.size(); // other blocks may have another variable of the name
      if (mentions_word(body.substr(begin, end_of_block(begin) - begin), one->first))
        at = begin;
      else
        body.erase(at, one->second.size());
    }
  return body;
}

std::string checked(const std::string &call) { return "if (const cudaError_t error = " + call + ") return error;\n"; }

std::string on_host(Printer &printer, const std::function<std::string()> &print) {
  const std::string type = std::exchange(printer.index_type, "int64_t");
  std::string text = print();
  printer.index_type = type;
  return text;
}

} // namespace kgen
