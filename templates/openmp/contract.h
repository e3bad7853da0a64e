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
// Threads that compute something together, and this one's number among them; or each thread computes its own,
// in its own memory, where the right factor may lie in panels since an earlier call.
struct Team {
  int64_t number = 0, count = 1;
  bool alone = false, packed = false;

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
inline Team each_alone(bool packed = false) { return {0, 1, true, packed}; }
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
// cache while the tiles of some rows, whose panels stay in the second, take their turns. Totals that wait for
// the next part are kept.
template <class Total, class Left, class Right, int N>
struct Cut {
  static constexpr int kColumns = 2 * N;
  static constexpr int64_t kDeep = 256, kLeftBytes = 1 << 18, kRightBytes = 1 << 26, kShared = 1 << 24;
  static constexpr int64_t kPanelsThatWait = 32, kTilesBeside = 40;
  int64_t depth, bands, panels, tiles;           // panels of columns in all bands, tiles of rows
  int64_t part;                                  // of the depth
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
    part = packs_left ? ceil_div(ceil_div(depth, ceil_div(depth, kDeep)), N) * N : depth;
    tiles_at_once = larger(
        1, smaller(smaller(tiles, kTilesBeside), kLeftBytes / int64_t(sizeof(Left)) / kTileRows / part));
    panels_at_once = larger(1, smaller(panels, kRightBytes / int64_t(sizeof(Right)) / kColumns / depth));
  }
  // Of which one row more than there are: panels beside each other do not meet in the sets of a cache.
  IN_SET int64_t panel_numbers() const { return (depth + 1) * kColumns; }
  IN_SET int64_t left_bytes() const {
    return (packs_left ? lines(tiles_at_once * kTileRows * part, sizeof(Left)) : 0) + known_bytes();
  }
  // What is known of each N steps of a tile, where rows do not take all.
  IN_SET int64_t known_bytes() const { return packs_left ? lines(tiles_at_once * (part / N), 1) : 0; }
  IN_SET int64_t right_bytes() const {
    return packs_right ? lines(panels_at_once, sizeof(Right), panel_numbers()) : 0;
  }
  IN_SET int64_t waiting_bytes() const {
    return part < depth
               ? lines(tiles_at_once * kTileRows * smaller(panels, kPanelsThatWait) * kColumns, sizeof(Total))
               : 0;
  }
  // What each thread needs for itself; all of it, where it computes one of several,
  IN_SET int64_t thread_bytes(bool several) const {
    return left_bytes() + waiting_bytes() + (several && alone ? right_bytes() : 0);
  }
  // and where it computes each alone.
  IN_SET int64_t own_bytes() const { return thread_bytes(false) + right_bytes(); }

 private:
  IN_SET static int64_t lines(int64_t count, int64_t bytes, int64_t times = 1) {
    constexpr int64_t kTooMany = INT64_MAX / 4;
    return double(count) * double(bytes) * double(times) < double(kTooMany)
               ? (count * bytes * times + 63) / 64 * 64
               : kTooMany;
  }
};
//@ contract: Cut for_lanes load store
// Each row takes every step of the depth.
struct Everywhere {
  static constexpr bool any(int64_t) { return true; }
  static constexpr bool all(int64_t) { return true; }
  constexpr bool operator()(int64_t, int, int) const { return true; }
};
// Where rows take steps only where `kept` says so: what is known of N steps of a tile's rows, from its first
// part on.
template <int N, class Kept>
struct KeptSteps {
  enum What : char { none, some, each };
  const What* known;  // or not
  int64_t from;
  Kept kept;  // of a position, the number of a step behind it, and a row of the tile

  IN_SET bool any(int64_t first) const { return known == nullptr || known[(first - from) / N] != none; }
  IN_SET bool all(int64_t first) const { return known != nullptr && known[(first - from) / N] == each; }
  IN_SET bool operator()(int64_t first, int k, int row) const { return kept(first, k, row); }
};

// Folds into a tile, which stays in registers meanwhile, what is found at each of these positions of the
// depth: those of N lanes after each other, as left factors lie.
template <int N, class Columns, class Total, class Left, class Right, class Step, class Kept, int... kCell,
          int... kVector>
