// Device and shared memory: poisoned, between guard pages, and out of the host's reach while no kernel runs.
#pragma once

#include <cstddef>

namespace cuda_model {

constexpr int kPoison = 0xff;            // NaN in every floating type, -1 in every integer type
constexpr size_t kSharedAlignment = 128; // of a block's dynamic shared memory
constexpr size_t kSharedDefault = 48 << 10;

// Shared memory of `bytes` for each of the blocks that run at once. It ends (up to alignment) at a guard page.
void map_shared(size_t bytes, size_t blocks);
void select_shared(size_t block);    // whose shared memory shared_base() is
bool is_shared(const void *address); // of any of the blocks that run at once
void poison_shared();
// Fails if bytes beside the shared memory, on its own pages, have been written.
void check_shared_edges();

// A kernel may touch device memory, the host may not.
void open_device_memory();
void close_device_memory();

// The largest run of bytes from `pointer` inside one device allocation; 0 for other pointers.
size_t device_bytes_at(const void *pointer);
void *allocate_device(size_t bytes);
bool release_device(void *pointer);
size_t live_device_allocations();

// What lies at an address that faulted; null if it is none of the model's.
const char *describe_address(const void *address);

} // namespace cuda_model
