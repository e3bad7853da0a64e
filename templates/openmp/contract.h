//@ contract: narrow fold_tile turned across Plus
template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish, class Kept,
          class Combine, class Wanted>
class Contraction {
  using Total = Lanes<T, N>;
  using Columns = Lanes<B, N>;
  static constexpr bool kAlways = std::is_same_v<Kept, Everywhere>;
  static constexpr bool kFromPanels = StepOf<Step>::kFromPanels;
  static constexpr int kBias = StepOf<Step>::kBias;

 public:
  IN_SET Contraction(Span rows, int64_t bands, Span columns, Span depth, T start, const Left& left,
                     const Right& right, const Step& step, const Finish& finish, const Kept& kept,
                     const Combine& combine, const Wanted& wanted)
      : rows_(rows),
        columns_(columns),
        depth_(depth),
        cut_(rows, bands, columns, depth),
        start_(start),
        left_(left),
        right_(right),
        step_(step),
        finish_(finish),
        kept_(kept),
        combine_(combine),
        wanted_(wanted) {}

  // Threads share the rows, or the columns: where rows are few, or where each has so many columns of a
  // product that is no taller than wide that all of them may pack the left factor, since what another thread
  // has packed comes slowly.
  IN_SET static bool shares_columns(int64_t tiles, int64_t panels, int64_t threads) {
    if (panels < threads) return false;
    return tiles < 4 * threads || (panels >= 16 * threads && tiles * kTileRows <= panels * 2 * N);
  }

