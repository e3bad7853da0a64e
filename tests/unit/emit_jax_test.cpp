// The JAX binding as text: what a call finds out when it is traced, what the handler passes on, and the rules of its
// gradient. tests/bindings runs it.
#include <doctest/doctest.h>

#include "emit/bindings/signature.h"
#include "emit_testing.h"

namespace kgen {
namespace {

struct Module {
  std::string python, cpp;
};

Module bound(const std::string &spec_text, const Signature *backward = nullptr) {
  Diagnostics diags;
  const auto spec = load_spec("test.toml", spec_text, {}, diags);
  REQUIRE_MESSAGE(spec, diags.render(Diagnostics::Format::human, false));
  EmitOptions options;
  options.bindings = {"jax"};
  options.backward = backward;
  Module out;
  for (const EmittedFile &file : emit_files(*spec, variations_of(*spec), options)) {
    if (file.name.ends_with("_jax.py"))
      out.python = file.text;
    if (file.name.ends_with("_jax.cpp"))
      out.cpp = file.text;
  }
  return out;
}

Signature signature(const std::string &spec_text) {
  Diagnostics diags;
  const auto spec = load_spec("test.toml", spec_text, {}, diags);
  REQUIRE_MESSAGE(spec, diags.render(Diagnostics::Format::human, false));
  return signature_of(*spec, variations_of(*spec), {});
}

// From `begin` up to `end`.
std::string part(const std::string &text, const std::string &begin, const std::string &end) {
  const size_t from = text.find(begin);
  REQUIRE_MESSAGE(from != std::string::npos, text);
  return "\n" + text.substr(from, text.find(end, from) - from);
}

const std::string kScale = R"(kernel = "scale"
doc = "y = alpha x + w"
types.T = ["f32", "bf16"]
scalars.alpha = "f32"
inputs.x = "T[..., N]"
inputs.w = { type = "real[N]", optional = true }
outputs.y = "T[..., N]"
body = 'y = alpha * x + (present(w) ? w : 0);'
)";

TEST_CASE("a call takes arrays, chooses a function, finds sizes, compares shapes") {
  CHECK(part(bound(kScale).python, "_CHOICES", "def _forward") == R"(
_CHOICES = ("T", "real")
_FUNCTIONS = [
    ("f32", "f32"),
    ("bf16", "f32"),
]


def scale(x, w, alpha):
    """y = alpha x + w

    x: T[..., N]
    w: real[N], may be None
    alpha: f32
    T: `f32` or `bf16`
    Returns y: T[..., N]
    """
    x = _array(x, "x", 1, or_more=True)
    w = _array(w, "w", 1, optional=True)
    _function, (T, real) = _choose(T=("x", x))
    alpha = _scalar(alpha, "alpha", "f32")
    _rest = x.shape[:-1]
    N = x.shape[-1]
    _match(x, "x", T, (*_rest, N), "T[..., N]")
    _match(w, "w", real, (N,), "real[N]", "x")
    _results = (("y", T, (*_rest, N), True),)
    _attributes = {"given_w": w is not None, "alpha": alpha, "N": N}
    return _call((x, w), _results, _attributes, _function)


)");
}

TEST_CASE("a handler passes what the call says on to the function that it names") {
  const std::string text = bound(kScale).cpp;
  CHECK(part(text, "XLA_FFI_Error* on_cpu", "case 1:") == R"(
XLA_FFI_Error* on_cpu(const Call& call) {
  const Array& x = call.argument(0);
  const Array& w = call.argument(1);
  const Array& y = call.result(0);
  const auto given_w = call.number<bool>("given_w");
  const auto alpha = call.number<double>("alpha");
  const auto N = call.number<int64_t>("N");
  const Threads limit(call);
  const int64_t rows = rows_of(x, 0, 1);
  switch (call.number<int64_t>("kgen_function")) {
    case 0:
      return call.ended(
          scale_f32_openmp(static_cast<float>(alpha), pointer(x), pointer(w, given_w), pointer(y), rows, N));
    )");
  CHECK(has(text, "scale_bf16_cuda(static_cast<float>(alpha), pointer(x), pointer(w, given_w),\n"
                  "                                        pointer(y),"));
}

TEST_CASE("names of the spec that a handler has for itself step aside") {
  const std::string text = bound(R"(kernel = "k"
inputs.pointer = "f32[limit]"
outputs.call = "f32[limit]"
body = 'call = pointer;'
)")
                               .cpp;
  CHECK(has(text, "k_openmp(pointer(pointer_two), pointer(call_two), limit_two)"));
}

TEST_CASE("only arrays that all begin with `...` are one call under vmap") {
  CHECK(has(bound(kScale).python, R"(_VMAP = "sequential")"));
  CHECK(has(bound("kernel = 'k'\ninputs.x = 'f32[..., N]'\noutputs.y = 'f32[..., N]'\nbody = 'y = x;'\n").python,
            R"(_VMAP = "broadcast_all")"));
}

TEST_CASE("tables of i64 may be int32 on the CPU; those of the host leave no handler for CUDA") {
  const std::string spec = R"(kernel = "k"
tables.t = { type = "i64[S]", range = "K" }
inputs.x = "f32[K]"
outputs.y = "f32[S]"
body = 'y = at(x, K = t[index(S)]);'
)";
  const Module device = bound(spec);
  CHECK(has(device.python, R"(_match(t, "t", "i64 i32", (S,), "i64[S]"))"));
  CHECK(has(device.cpp, "k_openmp(t_wide.data(), pointer(x), pointer(y), S, K"));
  CHECK(has(device.cpp, "t must be int64 on a GPU: set jax_enable_x64"));
  const std::string host = spec.substr(0, spec.find(" }")) + ", where = \"host\"" + spec.substr(spec.find(" }"));
  CHECK(bound(host).cpp.find("on_cuda") == std::string::npos);
}

TEST_CASE("an aliased input is passed as the output whose memory it is") {
  const Module module = bound(R"(kernel = "k"
inputs.g = "f32[N]"
inputs.old = "f32[N]"
outputs.z = "f32[N]"
outputs.w = { type = "f32[N]", alias = "old" }
body = '''
z = g;
w = old - g;
'''
)");
  CHECK(has(module.python, "return _call((g, old), _results, _attributes, aliases=((1, 1),))"));
  CHECK(has(module.cpp, "k_openmp(pointer(g), pointer(z), pointer(w), N)"));
}

TEST_CASE("the rules of the gradient save what the backward kernel reads and pass on what is asked for") {
  const Signature backward = signature(R"(kernel = "scale_backward"
backward_of = "scale"
types.T = ["f32", "bf16"]
inputs.x = "T[..., N]"
inputs.w = { type = "real[N]", optional = true }
inputs.d_y = "T[..., N]"
scalars.alpha = "f32"
outputs.d_x = { type = "real[..., N]", optional = true }
outputs.d_w = { type = "real[N]", optional = true }
body = '''
d_x = alpha * d_y + x * 0 + (present(w) ? w * 0 : 0);
d_w = sum(d_y, rows);
'''
)");
  CHECK(part(bound(kScale, &backward).python, "def _forward", "\n\n\ndef _array") == R"(
def _forward(call, *primals):
    arrays, variable = _differentiated(primals)
    x, w = arrays
    results = _apply(call, *arrays)
    return results, (variable, (x, w))


def _backward(call, saved, gradients):
    T, real = _FUNCTIONS[call.function]
    variable, (x, w) = saved
    (d_y,) = gradients
    d_y = _gradient(d_y)
    backward = _sibling("scale_backward_jax").scale_backward
    d_x, d_w = backward(x, w, d_y, call.attribute("alpha"), _wanted=(variable[0], variable[1]))
    return (_cast(d_x, T), d_w))");
}

TEST_CASE("a kernel that is only called like a gradient is none") {
  const Signature other = signature(R"(kernel = "scale_backward"
types.T = ["f32", "bf16"]
inputs.y = "T[..., N]"
inputs.dy = "T[..., N]"
outputs.dx = "T[..., N]"
body = 'dx = y * dy;'
)");
  CHECK(has(bound(kScale, &other).python, "scale has no gradient"));
}

TEST_CASE("without a backward kernel, differentiating says how to get one") {
  CHECK(has(bound(kScale).python, "scale has no gradient: write scale_backward.toml with `kgen grad test.toml`"));
}

} // namespace
} // namespace kgen
