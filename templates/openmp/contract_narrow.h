//@ narrow: fold_tile across kBeyondCaches
// A product with few rows, or few columns: each number of the other factor is read once, as fast as memory
// gives it, and meets all of them, which lie in memory that the threads share.
template <int N, class T, class A, class B, class Left, class Right, class Step, class Finish, class Combine>
struct NarrowContraction {
  using Total = Lanes<T, N>;
  using Lefts = Lanes<A, N>;
  using Rights = Lanes<B, N>;
  // So many lines of the other factor are gone down beside each other, and so many of the few at once.
  static constexpr int kBeside = 4, kAtOnce = 2 * kTileRows / kBeside;
  // So many rows go along the columns together, some steps at a time, with totals in the first cache.
  static constexpr int kRowsAlong = 4;
  template <int kRows>
  static constexpr int kSteps = kRows == 1 ? 4 : 8;
  static constexpr int kTotalsAlong = 384;
  static_assert(kTotalsAlong <= 2 * kTileRows * Cut<T, A, B, N>::kPanelsThatWait);

  const Span rows_, columns_, depth_;
  const Cut<T, A, B, N>& cut_;
  const Total start_;
  const Left& left_;
  const Right& right_;
  const Step& step_;
  const Finish& finish_;
  const Combine& combine_;
  B* columns_of_few_ = nullptr;
  A* rows_of_few_ = nullptr;

  IN_SET void run(Team team, void* shared, Total* waiting) {
    columns_of_few_ = static_cast<B*>(shared);
    rows_of_few_ = static_cast<A*>(shared);
    const Span depth = Span{0, depth_.count()}.part(team.number, team.count);
    team.wait();
    if (cut_.few_columns)
      pack_columns(depth);
    else
      pack_rows(depth);
    team.wait();
    if (cut_.few_columns) {
      for_groups(rows_, kBeside, team, [this](int64_t band, Span rows) IN_SET { fold_rows(rows, band); });
    } else if constexpr (kAlongDepth<Right>) {
      for_groups(columns_, N, team,
                 [this](int64_t band, Span columns) IN_SET { fold_columns(columns, band); });
    } else {
      const Span panels = Span{0, cut_.panels}.part(team.number, team.count);
      const int64_t at_once = kTotalsAlong / 2 / rows_along();
      for (int64_t first = panels.first; first < panels.end; first += at_once)
        fold_panels({first, smaller(first + at_once, panels.end)}, waiting);
    }
  }

  // Some lines at a time, which threads share, of each band.
  template <class Use>
  IN_SET void for_groups(Span lines, int64_t size, Team team, const Use& use) const {
    const Span groups = Span{0, ceil_div(lines.count(), size) * cut_.bands}.part(team.number, team.count);
    for (int64_t group = groups.first; group < groups.end; ++group) {
      const int64_t first = lines.first + group / cut_.bands * size;
      use(group % cut_.bands, Span{first, smaller(first + size, lines.end)});
    }
  }
  // The few, as many at once as there are registers for.
  template <class Use>
  IN_SET static void some_at_a_time(int count, const Use& use) {
    for (int first = 0; first < count; first += kAtOnce) {
      const int rest = int(smaller(count - first, kAtOnce));
      if (rest == 1)
        use(std::integral_constant<int, 1>(), first, rest);
      else
        use(std::integral_constant<int, kAtOnce>(), first, rest);
    }
  }
  // Lanes take positions of the depth in turns: those of `few` lines, and of kBeside others.
  template <int kLines, class Values, class Few, class Beside, class InLanes>
  IN_SET void go_down(int64_t turns, const Few& few, const Beside& beside, const InLanes& step,
                      Total* totals) const {
    fold_tile<N, Values>({0, turns}, few, beside, step, Everywhere(), start_, totals,
                         std::make_integer_sequence<int, kLines * kBeside>(),
                         std::make_integer_sequence<int, kBeside>());
  }

  template <class Active>
  __attribute__((noinline)) IN_SET void finish(int64_t band, int64_t m, int64_t n, Active active,
                                               const Total& total) const {
    in_band(band, finish_, m, n, active, total);
  }