__attribute__((noinline)) void fold_tile(Span depth, Left left, Right right, Step step, Kept kept,
                                         Total* tile, std::integer_sequence<int, kCell...>,
                                         std::integer_sequence<int, kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  Total totals[] = {tile[kCell]...};
  for (int64_t first = depth.first; first < depth.end; first += N) {
    if (!kept.any(first)) continue;
    const bool all = kept.all(first);
    const int count = int(smaller(depth.end - first, N));
    for (int k = 0; k < count; ++k) {
      Columns columns[kVectors];
      (right(columns[kVector], first + k, kVector), ...);
      ((all || kept(first, k, kCell / kVectors)
            ? step(totals[kCell], left(first, k, kCell / kVectors), columns[kCell % kVectors])
            : void()),
       ...);
    }
  }
  ((tile[kCell] = totals[kCell]), ...);
}
template <int N, class Columns, class Total, class Left, class Right, class Step, class Kept>
inline void fold_tile(Span depth, const Left& left, const Right& right, const Step& step, const Kept& kept,
                      Total* tile) {
  fold_tile<N, Columns>(depth, left, right, step, kept, tile,
                        std::make_integer_sequence<int, 2 * kTileRows>(),
                        std::make_integer_sequence<int, 2>());
}

// Where a panel of columns lies: in which band, from which column on.
template <int N>
struct Panel {
  int64_t band = 0, first = 0;
  int count = 0;  // of its columns

  Panel() = default;
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

template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish, class Kept>
class Contraction {
  using Total = Lanes<T, N>;
  using Columns = Lanes<B, N>;
  static constexpr bool kAlways = std::is_same_v<Kept, Everywhere>;

 public:
  IN_SET Contraction(Span rows, int64_t bands, Span columns, Span depth, T start, const Left& left,
                     const Right& right, const Step& step, const Finish& finish, const Kept& kept)
      : rows_(rows),
        columns_(columns),
        depth_(depth),
        cut_(rows, bands, columns, depth),
        start_(start),
        left_(left),
        right_(right),
        step_(step),
        finish_(finish),
        kept_(kept) {}

  // Threads share the rows, or the columns: where rows are few, or where each has so many columns of a
  // product that is no taller than wide that all of them may pack the left factor, since what another thread
  // has packed comes slowly.
  IN_SET static bool shares_columns(int64_t tiles, int64_t panels, int64_t threads) {
    if (panels < threads) return false;
    return tiles < 4 * threads || (panels >= 16 * threads && tiles * kTileRows <= panels * 2 * N);
  }

  IN_SET void run(Team team, char* shared, char* mine) {
    right_panels_ = reinterpret_cast<B*>(team.alone ? mine : shared);
    char* const left = team.alone ? mine + cut_.right_bytes() : mine;  // behind what a later call may find
    left_panels_ = reinterpret_cast<A*>(left);
    waiting_ = reinterpret_cast<Total*>(left + cut_.left_bytes());
    known_ = reinterpret_cast<typename Steps::What*>(left + cut_.left_bytes() - cut_.known_bytes());
    for (int64_t first = 0; first < cut_.panels; first += cut_.panels_at_once) {
      const Span panels = {first, smaller(first + cut_.panels_at_once, cut_.panels)};
      const Span of_this = panels.part(team.number, team.count);
      if (cut_.packs_right && !(team.packed && panels.count() == cut_.panels)) {
        team.wait();
        pack_right(first, of_this);
      }
      if (shares_columns(cut_.tiles, panels.count(), team.count)) {
        fold(first, {0, cut_.tiles}, of_this);
        continue;
      }
      if (cut_.packs_right) team.wait();
      if (kAlways)
        fold(first, Span{0, cut_.tiles}.part(team.number, team.count), panels);
      else
        fold_in_turns(first, team, panels);
    }
  }

 private:
  struct KeptOfTile {
    const Contraction* self;
    int64_t tile;
    IN_SET bool operator()(int64_t first, int k, int row) const {
      return self->kept_(self->row_of(tile, row), self->depth_.first + first + k);
    }
  };
  using Steps = KeptSteps<N, KeptOfTile>;

