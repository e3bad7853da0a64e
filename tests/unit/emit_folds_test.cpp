// How the threads of a CUDA block, and the blocks of a grid, share a fold.
#include <doctest/doctest.h>

#include "emit_testing.h"

namespace kgen {
namespace {

std::string cuda_text(const std::string &operands, const std::string &body, const std::string &start = "__global__") {
  return emitted_text("kernel = \"k\"\ndoc = \"d\"\n" + operands + "body = '''\n" + body + "\n'''\n", ".cu", start);
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

TEST_CASE("a workspace has tiles for no more blocks than there are items, on CUDA") {
  const std::string text = cuda_text("inputs.p = \"f32[B, C, H]\"\noutputs.s = \"f32[B, C]\"\n",
                                     "real q = softmax(p, C);\ns = sum(q * q + cumsum(q, H), H);", "Workspace(");
  CAPTURE(text);
  CHECK(text.find(", smaller(B, 1024)), 1);") != std::string::npos);
}

TEST_CASE("a block folds by shuffles, and has a slot a warp") {
  const std::string text =
      cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n", "s = sum(x, N);", "T from_lane");
  CHECK(has(text, "__shfl_sync(mask, value, int(lane), int(width))"));
  CHECK(has(text,
            "value = combine(value, from_lane(value, lane + distance)); if (warps == 1) return from_lane(value, 0);"));
  CHECK(has(text, "shape.blocks, dim3(shape.threads, shape.together), 512, stream"));
}

TEST_CASE("threads never write into one buffer for different turns of the loop that they share") {
  const std::string few = cuda_text(R"spec(tables.rows = { type = "i32[S]", sorted = true, range = "cdiv(M, 8)" }
inputs.a = { type = "f32[S, M=8, K=4]", block = ["squeeze", "whole", "whole"], index = ["s", 0, 0] }
inputs.x = { type = "f32[K=4, N]", block = [4, 16], index = [0, "j"] }
outputs.z = { type = "f32[M, N]", block = [8, 16], index = ["rows[s]", "j"], partial = true }
grid.j = { size = "cdiv(N, 16)", semantics = "parallel" }
grid.s = { size = "S", semantics = "arbitrary" }
)spec",
                                    "if (first(z)) z = 0;\nz += dot(a, x, K);");
  CHECK(has(few, "Index n = Index(j * 16) + Index(threadIdx.x)"));
  CHECK(has(few, "sum_a_x[m * 16 + n - j * 16] = 0.0f;")); // an element for each of them
  const std::string many = cuda_text(R"spec(tables.starts = "i64[B + 1]"
axes.N = { ragged = "starts", over = "B" }
inputs.x = "f32[B, N, H]"
outputs.y = "f32[B, N, H]"
outputs.c = "i64[B]"
)spec",
                                     "y = cumsum(x, N) - max(x, N);\nc = argmax(sum(x, H), N);");
  CHECK(has(many, "for (Index h = 0; h < H; ++h) {")); // all threads together
  CHECK(has(many, "for (Index n_tile = 0; n_tile < n_count; n_tile += Index(blockDim.x))"));
}

TEST_CASE("threads never wait for each other twice in a row") {
  const std::string text = cuda_text("inputs.q = \"f32[B, S, D]\"\ninputs.k = \"f32[B, R, D]\"\n"
                                     "outputs.y = \"f32[B, S, D]\"\noutputs.z = \"f32[B, R, D]\"\n",
                                     "real p = softmax(dot(q, k, D), R);\ny = dot(p, k, R);\nz = dot(p, q, S);");
  CHECK(has(text, "__syncthreads(); } __syncthreads(); for"));
  CHECK(text.find("__syncthreads(); __syncthreads();") == std::string::npos);
}

TEST_CASE("what the last launch says is what the function says, unless its phase may be left out") {
  const std::string one = cuda_text("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\n", "y = x;", "cudaError_t k(");
  CHECK(has(one, "return launch(elements == 4 ? k_kernel<4, Index> : k_kernel<1, Index>, "));
  CHECK(one.substr(0, one.find("return launch(")).find("error") == std::string::npos);
  const std::string two = cuda_text("inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\noutputs.z = \"f32[N]\"\n",
                                    "y = x - max(x, N);\nz = sum(x, M);", "cudaError_t k(");
  CHECK(has(two, ") return error; "));
  CHECK(has(two, "return launch_rows(!wide ? k_part2_kernel<false, 0, Index> : "
                 "shape.held ? k_part2_kernel<true, 4, Index> : k_part2_kernel<true, 0, Index>"));
}

TEST_CASE("a pair goes to another lane member by member") {
  const std::string text =
      cuda_text("inputs.x = \"f64[M, N]\"\noutputs.s = \"i64[M]\"\n", "s = argmax(x, N);", "T from_lane");
  CHECK(has(text, "return {from_lane(best.value, lane, mask, width), from_lane(best.index, lane, mask, width)};"));
}

TEST_CASE("the threads of a block share all loops of a fold") {
  const std::string text = cuda_text("inputs.x = \"f32[B, C, H]\"\ninputs.w = \"f32[B]\"\noutputs.s = \"f32[C]\"\n",
                                     "s = sum(log(x) / w, B, H);");
  CHECK(has(text,
            "for (Index point = first + Index(threadIdx.x); point < smaller(last, B * groups); point += "
            "Index(blockDim.x)) { const Index b "
            "= Index(point / groups); const Index group = Index(point % groups); const Index h_first = group * 4;"));
  CHECK(has(text, "const RowShape shape(B * ceil_div(H, 4), 4, C, 0, 1024);"));
}

TEST_CASE("threads that share a row take neighbours in wide accesses, and fold none beyond its end") {
  const std::string text = cuda_text("inputs.x = \"bf16[M, N]\"\ninputs.w = \"f32[N]\"\noutputs.y = \"bf16[M, N]\"\n",
                                     "y = x * w - sum(x, N);");
  CHECK(has(text,
            "team.for_packs<kTurns, 8>(first, last, [&](Index n_first, int turn) { "
            "const Index remaining = kWide ? 8 : Index(last - n_first); "
            "const auto x_pack = x_kept.load(turn, n_first - first, &x[m * N + n_first], remaining); #pragma unroll "
            "for (int i = 0; i < 8; ++i) { if (i < remaining) { sum_x_own += from_bf16(x_pack[i]); } } });"));
  CHECK(has(text, "if (takes_part) store_pack<kWide>(&y[m * N + n_first], y_pack, remaining);"));
  CHECK(has(text, "const bool wide = aligned({x, w, y}) && N % 8 == 0;"));
  CHECK(has(text, "x_kept.again(turn, n_first - first, &x[m * N + n_first], remaining);"));
  CHECK(has(text, "const RowShape shape(N, 1, M, 2, 128, 4 * 8, wide);")); // two bytes of a position are kept
}

TEST_CASE("rows that fit are held in registers, and who takes no part adds nothing to a fold") {
  const std::string text = cuda_text("inputs.x = \"bf16[M, N]\"\ninputs.w = \"f32[N]\"\noutputs.y = \"bf16[M, N]\"\n",
                                     "y = x * w - sum(x, N);");
  CHECK(has(text, "x_kept.hold(team, &x[m * N + first]); team.for_packs<kTurns, 8>("));
  CHECK(has(text, "float sum_x = team.fold(takes_part ? sum_x_own : 0.0f, Plus());"));
  CHECK(has(text,
            "!wide ? k_kernel<false, 0, Index> : shape.held ? k_kernel<true, 4, Index> : k_kernel<true, 0, Index>"));
}

TEST_CASE("only rows that follow each other at multiples of an access leave no rest") {
  const std::string text = cuda_text("inputs.x = \"f32[N]\"\noutputs.s = \"f32[]\"\n", "s = sum(x * x, N);");
  CHECK(text.find("kWide ? 4 : ") == std::string::npos);
}

TEST_CASE("on a GPU, divisions of a row by what a fold has found are products with one reciprocal") {
  const std::string rows = "inputs.x = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n";
  CHECK(has(cuda_text(rows, "y = x / sum(x, N);"),
            "{ const Reciprocal<float> per_sum_x(sum_x); team.for_packs<kTurns, 4>("));
  CHECK(has(cuda_text(rows, "y = x / sum(x, N);"), "= x_pack[i] * per_sum_x;"));
  CHECK(cuda_text(rows, "y = x / (sum(x, N) + x);").find("Reciprocal") == std::string::npos);
  const std::string whole = "inputs.x = \"f32[M, N]\"\noutputs.y = \"i8[M, N]\"\n"; // a unit more or less would show
  CHECK(cuda_text(whole, "y = round(x / sum(x, N));").find("Reciprocal") == std::string::npos);
}

TEST_CASE("a row keeps what several loops read, unless one has written it") {
  const auto kept = [](const std::string &operands, const std::string &body) {
    return count(cuda_text(operands, body), "_kept(team, tile, chunk)");
  };
  const std::string rows = "inputs.x = \"f32[M, N]\"\ninputs.w = \"f32[N]\"\noutputs.y = \"f32[M, N]\"\n";
  CHECK(kept(rows, "y = x - max(x, N);") == 1);
  CHECK(kept(rows, "y = x * w - max(w * x, N);") == 1);        // w belongs to all rows
  CHECK(kept(rows, "y = x - max(at(x, N = 0) + w, N);") == 0); // not the same elements
  const std::string twice = "inputs.x = \"f32[M, N]\"\ninputs.w = \"f32[M, N]\"\noutputs.y = \"f32[M, N]\"\n";
  CHECK(kept(twice, "y = x * w - max(x + w, N);") == 2);
  const std::string in_place = "inputs.x = \"f32[M, N]\"\noutputs.y = { type = \"f32[M, N]\", alias = \"x\" }\n";
  CHECK(kept(in_place, "y = x - max(x, N);") == 1); // written last
}

TEST_CASE("buffers of a block, and those that phases share, are read and written like arrays") {
  const std::string text = cuda_text("inputs.x = \"f32[M, N]\"\ninputs.w = \"f32[N, K]\"\noutputs.y = \"f32[M, K]\"\n",
                                     "real e = exp(x);\ny = dot(e, w, N) / sum(e, N);");
  CHECK(has(text, "store_pack<kWide>(&e[n_first], e_pack, remaining);"));
  CHECK(has(text, "e[n] * w[n * K + k_index]"));
  CHECK(has(text, "aligned({x, tiles}) && N % 4 == 0"));
}

TEST_CASE("what is set first, then under a condition, is stored once") {
  const std::string text = cuda_text("inputs.x = \"f32[N]\"\noutputs.y = \"f32[N]\"\noutputs.s = \"f32[]\"\n",
                                     "y = 0;\nif (x > 0) y = 1 / x;\ns = sum(y, N);");
  CHECK(has(text, "y_pack[i] = 0.0f; if (x_pack[i] > 0.0f) { y_pack[i] = 1.0f / x_pack[i]; }"));
}

TEST_CASE("points of a fold that no array counts may be more than an index can tell") {
  const std::string text = cuda_text("inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n",
                                     "s = max(x + y, K, N);");
  CHECK(has(text,
            "for (int64_t point = int64_t(threadIdx.x); point < int64_t{1} * K * N; point += int64_t(blockDim.x))"));
}

TEST_CASE("a whole-array fold is one launch, whose last block puts it together") {
  const std::string text = cuda_text("inputs.x = \"f32[N]\"\noutputs.s = \"f32[]\"\n", "s = sum(x * x, N) / 2;");
  CHECK(count(text, "__global__") == 1);
  CHECK(has(text, "if (threadIdx.x == 0) { sum_x_squared_parts[blockIdx.x] = sum_x_squared_part; } if "
                  "(!is_last_block(ticket, gridDim.x)) "
                  "return;"));
  CHECK(has(text, "for (unsigned part = threadIdx.x; part < gridDim.x; part += blockDim.x)"));
  CHECK(has(text, "if (threadIdx.x == 0) { s[0] = sum_x_squared / 2.0f; }"));
  CHECK(has(text, "chunks = larger(ceil_div(N, chunk), 1);")); // nothing to fold: a block still says so
  CHECK(has(text, "cudaMemsetAsync(workspace + space.ticket, 0, sizeof(uint32_t), stream)"));
}

TEST_CASE("what later phases need of a whole-array fold goes through the workspace") {
  const std::string text = cuda_text("inputs.x = \"f32[N]\"\noutputs.z = \"f32[N]\"\n", "z = x / sum(x, N);");
  CHECK(count(text, "__global__") == 2);
  CHECK(has(text, "if (threadIdx.x == 0) sum_x[0] = whole;"));
  CHECK(has(text, "/ sum_x[0]"));
}

TEST_CASE("chunks of a nest are points of all its loops; rows with folds inside come before what is folded of them") {
  const std::string nest =
      cuda_text("inputs.x = \"f32[M, N]\"\ninputs.w = \"f32[N]\"\noutputs.s = \"f32[]\"\n", "s = sum(x * w, M, N);");
  CHECK(has(nest, "point < smaller(last, M * groups); point += Index(blockDim.x))"));
  const std::string rows = cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[]\"\n", "s = sum(max(x, N), M);");
  CHECK(has(rows, "const RowShape shape(N, 1, M, 0, 1024);"));
  CHECK(has(rows, "sum_greatest_x_own += greatest_x_pack[i];"));
}

