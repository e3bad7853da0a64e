//@ Team: thread_number
// Threads that compute something together, and this one's number among them; or each thread computes its own.
struct Team {
  int64_t number = 0, count = 1;
  bool alone = false;

  void wait() const {
    if (count > 1) {
      OMP(omp barrier)
    }
  }
  // This one's part of so many items.
  int64_t first(int64_t items) const { return items * number / count; }
  int64_t end(int64_t items) const { return items * (number + 1) / count; }
};
inline Team all_threads() {
#if defined(_OPENMP)
  return {thread_number(), omp_get_num_threads(), false};
#else
  return {};
#endif
}
//@ Batches: Team
// Several products of matrices: where they are many and small, each thread computes its own ones; else all
// threads compute them together, one after the other.
struct Batches {
  int64_t first, end;
  Team team;
};
inline Batches batches_of(int64_t count, bool alone) {
  const Team all = all_threads();
  if (all.count > 1 && (count < all.count || !alone)) return {0, count, all};
  return {all.first(count), all.end(count), {0, 1, true}};
}
//@ Cut: Team Lanes ceil_div smaller larger
// first, ..., end - 1
struct Span {
  int64_t first, end;
  int64_t count() const { return larger(end - first, 0); }
};
constexpr int kTileRows = KGEN_SET_AVX512 ? 12 : 6;

// How a contraction is cut: each number of the result folds what `left` has for its row and `right` for its
// column, from the first position of the depth to the last. A tile has kTileRows rows and two vectors of
// columns: with what is folded into it, it fills the registers. What tiles read lies in panels, in the order
// in which they read it. Those of some rows stay in a cache of each thread while those of the columns, which
// all threads share, pass by.
template <class Left, class Right, int N>
struct Cut {
  static constexpr int kColumns = 2 * N;
  static constexpr int64_t kLeftBytes = 1 << 18, kRightBytes = 1 << 26, kShared = 1 << 24;
  int64_t depth, bands, panels, tiles;           // panels of columns in all bands, tiles of rows
  int64_t panels_at_once, tiles_at_once;         // that lie in panels
  bool packs_left = false, packs_right = false;  // else they are read where they lie, as is best for a few
  bool alone;                                    // a thread computes it by itself, if there are several

  IN_SET Cut(Span rows, int64_t bands_, Span columns, Span depth_)
      : depth(larger(depth_.count(), 1)),
        bands(bands_),
        panels(bands_ * ceil_div(columns.count(), kColumns)),
        tiles(ceil_div(rows.count(), kTileRows)) {
    const double work = double(rows.count()) * double(bands * columns.count()) * double(depth);
    packs_left = work > 64 * 64 * 64;
    packs_right = packs_left && tiles > 2;
    alone = work <= kShared;
    tiles_at_once = larger(1, smaller(tiles, kLeftBytes / int64_t(sizeof(Left)) / kTileRows / depth));
    panels_at_once = larger(1, smaller(panels, kRightBytes / int64_t(sizeof(Right)) / kColumns / depth));
  }
  IN_SET int64_t left_bytes() const {
    return packs_left ? lines(tiles_at_once * kTileRows * int64_t(sizeof(Left))) : 0;
  }
  IN_SET int64_t right_bytes() const {
    return packs_right ? lines(panels_at_once * kColumns * int64_t(sizeof(Right))) : 0;
  }
  // What each thread needs for itself; all of it, where it computes one of several.
  IN_SET int64_t thread_bytes(bool several) const {
    return left_bytes() + (several && alone ? right_bytes() : 0);
  }

 private:
  IN_SET int64_t lines(int64_t bytes) const {
    constexpr int64_t kTooMany = INT64_MAX / 4;
    return double(bytes) * double(depth) < double(kTooMany) ? (bytes * depth + 63) / 64 * 64 : kTooMany;
  }
};
//@ contract: Cut for_lanes load store
// Folds into a tile, which stays in registers, what is found at each position of the depth.
template <class Columns, class Total, class Left, class Right, class Step, int... kCell, int... kVector>
__attribute__((noinline)) void fold_tile(int64_t depth, Left left, Right right, Step step, const Total& start,
                                         Total* tile, std::integer_sequence<int, kCell...>,
                                         std::integer_sequence<int, kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  Total totals[] = {((void)kCell, start)...};
  for (int64_t k = 0; k < depth; ++k) {
    Columns columns[kVectors];
    (right(columns[kVector], k, kVector), ...);
    (step(totals[kCell], left(k, kCell / kVectors), columns[kCell % kVectors]), ...);
  }
  ((tile[kCell] = totals[kCell]), ...);
}
template <class Columns, class Total, class Left, class Right, class Step>
inline void fold_tile(int64_t depth, const Left& left, const Right& right, const Step& step,
                      const Total& start, Total* tile) {
  fold_tile<Columns>(depth, left, right, step, start, tile, std::make_integer_sequence<int, 2 * kTileRows>(),
                     std::make_integer_sequence<int, 2>());
}

