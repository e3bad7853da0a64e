real twice(real v) { return 2 * v; }
