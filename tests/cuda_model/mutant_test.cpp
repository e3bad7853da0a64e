// Runs the samples, of which one has been broken at compile time, in a child process for each of three seeds, and asks
// that each child ends as named: with one of the model's faults, or with results that differ from the host's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "check_samples.h"
#include "cuda_model/model.h"

namespace {

constexpr int kWrongResult = 1;
struct Outcome {
  const char *name;
  int exit_code;
};
constexpr Outcome kOutcomes[] = {
    {"right", 0},
    {"wrong_result", kWrongResult},
    {"out_of_bounds", static_cast<int>(cuda_model::Fault::kOutOfBounds)},
    {"deadlock", static_cast<int>(cuda_model::Fault::kDeadlock)},
    {"bad_lanes", static_cast<int>(cuda_model::Fault::kBadLanes)},
    {"host_access", static_cast<int>(cuda_model::Fault::kHostAccess)},
    {"stack_overflow", static_cast<int>(cuda_model::Fault::kStackOverflow)},
    {"race", static_cast<int>(cuda_model::Fault::kRace)},
};

int run_samples() {
  bool right = check_axpy(4099) && check_row_sum(11, 300) && check_transpose(45, 70) && check_mean(9001) &&
               check_centre(19, 130, false) && check_centre(19, 130, true) && check_histogram(5000, 700);
  return right ? 0 : kWrongResult;
}

int exit_code_with_seed(int seed) {
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    setenv("KGEN_MODEL_SEED", std::to_string(seed).c_str(), 1);
    _exit(run_samples());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

} // namespace

int main(int argc, char **argv) {
  for (const Outcome &outcome : kOutcomes) {
    if (argc != 2 || strcmp(argv[1], outcome.name) != 0)
      continue;
    int failures = 0;
    for (int seed = 1; seed <= 3; ++seed) {
      int got = exit_code_with_seed(seed);
      printf("seed %d: exit code %d, expected %d\n", seed, got, outcome.exit_code);
      failures += got != outcome.exit_code;
    }
    return failures ? 1 : 0;
  }
  fprintf(stderr, "usage: mutant_test OUTCOME\n");
  return 2;
}
