//@ Team: thread_number larger
// first, ..., end - 1
struct Span {
  int64_t first, end;
  int64_t count() const { return larger(end - first, 0); }
  // One of so many parts, which are of one size as nearly as can be.
  Span part(int64_t number, int64_t parts) const {
    return {first + count() * number / parts, first + count() * (number + 1) / parts};
  }
};
// Threads that compute something together, and this one's number among them; or one that computes it alone,
// in its own memory.
struct Team {
  int64_t number = 0, count = 1;
  bool alone = false;
  static constexpr bool packed = false;

  void wait() const {
    if (count > 1) {
      OMP(omp barrier)
    }
  }
};
inline Team all_threads() {
#if defined(_OPENMP)
  return {thread_number(), omp_get_num_threads()};
#else
  return {};
#endif
}
// Each thread computes a product of its own. `packed`: an earlier call has put the right factor in panels.
struct Alone {
  static constexpr int64_t number = 0, count = 1;
  static constexpr bool alone = true;
  bool packed;
  void wait() const {}
};
inline Alone each_alone(bool packed = false) { return {packed}; }
//@ Batches: Team
// Several products of matrices: where they are many and small, each thread computes its own ones; else all
// threads compute them together, one after the other.
struct Batches {
  Span some;
  Team team;
};
inline Batches batches_of(int64_t count, bool alone) {
  const Team all = all_threads();
  if (all.count > 1 && (count < all.count || !alone)) return {{0, count}, all};
  return {Span{0, count}.part(all.number, all.count), {0, 1, alone}};
}
//@ Cut: Team Lanes ceil_div smaller larger
constexpr int kTileRows = KGEN_SET_AVX512 ? 12 : 6;

// How a contraction is cut: each number of the result folds what `left` has for its row and `right` for its
// column, from the first position of the depth to the last. A tile has kTileRows rows and two vectors of
// columns: with what is folded into it, it fills the registers. What tiles read lies in panels, in the order
// in which they read it. A tile goes down a part of the depth: so deep, a panel of columns stays in the first
// cache while the tiles of some rows, whose panels stay in the second, take their turns. Each part has
// totals of its own, which are combined with those of the parts before: so long sums round less often.
template <class Total, class Left, class Right, int N>
struct Cut {
  static constexpr int kColumns = 2 * N, kFewColumns = kTileRows < N ? kTileRows : N - 1;
  // So many rows meet a right factor that lies along the columns, or along the depth, as it is read.
  static constexpr int kFewRows = kTileRows, kFewRowsDown = 32, kPanelsOfFewRows = 16;
  // Words are folded so fast that what waits would take longer than columns that come from the second cache.
  static constexpr int64_t kDeep = std::is_same_v<Left, int32_t> ? 1024 : 256;
  static constexpr int64_t kLeftNumbers = (1 << 18) / int64_t(sizeof(Left));
  static constexpr int64_t kRightBytes = 1 << 26, kShared = 1 << 24, kLeastDepth = 64;
  static constexpr int64_t kPanelsThatWait = 32, kTilesBeside = 40;
  int64_t depth, bands, panels, tiles;           // panels of columns in all bands, tiles of rows
  int64_t some_rows, some_columns;               // as many as there are, or some more than are few
  int64_t part;                                  // of the depth
  int64_t panels_at_once, tiles_at_once;         // that lie in panels
  bool few_columns, few_rows;                    // which meet all of the other factor as it is read
  bool packs_left = false, packs_right = false;  // else they are read where they lie, as is best for a few
  bool alone;                                    // a thread computes it by itself, if there are several