  IN_SET int count_of_columns() const { return int(smaller(columns_.count(), cut_.kFewColumns)); }
  IN_SET void pack_columns(Span depth) const {
    const int count = count_of_columns();
    for (int64_t k = depth.first; k < depth.end; ++k)
      for (int64_t band = 0; band < cut_.bands; ++band) {
        Rights values;
        in_band(band, right_, values, depth_.first + k, columns_.first, FirstLanes<N>{count});
        B* const to = columns_of_few_ + band * count * cut_.line_numbers() + k;
        for (int n = 0; n < count; ++n) to[n * cut_.line_numbers()] = values[n];
      }
  }
  // Some rows meet all columns.
  IN_SET void fold_rows(Span rows, int64_t band) const {
    const int count = count_of_columns();
    T results[kBeside][N] = {};
    some_at_a_time(count, [&](auto few, int first, int there) IN_SET {
      const B* const columns = columns_of_few_ + (band * count + first) * cut_.line_numbers();
      go_down_rows<decltype(few)::value>(rows, columns, there, &results[0][first]);
    });
    for (int64_t m = rows.first; m < rows.end; ++m)
      finish(band, m, columns_.first, FirstLanes<N>{count}, load(results[m - rows.first], AllLanes<N>{}));
  }
  // The last positions, too few for all lanes, come after the others.
  template <int kLines>
  IN_SET void go_down_rows(Span rows, const B* columns, int count, T* results) const {
    const int64_t to_next = cut_.line_numbers(), first_k = depth_.first, turns = depth_.count() / N;
    const Left left = left_;  // as what is stored could be anything that is not local
    const auto of_column = [=](int64_t first, int k, int n) IN_SET {
      return load(columns + (n < count ? n : 0) * to_next + (first + k) * N, AllLanes<N>{});
    };
    const auto of_row = [=](Lefts& values, int64_t turn, int row) IN_SET {
      A positions[N];
#pragma GCC unroll 64  // else g++ -O2 makes no vectors of these reads
      for (int lane = 0; lane < N; ++lane)
        positions[lane] = left(smaller(rows.first + row, rows.end - 1), first_k + turn * N + lane);
      values = load(positions, AllLanes<N>{});
    };
    const auto step = [this](Total& total, Rights b, Lefts a) IN_SET { step_(total, a, b); };
    Total totals[kLines * kBeside];
    go_down<kLines, Lefts>(turns, of_column, of_row, step, totals);
    for (int64_t m = rows.first; m < rows.end; ++m)
      for (int n = 0; n < count; ++n) {
        Total total = across(totals[n * kBeside + (m - rows.first)], combine_);
        for (int64_t k = turns * N; k < depth_.count(); ++k)
          step_(total, Lefts(left(m, first_k + k)), Rights(columns[n * to_next + k]));
        results[(m - rows.first) * N + n] = total[0];
      }
  }

  IN_SET void pack_rows(Span depth) const {
    const Left left = left_;  // as what is stored could be anything that is not local
    for (int64_t m = 0; m < rows_.count(); ++m)
      for (int64_t k = depth.first; k < depth.end; ++k)
        rows_of_few_[m * cut_.line_numbers() + k] = left(rows_.first + m, depth_.first + k);
  }
  // The columns of as many lanes meet all rows.
  IN_SET void fold_columns(Span columns, int64_t band) const {
    T results[Cut<T, A, B, N>::kFewRowsDown][N] = {};
    const int64_t turns = (right_.down_end(depth_) - depth_.first) / N;
    for (int first = 0; first < int(columns.count()); first += kBeside)
      some_at_a_time(int(rows_.count()), [&](auto few, int row, int there) IN_SET {
        const int count = int(smaller(columns.count() - first, kBeside));
        go_down_columns<decltype(few)::value>(turns, band, columns.first + first, count,
                                              rows_of_few_ + row * cut_.line_numbers(), there,
                                              &results[row][first]);
      });
    // The last positions, too few for all lanes, come after the others.
    for_lanes<N>(columns.first, columns.end, [&](int64_t first, auto active) IN_SET {
      for (int64_t m = 0; m < rows_.count(); ++m) {
        Total total = load(results[m], AllLanes<N>{});
        for (int64_t k = turns * N; k < depth_.count(); ++k) {
          Rights values;
          in_band(band, right_, values, depth_.first + k, first, active);
          step_(total, rows_of_few_[m * cut_.line_numbers() + k], values);
        }
        finish(band, rows_.first + m, first, active, total);
      }
    });
  }
  template <int kLines>
  IN_SET void go_down_columns(int64_t turns, int64_t band, int64_t first, int count, const A* rows, int there,
                              T* results) const {
    const int64_t to_next = cut_.line_numbers(), first_k = depth_.first;
    const Right right = right_;  // as what is stored could be anything that is not local
    const auto of_row = [=](int64_t turn, int k, int row) IN_SET {
      return load(rows + (row < there ? row : 0) * to_next + (turn + k) * N, AllLanes<N>{});
    };
    const auto of_column = [=](Rights& values, int64_t turn, int n) IN_SET {
      in_band(band, right, values, first_k + turn * N, first + (n < count ? n : 0), DownLanes<N>{});
    };
    const auto step = [this](Total& total, Lefts a, Rights b) IN_SET { step_(total, a, b); };
    Total totals[kLines * kBeside];
    go_down<kLines, Rights>(turns, of_row, of_column, step, totals);
    for (int row = 0; row < there; ++row)
      for (int n = 0; n < count; ++n) results[row * N + n] = across(totals[row * kBeside + n], combine_);
  }

