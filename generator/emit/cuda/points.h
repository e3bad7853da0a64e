// Loops around each other whose points threads, or blocks, take in turn: how many there are, and which of them a number
// stands for.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/kernel_text.h"
#include "plan/cuda/nests.h"

namespace kgen {

std::string points_text(Printer &printer, const Nest &nest);
// As the host knows it, by sizes alone.
std::string length_text(Printer &printer, const std::vector<Size> &factors);
std::string length_text(Printer &printer, const Nest &nest);
// The longest of those that the threads of the phase's kernel share.
std::string longest_text(Printer &printer, const Phase::Launch &launch);

// The loop variables of the nest from a running number; the last runs fastest.
void decode(KernelText &out, const Nest &nest, const std::string &number);

// What the statements of work item `item` need to know of it.
void open_item(KernelText &out, const Nest &items);
// Where the rows of ragged axes begin and how long they are, once for each position of the loops: entries of tables
// would be loaded again after each store.
void name_rows(KernelText &out, const Nest &nest);
// Steps of the work list itself check their windows here, those inside where they begin.
void guard_item(KernelText &out, const Nest &items, const std::string &leave);

} // namespace kgen