  // From top to bottom, several beside each other, so that rows are read in long pieces.
  IN_SET void pack_right(int64_t first_panel, Span panels) const {
    constexpr int kBeside = 8;
    for (int64_t first = panels.first; first < panels.end; first += kBeside) {
      const int count = int(smaller(panels.end - first, kBeside));
      Panel<N> beside[kBeside];
      for (int i = 0; i < count; ++i) beside[i] = Panel<N>(first + i, cut_, columns_);
      B* to = right_panels_ + (first - first_panel) * cut_.panel_numbers();
      const int64_t to_next = cut_.panel_numbers();
      const Right right = right_;  // as what is stored could be anything that is not local
      for (int64_t k = depth_.first, end = depth_.end; k < end; ++k, to += 2 * N)
        for (int i = 0; i < count; ++i) pack_row(right, beside[i], k, to + i * to_next);
    }
  }
  IN_SET static void pack_row(const Right& right, const Panel<N>& at, int64_t k, B* to) {
    at.for_vectors([&](int v, int64_t n, auto active) IN_SET {
      Columns values;
      in_band(at.band, right, values, k, n, active);
      store(to + v * N, AllLanes<N>{}, values);
    });
    if (at.count <= N) store(to + N, AllLanes<N>{}, Columns(B(0)));
  }

  // Of each row, as many positions of the depth as there are lanes, then those of the next row.
  IN_SET void pack_left(Span tiles, Span depth) const {
    A* to = left_panels_;
    for (int64_t tile = tiles.first; tile < tiles.end; ++tile, to += kTileRows * cut_.part) {
      if constexpr (!kAlways) look_at_steps(tile, depth, known_ + (tile - tiles.first) * (cut_.part / N));
      for (int row = 0; row < kTileRows; ++row) pack_left_row(row_of(tile, row), depth, to + row * N);
    }
  }
  IN_SET void pack_left_row(int64_t m, Span depth, A* to) const {
    const Left left = left_;  // as what is stored could be anything that is not local
    const Kept kept = kept_;
    const auto value = [=](int64_t k) IN_SET {
      if constexpr (kAlways)
        return left(m, k);
      else
        return kept(m, k) ? left(m, k) : A(0);
    };
    int64_t k = depth_.first + depth.first;
    const int64_t end = depth_.first + depth.end;
    for (; k + N <= end; k += N, to += kTileRows * N) {
      A values[N];  // all are loaded before one is stored, so that compilers make vectors of them
      for (int lane = 0; lane < N; ++lane) values[lane] = value(k + lane);
      for (int lane = 0; lane < N; ++lane) to[lane] = values[lane];
    }
    for (; k < end; ++k, ++to) *to = value(k);
  }
  IN_SET void look_at_steps(int64_t tile, Span depth, typename Steps::What* known) const {
    for (int64_t first = depth.first; first < depth.end; first += N, ++known) {
      const int64_t end = smaller(first + N, depth.end);
      int count = 0;
      for (int row = 0; row < kTileRows; ++row)
        for (int64_t k = first; k < end; ++k) count += kept_(row_of(tile, row), depth_.first + k);
      *known = count == 0 ? Steps::none : count == kTileRows * (end - first) ? Steps::each : Steps::some;
    }
  }
  IN_SET int64_t row_of(int64_t tile, int row) const {
    return smaller(rows_.first + tile * kTileRows + row, rows_.end - 1);
  }

  // Rows that take few steps may lie beside each other.
  IN_SET void fold_in_turns(int64_t first_panel, Team team, Span panels) const {
    constexpr int64_t kTogether = 4;
    for (int64_t tile = team.number * kTogether; tile < cut_.tiles; tile += team.count * kTogether)
      fold(first_panel, {tile, smaller(tile + kTogether, cut_.tiles)}, panels);
  }

  // Takes as many tiles of rows and panels of columns at a time as there is room for totals that wait.
  IN_SET void fold(int64_t first_panel, Span tiles, Span panels) const {
    const int64_t beside = cut_.part < cut_.depth ? cut_.kPanelsThatWait : larger(panels.count(), 1);
    const int64_t groups = ceil_div(tiles.count(), cut_.tiles_at_once);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t panel = panels.first; panel < panels.end; panel += beside)
        fold_down(first_panel, tiles.part(group, groups), {panel, smaller(panel + beside, panels.end)});
  }

