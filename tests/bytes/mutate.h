// Changes of a text that keep much of its form: whole lines, whole words, values of keys. A spec that is still nearly
// legal reaches the stages that random bytes never do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kgen::bytes {

// In place; returns the new size. As libFuzzer's custom mutator.
size_t mutate_spec(uint8_t *data, size_t size, size_t max_size, unsigned seed);
// Lines and values of `other` into a copy of `data`.
size_t cross_specs(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                   size_t max_size, unsigned seed);

} // namespace kgen::bytes