// Where a panel of columns lies: in which band, from which column on.
template <int N>
struct Panel {
  int64_t band, first;
  int count;  // of its columns

  template <class Cut>
  IN_SET Panel(int64_t panel, const Cut& cut, Span columns)
      : band(panel / (cut.panels / cut.bands)),
        first(columns.first + panel % (cut.panels / cut.bands) * 2 * N),
        count(int(smaller(columns.end - first, 2 * N))) {}
  // Does something with each vector of it: its first column, and the lanes that are in it.
  template <class Use>
  IN_SET void for_vectors(const Use& use) const {
    for (int v = 0; v < 2; ++v) {
      if (count >= (v + 1) * N)
        use(v, first + v * N, AllLanes<N>{});
      else if (count > v * N)
        use(v, first + v * N, FirstLanes<N>{count - v * N});
    }
  }
};
// Functions of the columns of a single band are not told which it is.
template <class Function, class... Argument>
inline void in_band(int64_t band, const Function& function, Argument&&... arguments) {
  if constexpr (std::is_invocable_v<const Function&, Argument...>)
    function(arguments...);
  else
    function(arguments..., band);
}

template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish>
class Contraction {
  using Total = Lanes<T, N>;
  using Columns = Lanes<B, N>;

 public:
  IN_SET Contraction(Span rows, int64_t bands, Span columns, Span depth, T start, const Left& left,
                     const Right& right, const Step& step, const Finish& finish)
      : rows_(rows),
        columns_(columns),
        depth_(depth),
        cut_(rows, bands, columns, depth),
        start_(start),
        left_(left),
        right_(right),
        step_(step),
        finish_(finish) {}

  // Threads share the rows; few rows are computed by all of them, each for other columns.
  IN_SET void run(Team team, char* shared, char* mine) {
    left_panels_ = reinterpret_cast<A*>(mine);
    right_panels_ = reinterpret_cast<B*>(team.alone ? mine + cut_.left_bytes() : shared);
    for (int64_t first = 0; first < cut_.panels; first += cut_.panels_at_once) {
      const Span panels = {first, smaller(first + cut_.panels_at_once, cut_.panels)};
      const Span of_this = {first + team.first(panels.count()), first + team.end(panels.count())};
      if (cut_.packs_right) {
        team.wait();
        pack_right(first, of_this);
        team.wait();
      }
      if (cut_.tiles >= 4 * team.count || panels.count() < team.count)
        fold(first, {team.first(cut_.tiles), team.end(cut_.tiles)}, panels);
      else
        fold(first, {0, cut_.tiles}, of_this);
    }
  }

 private:
  // From top to bottom, several beside each other, so that rows are read in long pieces.
  IN_SET void pack_right(int64_t first_panel, Span panels) const {
    constexpr int64_t kBeside = 8;
    for (int64_t first = panels.first; first < panels.end; first += kBeside)
      for (int64_t k = 0; k < depth_.count(); ++k)
        for (int64_t panel = first; panel < smaller(first + kBeside, panels.end); ++panel) {
          B* const to = right_panels_ + ((panel - first_panel) * depth_.count() + k) * 2 * N;
          const Panel<N> at(panel, cut_, columns_);
          at.for_vectors([&](int v, int64_t n, auto active) IN_SET {
            Columns values;
            in_band(at.band, right_, values, depth_.first + k, n, active);
            store(to + v * N, AllLanes<N>{}, values);
          });
          if (at.count <= N) store(to + N, AllLanes<N>{}, Columns(B(0)));
        }
  }

  IN_SET void pack_left(Span tiles) const {
    A* to = left_panels_;
    for (int64_t tile = tiles.first; tile < tiles.end; ++tile, to += kTileRows * depth_.count())
      for (int row = 0; row < kTileRows; ++row) {
        const int64_t m = smaller(rows_.first + tile * kTileRows + row, rows_.end - 1);
        for (int64_t k = 0; k < depth_.count(); ++k) to[k * kTileRows + row] = left_(m, depth_.first + k);
      }
  }