TEST_CASE("the arrays of most axes say where neighbouring threads go") {
  const std::string text = cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\noutputs.q = \"f32[M]\"\n",
                                     "s = sum(x, N);\nq = sum(x * x, N);");
  CHECK(has(text, "const RowShape shape(N, 1, M, 0, 1024);"));
}

TEST_CASE("threads of a block share the rows of each column, blocks too where folds are of one loop") {
  const std::string columns = cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[N]\"\n", "s = sum(x, M);");
  CHECK(has(columns,
            "for (Index m = first + Index(threadIdx.y); m < last; m += Index(blockDim.y)) { sum_x_own += x[m * "
            "N + n]; }"));
  CHECK(has(columns, "if (!is_last_block(sum_x_tickets + blockIdx.x / chunks, chunks)) return;"));
  CHECK(has(columns, "const ColumnShape shape(M, N, 1024);"));
  CHECK(has(columns, "if (writes) { s[n] = sum_x; }"));
  const std::string twice = cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[N]\"\n",
                                      "float m = mean(x, M);\ns = sum((x - m) * (x - m), M);");
  CHECK(has(twice, "const ColumnShape shape(M, N, 1);"));
  CHECK(count(twice, "m_index += Index(blockDim.y)") == 2);
}

TEST_CASE("blocks share rows where these are few, if one loop has all their folds") {
  const std::string text = cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n", "s = sum(x, N);");
  CHECK(has(text,
            "for (Index item = Index(blockIdx.x / chunks) * Index(blockDim.y) + Index(threadIdx.y); item < items; "
            "item += Index(gridDim.x / chunks) * Index(blockDim.y))"));
  CHECK(has(text, "if (!is_last_block(sum_x_tickets + blockIdx.x / chunks, chunks)) return;"));
  const std::string before =
      cuda_text("inputs.x = \"f32[M, N]\"\noutputs.z = \"f32[M]\"\noutputs.s = \"f32[M]\"\n", "z = 1;\ns = sum(x, N);");
  CHECK(has(before, "if (writes) { z[m] = 1.0f; }")); // the last block of a row does not come back to it
  const std::string after =
      cuda_text("inputs.x = \"f32[M, N]\"\noutputs.s = \"f32[M]\"\n", "s = sum(exp(x - max(x, N)), N);");
  CHECK(has(after, "team.fold(takes_part ? greatest_x_own : -INFINITY, "));
  CHECK(has(after, "const bool writes = threadIdx.x == 0 && blockIdx.x % team.chunks == 0;"));
}

