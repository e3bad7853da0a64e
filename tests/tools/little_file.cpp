// How long a compiler takes for this says how fast a machine is: budgets of time are for one that takes 5 s.
#include <regex>

int main(int, char **words) { return std::regex_match(words[0], std::regex(words[0])); }