  // As many rows as have totals: a single one, or some at a time.
  IN_SET int64_t rows_along() const {
    return rows_.count() == 1 ? 1 : ceil_div(rows_.count(), kRowsAlong) * kRowsAlong;
  }
  // Neighbouring panels go down the depth together, so that the right factor is read in long pieces.
  IN_SET void fold_panels(Span panels, Total* waiting) const {
    const int count = int(panels.count()), in_row = 2 * count, rows = int(rows_along());
    Total here[kTotalsAlong];
    Panel<N> beside[kTotalsAlong / 2];
    for (int i = 0; i < count; ++i) beside[i] = Panel<N>(panels.first + i, cut_, columns_);
    for (int64_t first = 0; first < cut_.depth; first += cut_.part) {
      for (int cell = 0; cell < rows * in_row; ++cell) here[cell] = start_;
      const int64_t end = smaller(first + cut_.part, depth_.count());
      const int at_once = rows == 1 ? kSteps<1> : kSteps<kRowsAlong>;
      for (int64_t k = first; k < end; k += at_once) {
        const Span steps = {k, smaller(k + at_once, end)};
        if (rows == 1) go_along(steps, 0, beside, count, here, std::make_integer_sequence<int, 1>());
        for (int row = 0; row + kRowsAlong <= rows; row += kRowsAlong)
          go_along(steps, row, beside, count, here + row * in_row,
                   std::make_integer_sequence<int, kRowsAlong>());
      }
      const int kept = int(rows_.count()) * in_row;
      for (int cell = 0; first > 0 && cell < kept; ++cell) here[cell] = combine_(waiting[cell], here[cell]);
      for (int cell = 0; end < depth_.count() && cell < kept; ++cell) waiting[cell] = here[cell];
    }
    for (int64_t m = 0; m < rows_.count(); ++m)
      for (int i = 0; i < count; ++i)
        beside[i].for_vectors([&](int v, int64_t n, auto active) IN_SET {
          finish(beside[i].band, rows_.first + m, n, active, here[m * in_row + 2 * i + v]);
        });
  }
  IN_SET bool right_is_beyond_caches() const {
    return double(depth_.count()) * double(columns_.count()) * double(cut_.bands * int64_t(sizeof(B))) >
           kBeyondCaches;
  }
  // Memory brings lines in time that lie far from each other only where they are asked for some steps ahead.
  template <int... kRow>
  __attribute__((noinline)) IN_SET void go_along(Span steps, int row, const Panel<N>* beside, int count,
                                                 Total* here, std::integer_sequence<int, kRow...>) const {
    constexpr int kAhead = kSteps<int(sizeof...(kRow))>;
    const Right right = right_;  // as what is stored could be anything that is not local
    const Step step = step_;
    const bool asks_ahead = row == 0 && right_is_beyond_caches();
    const int64_t to_next = cut_.line_numbers(), last = rows_.count() - 1,
                  first_k = depth_.first + steps.first, last_k = depth_.end - 1;
    A factors[sizeof...(kRow)][kAhead];
    for (int at = 0; at < int(steps.count()); ++at)
      ((factors[kRow][at] = rows_of_few_[smaller(row + kRow, last) * to_next + steps.first + at]), ...);
    for (int i = 0; i < count; ++i, here += 2)
      beside[i].for_vectors([&](int v, int64_t n, auto active) IN_SET {
        Total totals[] = {here[2 * count * kRow + v]...};
        for (int at = 0; at < int(steps.count()); ++at) {
          Rights values, soon;
          if constexpr (std::is_same_v<decltype(active), AllLanes<N>>)
            if (asks_ahead)
              in_band(beside[i].band, right, soon, smaller(first_k + at + kAhead, last_k), n, SoonLanes<N>{});
          in_band(beside[i].band, right, values, first_k + at, n, active);
          (step(totals[kRow], factors[kRow][at], values), ...);
        }
        ((here[2 * count * kRow + v] = totals[kRow]), ...);
      });
  }
};