  template <class Threads>
  IN_SET void run(Threads team, char* shared, char* mine) {
    right_panels_ = reinterpret_cast<B*>(team.alone ? mine : shared);
    const int64_t right_bytes = std::is_same_v<Threads, Team> ? cut_.right_bytes() : cut_.panel_bytes();
    char* const left = team.alone ? mine + right_bytes : mine;  // behind what a later call may find
    left_panels_ = reinterpret_cast<A*>(left);
    waiting_ = reinterpret_cast<Total*>(left + cut_.left_bytes());
    known_ = reinterpret_cast<typename Steps::What*>(left + cut_.left_bytes() - cut_.known_bytes());
    sums_ = reinterpret_cast<int32_t*>(known_);  // such steps are taken by all rows
    if constexpr (kAlways && std::is_same_v<Threads, Team> && !kFromPanels)
      if (cut_.template is_narrow<kAlongDepth<Right>>())
        return NarrowContraction<N, T, A, B, Left, Right, Step, Finish, Combine>{
            rows_, columns_, depth_, cut_, start_, left_, right_, step_, finish_, combine_}
            .run(team, right_panels_, waiting_);
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
      int64_t k = depth_.first;
      if constexpr (kAlongDepth<Right>) {
        const Span squares = {k, k + (right.down_end(depth_) - k) / N * N};
        for (int i = 0; i < count; ++i) pack_squares(right, beside[i], squares, to + i * to_next);
        k = squares.end;
        to += squares.count() * 2 * N;
      }
      for (; k < depth_.end; ++k, to += 2 * N)
        for (int i = 0; i < count; ++i) pack_row(right, beside[i], k, to + i * to_next);
    }
  }
  // Each vector is read where it lies, down the depth: the columns of a square of them are rows of the panel.
  IN_SET static void pack_squares(const Right& right, const Panel<N>& at, Span depth, B* to) {
    for (int64_t k = depth.first; k < depth.end; k += N, to += N * 2 * N) {
      at.for_vectors([&](int v, int64_t n, auto active) IN_SET {
        pack_square(right, at.band, k, n, active.count, to + v * N, std::make_index_sequence<N>());
      });
      for (int row = 0; at.count <= N && row < N; ++row)
        store(to + row * 2 * N + N, AllLanes<N>{}, Columns(B(0)));
    }
  }
  template <size_t... kLane>
  IN_SET static void pack_square(const Right& right, int64_t band, int64_t k, int64_t n, int count, B* to,
                                 std::index_sequence<kLane...> all) {
    Columns columns[N];  // behind the last one, that again
    (in_band(band, right, columns[kLane], k, n + smaller(int(kLane), count - 1), DownLanes<N>{}), ...);
    const Square<B, N> square = turned<N>(Square<B, N>{{columns[kLane].v...}}, all);
    (store(to + kLane * 2 * N, AllLanes<N>{}, Columns(square.rows[kLane])), ...);
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
      if constexpr (kAlongRows<Left>)
        pack_left_rows(tile, depth, to);
      else
        for (int row = 0; row < kTileRows; ++row) pack_left_row(row_of(tile, row), depth, to + row * N);
      if constexpr (kBias != 0)
        for (int row = 0; row < kTileRows; ++row)
          sums_[(tile - tiles.first) * kTileRows + row] = sum_of_left(to + row * N, depth.count());
    }
  }
  // A row that does not take the step has 0.
  IN_SET static A factor_at(const Left& left, const Kept& kept, int64_t m, int64_t k) {
    if constexpr (kAlways)
      return left(m, k);
    else
      return kept(m, k) ? left(m, k) : A(0);
  }
  // Position by position, as the rows' neighbours lie.
  IN_SET void pack_left_rows(int64_t tile, Span depth, A* to) const {
    const Left left = left_;  // as what is stored could be anything that is not local
    const Kept kept = kept_;
    int64_t rows[kTileRows];
    for (int row = 0; row < kTileRows; ++row) rows[row] = row_of(tile, row);
    for (int64_t k = depth.first; k < depth.end; k += N, to += kTileRows * N)
      for (int lane = 0; lane < int(smaller(depth.end - k, N)); ++lane) {
        const int64_t at = depth_.first + k + lane;
        for (int row = 0; row < kTileRows; ++row) to[row * N + lane] = factor_at(left, kept, rows[row], at);
      }
  }
  IN_SET static int32_t sum_of_left(const A* packed, int64_t count) {
    Total sum = T(0);
    for (; count > N; count -= N, packed += kTileRows * N) Step::add_left(sum, load(packed, AllLanes<N>{}));
    Step::add_left(sum, load(packed, FirstLanes<N>{int(count)}));
    return across(sum, Plus());
  }
  IN_SET void pack_left_row(int64_t m, Span depth, A* to) const {
    const Left left = left_;  // as what is stored could be anything that is not local
    const Kept kept = kept_;
    const auto value = [=](int64_t k) IN_SET { return factor_at(left, kept, m, k); };
    int64_t k = depth_.first + depth.first;
    const int64_t end = depth_.first + depth.end;
    const auto pack = [&](int64_t last, const auto& value_at) IN_SET {
      for (; k + N <= last; k += N, to += kTileRows * N) {
        A values[N];  // all are loaded before one is stored, so that compilers make vectors of them
        for (int lane = 0; lane < N; ++lane) values[lane] = value_at(k + lane);
        for (int lane = 0; lane < N; ++lane) to[lane] = values[lane];
      }
    };
    if constexpr (kEnds<Kept>)
      pack(smaller(end, kept.end(m)), [=](int64_t at) IN_SET { return left(m, at); });
    if constexpr (kFromPanels)
      pack(smaller(end, left.whole_end()), [=](int64_t at) IN_SET { return left.whole(m, at); });
    pack(end, value);
    for (; k < end; ++k, ++to) *to = value(k);
  }
  IN_SET void look_at_steps(int64_t tile, Span depth, typename Steps::What* known) const {
    for (int64_t first = depth.first; first < depth.end; first += N, ++known) {
      const int64_t end = smaller(first + N, depth.end);
      int64_t count = 0;
      for (int row = 0; row < kTileRows; ++row)
        if constexpr (kEnds<Kept>)
          count += smaller(larger(steps_of(row_of(tile, row)), first), end) - first;
        else
          for (int64_t k = first; k < end; ++k) count += kept_(row_of(tile, row), depth_.first + k);
      *known = count == 0 ? Steps::none : count == kTileRows * (end - first) ? Steps::each : Steps::some;
    }
  }
  IN_SET int64_t row_of(int64_t tile, int row) const {
    return smaller(rows_.first + tile * kTileRows + row, rows_.end - 1);
  }

  // Rows that take few steps may lie beside each other.
  template <class Threads>
  IN_SET void fold_in_turns(int64_t first_panel, Threads team, Span panels) const {
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
    const int64_t deepest = depth_of(tiles);
    for (int64_t first = 0; first == 0 || first < deepest; first += cut_.part) {
      const Span depth = {first, smaller(first + cut_.part, deepest)};
      if (cut_.packs_left) pack_left(tiles, depth);
      Total* waiting = waiting_;
      for (int64_t number = panels.first; number < panels.end; ++number) {
        const Panel<N> panel(number, cut_, columns_);
        const B* const right_panel = right_panels_ + (number - first_panel) * cut_.panel_numbers();
        for (int64_t tile = tiles.first; tile < tiles.end; ++tile, waiting += 2 * kTileRows)
          if (is_wanted(tile, panel))
            fold_part(depth, depth.end == deepest, {tile, tile - tiles.first}, panel, right_panel, waiting);
      }
    }
  }
  // How many steps a row takes, whatever number its end is.
  IN_SET int64_t steps_of(int64_t m) const {
    return smaller(larger(kept_.end(m), depth_.first) - depth_.first, depth_.count());
  }
  // Down to which its rows take steps.
  IN_SET int64_t depth_of(Span tiles) const {
    int64_t deepest = kEnds<Kept> ? 0 : depth_.count();
    if constexpr (kEnds<Kept>)
      for (int64_t row = 0; row < tiles.count() * kTileRows; ++row)
        deepest = larger(deepest, steps_of(row_of(tiles.first, int(row))));
    return deepest;
  }
  // Does one of its rows want one of the columns?
  IN_SET bool is_wanted(int64_t tile, const Panel<N>& panel) const {
    bool wanted = !kEnds<Wanted>;
    if constexpr (kEnds<Wanted>)
      for (int row = 0; row < kTileRows; ++row)
        wanted = wanted || panel.first < wanted_.end(row_of(tile, row));
    return wanted;
  }

  // A tile by its number, and by that of its panel.
  struct TileAt {
    int64_t number, panel;
  };
  IN_SET void fold_part(Span depth, bool last, TileAt tile, const Panel<N>& panel, const B* right_panel,
                        Total* waiting) const {
    Total here[2 * kTileRows];
    if constexpr (kAlways)
      go_down(depth, tile, panel, right_panel, here, kept_);
    else
      go_down(depth, tile, panel, right_panel, here, steps_of(depth, tile));
    if constexpr (kBias != 0)
      for (int cell = 0; cell < 2 * kTileRows; ++cell)
        here[cell] = here[cell] - Total(kBias * sums_[tile.panel * kTileRows + cell / 2]);
    if (depth.first > 0)
      for (int cell = 0; cell < 2 * kTileRows; ++cell) here[cell] = combine_(waiting[cell], here[cell]);
    const int64_t m = rows_.first + tile.number * kTileRows;
    if (last)
      finish_tile({m, smaller(m + kTileRows, rows_.end)}, panel, here);
    else
      for (int cell = 0; cell < 2 * kTileRows; ++cell) waiting[cell] = here[cell];
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
      fold_tile<N, Columns>(depth, packed_left, packed_right, step_, kept, start_, totals);
    else if (kFromPanels || cut_.packs_left)  // few rows: memory takes longer than asking for edges
      fold_tile<N, Columns>(depth, packed_left, right_at_edge, step_, kept, start_, totals);
    else if constexpr (!kFromPanels) {
      if (panel.count == 2 * N)
        fold_tile<N, Columns>(depth, left, right, step_, kept, start_, totals);
      else
        fold_tile<N, Columns>(depth, left, right_at_edge, step_, kept, start_, totals);
    }
  }

  const Span rows_, columns_, depth_;
  const Cut<T, A, B, N> cut_;
  const Total start_;
  const Left& left_;
  const Right& right_;
  const Step& step_;
  const Finish& finish_;
  const Kept& kept_;
  const Combine& combine_;
  const Wanted& wanted_;
  A* left_panels_ = nullptr;
  Total* waiting_ = nullptr;
  typename Steps::What* known_ = nullptr;
  int32_t* sums_ = nullptr;  // of the left factors in each row of the panels
  B* right_panels_ = nullptr;
};