  IN_SET void fold_down(int64_t first_panel, Span tiles, Span panels) const {
    for (int64_t first = 0; first < cut_.depth; first += cut_.part) {
      const Span depth = {first, smaller(first + cut_.part, depth_.count())};
      if (cut_.packs_left) pack_left(tiles, depth);
      Total* waiting = waiting_;
      for (int64_t number = panels.first; number < panels.end; ++number) {
        const Panel<N> panel(number, cut_, columns_);
        const B* const right_panel = right_panels_ + (number - first_panel) * cut_.panel_numbers();
        for (int64_t tile = tiles.first; tile < tiles.end; ++tile, waiting += 2 * kTileRows)
          fold_part(depth, {tile, tile - tiles.first}, panel, right_panel, waiting);
      }
    }
  }

  // A tile by its number, and by that of its panel.
  struct TileAt {
    int64_t number, panel;
  };
  IN_SET void fold_part(Span depth, TileAt tile, const Panel<N>& panel, const B* right_panel,
                        Total* waiting) const {
    Total here[2 * kTileRows];
    const bool last = depth.end == depth_.count();
    Total* const totals = depth.first == 0 && last ? here : waiting;
    if (depth.first == 0)
      for (int cell = 0; cell < 2 * kTileRows; ++cell) totals[cell] = start_;
    if constexpr (kAlways)
      go_down(depth, tile, panel, right_panel, totals, kept_);
    else
      go_down(depth, tile, panel, right_panel, totals, steps_of(depth, tile));
    const int64_t m = rows_.first + tile.number * kTileRows;
    if (last) finish_tile({m, smaller(m + kTileRows, rows_.end)}, panel, totals);
  }
  IN_SET void finish_tile(Span rows, const Panel<N>& panel, const Total* totals) const {
    const Finish finish = finish_;  // as what it stores could be anything that is not local
    const Panel<N> at = panel;
    for (int64_t m = rows.first; m < rows.end; ++m, totals += 2)
      at.for_vectors([&](int v, int64_t n, auto active)
                         IN_SET { in_band(at.band, finish, m, n, active, totals[v]); });
  }

  IN_SET Steps steps_of(Span depth, TileAt tile) const {
    return {
        cut_.packs_left ? known_ + tile.panel * (cut_.part / N) : nullptr, depth.first, {this, tile.number}};
  }

  template <class Kept_>
  IN_SET void go_down(Span depth, TileAt tile, const Panel<N>& panel, const B* right_panel, Total* totals,
                      const Kept_& kept) const {
    const A* const left_panel = left_panels_ + tile.panel * kTileRows * cut_.part;
    const auto packed_left = [=](int64_t first, int k, int row) IN_SET {
      return left_panel[(first - depth.first) * kTileRows + row * N + k];
    };
    const auto left = [this, tile](int64_t first, int k, int row)
                          IN_SET { return left_(row_of(tile.number, row), depth_.first + first + k); };
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
      fold_tile<N, Columns>(depth, packed_left, packed_right, step_, kept, totals);
    else if (cut_.packs_left)  // few rows: memory takes longer than asking for edges
      fold_tile<N, Columns>(depth, packed_left, right_at_edge, step_, kept, totals);
    else if (panel.count == 2 * N)
      fold_tile<N, Columns>(depth, left, right, step_, kept, totals);
    else
      fold_tile<N, Columns>(depth, left, right_at_edge, step_, kept, totals);
  }

  const Span rows_, columns_, depth_;
  const Cut<T, A, B, N> cut_;
  const Total start_;
  const Left& left_;
  const Right& right_;
  const Step& step_;
  const Finish& finish_;
  const Kept& kept_;
  A* left_panels_ = nullptr;
  Total* waiting_ = nullptr;
  typename Steps::What* known_ = nullptr;
  B* right_panels_ = nullptr;
};

// Each number of the result, at row m and column n, begins with `start`, takes a step with left(m, k) and
// with what right(values, k, n, lanes) sets, for each k of the depth, in order, where kept(m, k) says so, and
// goes to finish(m, n, lanes, total). The columns may lie in several bands, whose number is a last argument
// then. T, A and B are the types of totals and of what is left and right. All threads of the team call this,
// with memory that they share and with their own.
template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish,
          class Kept = Everywhere>
inline void contract(Team team, char* shared, char* mine, Span rows, int64_t bands, Span columns, Span depth,
                     T start, const Left& left, const Right& right, const Step& step, const Finish& finish,
                     const Kept& kept = {}) {
  if (rows.count() > 0 && bands > 0 && columns.count() > 0)
    Contraction<N, T, A, B, Left, Right, Step, Finish, Kept>(rows, bands, columns, depth, start, left, right,
                                                             step, finish, kept)
        .run(team, shared, mine);
}
template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish,
          class Kept = Everywhere>