  IN_SET Cut(Span rows, int64_t bands_, Span columns, Span depth_)
      : depth(smaller(larger(depth_.count(), 1), int64_t{1} << 50)),  // what its bytes can be counted for
        bands(bands_),
        panels(bands_ * ceil_div(columns.count(), kColumns)),
        tiles(ceil_div(rows.count(), kTileRows)),
        some_rows(smaller(rows.count(), kFewRowsDown + 1)),
        some_columns(smaller(bands_ * columns.count(), kFewColumns + 1)) {
    const double work = double(rows.count()) * double(bands * columns.count()) * double(depth);
    const bool is_much = work > 64 * 64 * 64;
    few_columns = some_columns <= kFewColumns && depth > kLeastDepth;
    few_rows = is_much && some_rows <= kFewRows && panels >= kPanelsOfFewRows;
    packs_left = is_much;
    packs_right = packs_left && tiles > 2;
    alone = work <= kShared;
    part = packs_left ? ceil_div(ceil_div(depth, ceil_div(depth, kDeep)), N) * N : depth;
    tiles_at_once =
        larger(1, smaller(smaller(tiles, kTilesBeside), kLeftNumbers / kTileRows / most_of_part()));
    panels_at_once = larger(1, smaller(panels, kRightBytes / int64_t(sizeof(Right)) / panel_numbers()));
  }
  // Are rows or columns few, where right factors lie along the depth or do not?
  template <bool kDown>
  IN_SET bool is_narrow() const {
    return few_columns || (kDown ? some_rows <= kFewRowsDown : few_rows);
  }
  // Of a panel, or of a line of a few. Some more than there are: those beside each other do not meet in the
  // sets of a cache.
  IN_SET int64_t panel_numbers() const { return (depth + 1) * kColumns; }
  IN_SET int64_t line_numbers() const { return depth + N; }

  // Memory is made for the most rows, columns and positions of the depth that a call may have, and serves
  // calls with fewer of them: no number of these functions falls where one of those grows.
  IN_SET int64_t left_bytes() const {
    const int64_t tile = kTileRows * most_of_part();
    const int64_t numbers = larger(tile, smaller(smaller(tiles, kTilesBeside) * tile, kLeftNumbers));
    return (packs_left ? lines(numbers, sizeof(Left)) : 0) + known_bytes();
  }
  // What is known of each N steps of a tile, where rows do not take all; or of the sums of its rows.
  IN_SET int64_t known_bytes() const {
    const int64_t of_tile = larger(most_of_part() / N, kTileRows * int64_t(sizeof(int32_t)));
    return packs_left ? lines(smaller(tiles, kTilesBeside) * of_tile, 1) : 0;
  }
  IN_SET int64_t panel_bytes() const {
    const int64_t one = lines(1, sizeof(Right), panel_numbers());
    return packs_right ? larger(one, smaller(lines(panels, sizeof(Right), panel_numbers()), kRightBytes)) : 0;
  }
  IN_SET int64_t right_bytes() const {
    const int64_t columns = depth > kLeastDepth ? smaller(some_columns, kFewColumns) : 0;
    return larger(panel_bytes(), larger(lines(smaller(some_rows, kFewRowsDown), sizeof(Left), line_numbers()),
                                        lines(columns, sizeof(Right), line_numbers())));
  }
  IN_SET int64_t waiting_bytes() const {
    return packs_left && depth > kDeep
               ? lines(tiles_at_once * kTileRows * smaller(panels, kPanelsThatWait) * kColumns, sizeof(Total))
               : 0;
  }
  // What each thread needs for itself; all of it, where it computes one of several,
  IN_SET int64_t thread_bytes(bool several) const {
    return left_bytes() + waiting_bytes() + (several && alone ? right_bytes() : 0);
  }
  // and where it computes each alone.
  IN_SET int64_t own_bytes() const { return thread_bytes(false) + panel_bytes(); }

 private:
  IN_SET int64_t most_of_part() const { return smaller(kDeep, ceil_div(depth, N) * N); }
  IN_SET static int64_t lines(int64_t count, int64_t bytes, int64_t times = 1) {
    constexpr int64_t kTooMany = INT64_MAX / 4;
    return double(count) * double(bytes) * double(times) < double(kTooMany)
               ? (count * bytes * times + 63) / 64 * 64
               : kTooMany;
  }
};