TEST_CASE("entries of tables are read once a row, as far as they are needed") {
  const std::string ragged = "tables.start = \"i64[B + 1]\"\naxes.N = { ragged = \"start\", over = \"B\" }\n";
  const std::string text =
      cuda_text(ragged + "inputs.x = \"f32[B, N]\"\noutputs.y = \"f32[B, N]\"\n", "y = x - max(x, N);");
  CHECK(has(text, "const auto n_start = row_at(start, b, N); const auto n_count = row_at(start, b + 1, N) - n_start;"));
  CHECK(count(text, "row_at(") == 2);
  const std::string lengths =
      cuda_text(ragged + "inputs.x = \"f32[B, N]\"\noutputs.y = \"i64[B]\"\n", "y = sum(index(N), N);");
  CHECK(count(lengths, "n_start") == 2); // by the other
  CHECK(count(lengths, "n_count") == 2);
}

TEST_CASE("products of arrays and windows of them are no columns") {
  CHECK(
      cuda_text("inputs.x = \"f32[M, K]\"\ninputs.y = \"f32[K, N]\"\noutputs.z = \"f32[M, N]\"\n", "z = dot(x, y, K);")
          .find("threadIdx.y") == std::string::npos);
  CHECK(cuda_text("axes.W = 3\ninputs.x = \"f32[N]\"\noutputs.z = \"f32[N]\"\n",
                  "z = sum(at(x, N = index(N) + index(W)), W);")
            .find("threadIdx.y") == std::string::npos);
}

} // namespace
} // namespace kgen
