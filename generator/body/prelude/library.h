// The library of the body language, written in it. A body, or a param that names a function, uses these by name; a
// function of the same name in the spec takes precedence. One paragraph a function: its comment is what the docs say.

// The value itself.
template <class V> V identity(V v) { return v; }

// v * v
template <class V> V square(V v) { return v * v; }

// From a at t = 0 to b at t = 1, in a straight line.
real lerp(real a, real b, real t) { return a + (b - a) * t; }

// The angle of the first quadrant or the fourth whose tangent is v.
real atan(real v) { return atan2(v, 1); }

// The angle of the first quadrant or the fourth whose sine is v.
real asin(real v) { return atan2(v, sqrt((1 - v) * (1 + v))); }

// The angle of the first quadrant or the second whose cosine is v.
real acos(real v) { return atan2(sqrt((1 - v) * (1 + v)), v); }

// sqrt(a * a + b * b), without overflow.
real hypot(real a, real b) {
  real most = max(abs(a), abs(b)), least = min(abs(a), abs(b));
  real slope = most == 0 || most == inf ? 0 : least / most;
  return most * sqrt(1 + slope * slope);
}

// The logarithm to base 10.
real log10(real v) { return log(v) * 0.43429448190325182765112891891661; }

// log(exp(a) + exp(b)), without overflow.
real logaddexp(real a, real b) {
  real most = max(a, b);
  return abs(most) == inf ? most : most + log1p(exp(-abs(a - b)));
}

// Neither infinite nor NaN?
bool isfinite(real v) { return abs(v) < inf; }

// max(v, 0)
template <class V> V relu(V v) { return max(v, 0); }

// min(max(v, 0), 6)
real relu6(real v) { return clamp(v, 0, 6); }

// v above 0, slope * v below.
real leaky_relu(real v, real slope = 0.01) { return v > 0 ? v : slope * v; }

// v above 0, alpha * (exp(v) - 1) below.
real elu(real v, real alpha = 1) { return v > 0 ? v : alpha * expm1(v); }

// elu scaled so that means and variances settle at 0 and 1.
real selu(real v) {
  return 1.0507009873554804934193349852946 * (v > 0 ? v : 1.6732632423543772848170429916717 * expm1(v));
}

// elu with a smooth derivative for every alpha.
real celu(real v, real alpha = 1) { return v > 0 ? v : alpha * expm1(v / alpha); }

// v times the share of a normal distribution below v.
real gelu(real v) { return 0.5 * v * (1 + erf(v * 0.70710678118654752440084436210485)); }

// gelu by the tanh formula.
real gelu_tanh(real v) { return 0.5 * v * (1 + tanh(0.79788456080286535587989211986876 * (v + 0.044715 * v * v * v))); }

// v * sigmoid(v), also called swish.
real silu(real v) { return v * sigmoid(v); }

// v * tanh(softplus(v))
real mish(real v) { return v * tanh(max(v, 0) + log1p(exp(-abs(v)))); }

// log(1 + exp(v)), without overflow.
real softplus(real v) { return max(v, 0) + log1p(exp(-abs(v))); }

// v / (1 + abs(v))
real softsign(real v) { return v / (1 + abs(v)); }

// log(sigmoid(v)), without overflow.
real log_sigmoid(real v) { return min(v, 0) - log1p(exp(-abs(v))); }

// v, held between -1 and 1.
real hardtanh(real v) { return clamp(v, -1, 1); }

// The straight line that stands in for sigmoid: clamp(v / 6 + 0.5, 0, 1).
real hardsigmoid(real v) { return clamp(v / 6 + 0.5, 0, 1); }

// v * hardsigmoid(v)
real hardswish(real v) { return v * clamp(v / 6 + 0.5, 0, 1); }

// v - tanh(v)
real tanhshrink(real v) { return v - tanh(v); }

// exp(v) over its sum along A.
real softmax(real v, axis A) {
  real e = exp(v - max(v, A));
  return e / sum(e, A);
}

// log(softmax(v, A)), without underflow; -inf for what a where leaves out.
real log_softmax(real v, axis A) {
  real d = v - max(v, A);
  return present(A) ? d - log(sum(exp(d), A)) : -inf;
}

// log(sum(exp(v), A)), without overflow; -inf where nothing is summed.
real logsumexp(real v, axis A) {
  real m = max(v, A);
  return isinf(m) ? m : m + log(sum(exp(v - m), A));
}

// The mean of the squared distances from the mean along A.
real variance(real v, axis A) {
  real d = v - mean(v, A);
  return mean(d * d, A);
}

// v with mean 0 and variance 1 along A.
real layernorm(real v, axis A, real eps = 1e-5) {
  real d = v - mean(v, A);
  return d * rsqrt(mean(d * d, A) + eps);
}

// v over its root mean square along A.
real rmsnorm(real v, axis A, real eps = 1e-5) { return v * rsqrt(mean(v * v, A) + eps); }

// The Euclidean length along A.
real norm(real v, axis A) { return sqrt(sum(v * v, A)); }

// v over its Euclidean length along A, which counts as eps at least.
real normalize(real v, axis A, real eps = 1e-12) { return v / max(sqrt(sum(v * v, A)), eps); }