// Each number of the result, at row m and column n, begins with `start`, takes a step with left(m, k) and
// with what right(values, k, n, lanes) sets, for each k of the depth, in order, where kept(m, k) says so, and
// goes to finish(m, n, lanes, total). The columns may lie in several bands, whose number is a last argument
// then. T, A and B are the types of totals and of what is left and right. All threads of the team call this,
// with memory that they share and with their own. Totals of some steps each, which all began with `start`,
// are combined. Columns of a row behind its wanted ones are found or not.
template <int N, class T, class A, class B, class Threads, class Left, class Right, class Step, class Finish,
          class Kept = Everywhere, class Combine = Plus, class Wanted = Everywhere>
inline void contract(Threads team, char* shared, char* mine, Span rows, int64_t bands, Span columns,
                     Span depth, T start, const Left& left, const Right& right, const Step& step,
                     const Finish& finish, const Kept& kept = {}, const Combine& combine = {},
                     const Wanted& wanted = {}) {
  if (rows.count() > 0 && bands > 0 && columns.count() > 0)
    Contraction<N, T, A, B, Left, Right, Step, Finish, Kept, Combine, Wanted>(
        rows, bands, columns, depth, start, left, right, step, finish, kept, combine, wanted)
        .run(team, shared, mine);
}
template <int N, class T, class A, class B, class Threads, class Left, class Right, class Step, class Finish,
          class Kept = Everywhere, class Combine = Plus, class Wanted = Everywhere>
inline void contract(Threads team, char* shared, char* mine, Span rows, Span columns, Span depth, T start,
                     const Left& left, const Right& right, const Step& step, const Finish& finish,
                     const Kept& kept = {}, const Combine& combine = {}, const Wanted& wanted = {}) {
  contract<N, T, A, B>(team, shared, mine, rows, 1, columns, depth, start, left, right, step, finish, kept,
                       combine, wanted);
}
