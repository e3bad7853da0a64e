// What the program was called with: --no-timing, --size, --help.
struct Request {
  bool timed = true, help = false;
  GivenSizes sizes;
  std::string mistake;  // empty: there is none
};

// "M=1024,N=37"
inline void read_sizes(const std::string& text, Request& request) {
  std::vector<std::string> known;
{{#functions}}
  for (const Axis& axis : {{{text}}}::axes()) known.push_back(axis.name);
{{/functions}}
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = std::min(one.find('='), one.size());
    const std::string name = one.substr(0, equals), digits = one.substr(std::min(equals + 1, one.size()));
    if (digits.empty() || digits.size() > 15 || digits.find_first_not_of("0123456789") != std::string::npos)
      request.mistake = "--size takes NAME=NUMBER, not " + one;
    else if (std::find(known.begin(), known.end(), name) == known.end())
      request.mistake = "--size " + name + ": there is no such size argument";
    else
      request.sizes.emplace_back(name, std::stoll(digits));
  }
}

inline Request request_of(const std::vector<std::string>& words) {
  Request out;
  for (size_t i = 0; i < words.size() && out.mistake.empty(); ++i) {
    if (words[i] == "--no-timing")
      out.timed = false;
    else if (words[i] == "--help" || words[i] == "-h")
      out.help = true;
    else if (words[i] == "--size" && i + 1 < words.size())
      read_sizes(words[++i], out);
    else if (words[i].compare(0, 7, "--size=") == 0)
      read_sizes(words[i].substr(7), out);
    else
      out.mistake = words[i] == "--size" ? "--size takes NAME=NUMBER" : "there is no " + words[i];
  }
  return out;
}

// Prints how the program is called if that was asked for or is needed; false otherwise.
inline bool explained(const Request& request) {
  if (!request.help && request.mistake.empty()) return false;
  std::FILE* const to = request.mistake.empty() ? stdout : stderr;
  if (!request.mistake.empty()) std::fprintf(stderr, "%s\n", request.mistake.c_str());
  std::fputs(
      "usage: {{kernel}}_selfcheck [--no-timing] [--size NAME=NUMBER,...]\n"
      "Compares the OpenMP functions with the kernel as it is written, over many small sizes, then times them.\n"
      "  --no-timing  only compares\n"
      "  --size       sizes to time, and to compare too where that takes no more than a moment\n"
      "It ends with 0 if all agree, 1 if not, 2 if it was called wrongly.\n",
      to);
  return true;
}
