// Races of kernels that are compiled with -fsanitize=thread: the compiler then calls the model before each access.
#pragma once

namespace cuda_model {

bool races_are_sought();
void forget_accesses();        // a launch begins
void forget_shared_accesses(); // other blocks have the shared memory
// What the model does for threads is no access of theirs.
void pause_accesses(bool pause);

} // namespace cuda_model