  // Some tiles of rows at a time, with one panel of columns after the other.
  IN_SET void fold(int64_t first_panel, Span tiles, Span panels) const {
    for (int64_t first = tiles.first; first < tiles.end; first += cut_.tiles_at_once) {
      const Span near = {first, smaller(first + cut_.tiles_at_once, tiles.end)};
      if (cut_.packs_left) pack_left(near);
      for (int64_t panel = panels.first; panel < panels.end; ++panel)
        for (int64_t tile = near.first; tile < near.end; ++tile)
          fold_one(rows_.first + tile * kTileRows, left_panels_ + (tile - first) * kTileRows * depth_.count(),
                   Panel<N>(panel, cut_, columns_),
                   right_panels_ + (panel - first_panel) * 2 * N * depth_.count());
    }
  }

  IN_SET void fold_one(int64_t m, const A* left_panel, const Panel<N>& panel, const B* right_panel) const {
    Total tile[2 * kTileRows];
    const auto packed_left = [=](int64_t k, int row) IN_SET { return left_panel[k * kTileRows + row]; };
    const auto left = [this, m](int64_t k, int row)
                          IN_SET { return left_(smaller(m + row, rows_.end - 1), depth_.first + k); };
    const auto packed_right = [=](Columns& values, int64_t k, int v)
                                  IN_SET { values = load(right_panel + k * 2 * N + v * N, AllLanes<N>{}); };
    const auto right = [this, &panel](Columns& values, int64_t k, int v) IN_SET {
      in_band(panel.band, right_, values, depth_.first + k, panel.first + v * N, AllLanes<N>{});
    };
    const auto right_at_edge = [this, &panel](Columns& values, int64_t k, int v) IN_SET {
      const int at = panel.count > v * N ? v * N : 0;  // the first vector stands in for one that is not there
      if (panel.count - at >= N)
        in_band(panel.band, right_, values, depth_.first + k, panel.first + at, AllLanes<N>{});
      else
        in_band(panel.band, right_, values, depth_.first + k, panel.first + at,
                FirstLanes<N>{panel.count - at});
    };
    if (cut_.packs_right)
      fold_tile<Columns>(depth_.count(), packed_left, packed_right, step_, start_, tile);
    else if (cut_.packs_left && panel.count == 2 * N)
      fold_tile<Columns>(depth_.count(), packed_left, right, step_, start_, tile);
    else if (cut_.packs_left)
      fold_tile<Columns>(depth_.count(), packed_left, right_at_edge, step_, start_, tile);
    else if (panel.count == 2 * N)
      fold_tile<Columns>(depth_.count(), left, right, step_, start_, tile);
    else
      fold_tile<Columns>(depth_.count(), left, right_at_edge, step_, start_, tile);
    for (int row = 0; row < smaller(rows_.end - m, kTileRows); ++row)
      panel.for_vectors([&](int v, int64_t n, auto active)
                            IN_SET { in_band(panel.band, finish_, m + row, n, active, tile[2 * row + v]); });
  }

  const Span rows_, columns_, depth_;
  const Cut<A, B, N> cut_;
  const Total start_;
  const Left& left_;
  const Right& right_;
  const Step& step_;
  const Finish& finish_;
  A* left_panels_ = nullptr;
  B* right_panels_ = nullptr;
};

// Each number of the result, at row m and column n, begins with `start`, takes a step with left(m, k) and
// with what right(values, k, n, lanes) sets, for each k of the depth, in order, and goes to finish(m, n,
// lanes, total). The columns may lie in several bands, whose number is a last argument then. T, A and B are
// the types of totals and of what is left and right. All threads of the team call this, with memory that they
// share and with their own.
template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish>
inline void contract(Team team, char* shared, char* mine, Span rows, int64_t bands, Span columns, Span depth,
                     T start, const Left& left, const Right& right, const Step& step, const Finish& finish) {
  if (rows.count() > 0 && bands > 0 && columns.count() > 0)
    Contraction<N, T, A, B, Left, Right, Step, Finish>(rows, bands, columns, depth, start, left, right, step,
                                                       finish)
        .run(team, shared, mine);
}
template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish>
inline void contract(Team team, char* shared, char* mine, Span rows, Span columns, Span depth, T start,
                     const Left& left, const Right& right, const Step& step, const Finish& finish) {
  contract<N, T, A, B>(team, shared, mine, rows, 1, columns, depth, start, left, right, step, finish);
}