inline void contract(Team team, char* shared, char* mine, Span rows, Span columns, Span depth, T start,
                     const Left& left, const Right& right, const Step& step, const Finish& finish,
                     const Kept& kept = {}) {
  contract<N, T, A, B>(team, shared, mine, rows, 1, columns, depth, start, left, right, step, finish, kept);
}
//@ contract_pairs: contract
// Two whole numbers of 16 bits in 32.
template <int N>
inline Lanes<int32_t, N> in_pairs(Lanes<int32_t, N> low, Lanes<int32_t, N> high) {
  using Unsigned = typename Lanes<int32_t, N>::Math;
  return (typename Lanes<int32_t, N>::Vector)(((Unsigned)low.v & 0xffffu) | ((Unsigned)high.v << 16));
}
// Adds the products of both numbers of the pairs to a sum, which wraps around.
template <int N>
inline Lanes<int32_t, N> add_pairs(Lanes<int32_t, N> a, Lanes<int32_t, N> b, Lanes<int32_t, N> sum) {
#if defined(__x86_64__)
  using Words = typename Lanes<int32_t, N>::Vector;
  using Halves = typename VectorOf<short, 2 * N>::type;
  const Halves x = (Halves)a.v, y = (Halves)b.v;
#if KGEN_SET_AVX512 && defined(__clang__)
  if constexpr (sizeof(Words) == 64) return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd512(x, y));
#elif KGEN_SET_AVX512
  if constexpr (sizeof(Words) == 64)
    return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd512_mask(x, y, Words{}, -1));
#endif
#if KGEN_SET_AVX2
  if constexpr (sizeof(Words) == 32) return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd256(x, y));
#endif
  if constexpr (sizeof(Words) == 16) return sum + Lanes<int32_t, N>((Words)__builtin_ia32_pmaddwd128(x, y));
#endif
  const auto low = [](Lanes<int32_t, N> v) IN_SET { return Lanes<int32_t, N>((v.v << 16) >> 16); };
  const auto high = [](Lanes<int32_t, N> v) IN_SET { return Lanes<int32_t, N>(v.v >> 16); };
  return sum + low(a) * low(b) + high(a) * high(b);
}

// As contract does, sums of products of whole numbers of 16 bits, two positions of the depth at a time.
template <int N, class Left, class Right, class Finish>
inline void contract_pairs(Team team, char* shared, char* mine, Span rows, int64_t bands, Span columns,
                           Span depth, const Left& left, const Right& right, const Finish& finish) {
  using Columns = Lanes<int32_t, N>;
  const auto left_pair = [=](int64_t m, int64_t pair) IN_SET -> int32_t {
    const int64_t k = depth.first + 2 * pair;
    return int32_t((uint32_t(left(m, k)) & 0xffff) |
                   (k + 1 < depth.end ? uint32_t(left(m, k + 1)) << 16 : 0));
  };
  const auto right_pair = [=](auto& values, int64_t pair, int64_t n, auto active, int64_t band) IN_SET {
    const int64_t k = depth.first + 2 * pair;
    Columns low, high(0);
    in_band(band, right, low, k, n, active);
    if (k + 1 < depth.end) in_band(band, right, high, k + 1, n, active);
    values = in_pairs(low, high);
  };
  const auto of_band = [=](int64_t m, int64_t n, auto active, auto sum, int64_t band)
                           IN_SET { in_band(band, finish, m, n, active, sum); };
  const auto step = [](auto& sum, auto a, auto b) IN_SET { sum = add_pairs(b, Columns(a), sum); };
  contract<N, int32_t, int32_t, int32_t>(team, shared, mine, rows, bands, columns,
                                         {0, ceil_div(depth.count(), 2)}, 0, left_pair, right_pair, step,
                                         of_band);
}
template <int N, class Left, class Right, class Finish>
inline void contract_pairs(Team team, char* shared, char* mine, Span rows, Span columns, Span depth,
                           const Left& left, const Right& right, const Finish& finish) {
  contract_pairs<N>(team, shared, mine, rows, 1, columns, depth, left, right, finish);
}
