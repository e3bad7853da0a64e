// The emitted functions of one file, told to the driver before main runs; traffic.py writes one such table a file.
#pragma once

#include "driver.h"

struct Registered {
  Registered(const Function *functions, int count);
};
