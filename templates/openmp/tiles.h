//@ fold_tile: Cut for_lanes load store
// Each row takes every step of the depth.
struct Everywhere {
  static constexpr bool any(int64_t) { return true; }
  static constexpr bool all(int64_t) { return true; }
  constexpr bool operator()(int64_t, int, int) const { return true; }
};
// Each row goes no further than that: takes the steps, or has the columns, before end(row).
template <class End>
struct Until {
  End end;
  IN_SET bool operator()(int64_t m, int64_t k) const { return k < end(m); }
};
template <class End>
Until(End) -> Until<End>;
template <class T>
constexpr bool kEnds = false;
template <class End>
constexpr bool kEnds<Until<End>> = true;
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

// All lanes, which are not columns: one after the other, they are positions of the depth at one column.
template <int N>
struct DownLanes : AllLanes<N> {};
// What lies along the depth: neighbours in memory, whatever lies between columns.
template <class T, int N>
inline typename LanesOf<T, N>::type load_every(const T* from, int64_t, DownLanes<N> all) {
  return load(from, AllLanes<N>(all));
}
// What a column has once.
template <class T, int N>
inline typename LanesOf<T, N>::type load(const T* from, DownLanes<N>) {
  const Lanes<T, N> all = *from;
  return all.v;
}
// All lanes, whose numbers are asked for soon: memory begins to bring them, and none is read yet.
template <int N>
struct SoonLanes : AllLanes<N> {};
template <class T, int N>
inline __attribute__((always_inline)) typename LanesOf<T, N>::type load(const T* from, SoonLanes<N>) {
  __builtin_prefetch(from);
  return {};
}
// Right factors that are neighbours in memory along the depth, so that they can be found by such lanes, too.
template <class Right>
struct AlongDepth : Right {
  IN_SET int64_t down_end(Span depth) const { return depth.end; }
};
template <class Right>
AlongDepth(Right) -> AlongDepth<Right>;
template <class Right>
constexpr bool kAlongDepth = false;
template <class Right>
constexpr bool kAlongDepth<AlongDepth<Right>> = true;
// Left factors that are neighbours in memory along the rows.
template <class Left>
struct AlongRows : Left {};
template <class Left>
AlongRows(Left) -> AlongRows<Left>;
template <class Left>
constexpr bool kAlongRows = false;
template <class Left>
constexpr bool kAlongRows<AlongRows<Left>> = true;

// A tile, which begins with `start` and stays in registers while it folds what is found at each of these
// positions of the depth: those of N lanes after each other, as left factors lie.
template <int N, class Columns, class Total, class Left, class Right, class Step, class Kept, int... kCell,
          int... kVector>
__attribute__((noinline)) void fold_tile(Span depth, Left left, Right right, Step step, Kept kept,
                                         const Total& start, Total* tile,
                                         std::integer_sequence<int, kCell...>,
                                         std::integer_sequence<int, kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  Total totals[] = {(void(kCell), start)...};
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
                      const Total& start, Total* tile) {
  fold_tile<N, Columns>(depth, left, right, step, kept, start, tile,
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

// Steps that know more say so: kBias is what right factors have more than they should, whose products with
// the left ones are taken off again. Such steps take factors from panels alone.
template <class Step, class = void>
struct StepOf {
  static constexpr bool kFromPanels = false;
  static constexpr int kBias = 0;
};
template <class Step>
struct StepOf<Step, std::void_t<decltype(Step::kBias)>> {
  static constexpr bool kFromPanels = true;
  static constexpr int kBias = Step::kBias;
};
