"""What `kgen grad --save` writes: the forward kernel gives the local as well, the backward kernel reads it and computes
less, and the gradients are those of differences of the forward kernel.

save.py KGEN
"""
import subprocess
import sys
import tempfile
from pathlib import Path

KGEN = sys.argv[1]
# Which local, the spec below the kernel's name, what the forward kernel says of it, and what the backward kernel no
# longer says.
CASES = {
    "a scan of whole numbers": (
        "recent", 'inputs.f = "bool[N]"\ninputs.x = "T[N]"\noutputs.o = "T[N]"\n'
        "body = 'int64_t recent = cummax(f ? index(N) : 0, N); o = x * at(x, N = recent);'\n",
        ['outputs.recent = "i64[N]"\n'], ["cummax("]),
    "the logarithm behind an attention's weights": (
        "lse", 'inputs.q = "T[B, S, D]"\ninputs.k = "T[B, R, D]"\ninputs.v = "T[B, R, D]"\nscalars.scale = "f32"\n'
        "outputs.o = \"T[B, S, D]\"\nbody = '''\nreal s = scale * dot(q, k, D);\nreal top = max(s, R);\n"
        "real p = exp(s - top);\nreal total = sum(p, R);\nreal lse = top + log(total);\no = dot(p, v, R) / total;\n'''\n",
        ['outputs.lse = "real[B, S]"\n', "\nlse = top + log(total);"], ["max(", "real total"]),
    "a local along all dimensions of any rank": (
        "e", 'inputs.x = "T[..., N]"\noutputs.o = "T[..., N]"\nbody = \'real e = exp(-x); o = x / (1 + e);\'\n',
        ['outputs.e = "real[..., N]"\n', "body = 'e = exp(-x);"], ["exp("]),
    "a local of a batch": (
        "e", 'batch.B = ["x"]\ninputs.x = "T[N]"\ninputs.w = "T[N]"\noutputs.o = "T[N]"\n'
        "body = 'real e = exp(x * w); o = x / (1 + e);'\n",
        ['outputs.e = "real[N]"\n'], ["exp("]),
    "a local of a batch along all dimensions of any rank": (
        "e", 'batch.B = ["x"]\ninputs.x = "T[..., N]"\ninputs.w = "T[N]"\noutputs.o = "T[..., N]"\n'
        "body = 'real e = exp(x * w); o = x / (1 + e);'\n",
        ['outputs.e = "real[..., N]"\n'], ["exp("]),
    "a local along an axis that is as long as another one": (
        "s", 'inputs.q = "T[N, D]"\ninputs.k = "T[M=N, D]"\noutputs.o = "T[N, D]"\n'
        "body = 'real s = dot(q, k, D); o = dot(exp(s), k, M);'\n",
        ['outputs.s = "real[N, M=N]"\n'], ["dot(q, k, D)"]),
    "a local along an axis of a size of its own": (
        "s", 'inputs.q = "T[N, D=3]"\ninputs.k = "T[M=2 * N, D=3]"\noutputs.o = "T[N]"\n'
        "body = 'real s = exp(q) * k; o = sum(s * s, M, D);'\n",
        ['outputs.s = "real[N, D=3, M=2 * N]"\n'], []),
    "a local of the name that one of the library's functions has": (
        "d", 'inputs.x = "T[M, N]"\ninputs.w = "T[M, N]"\noutputs.o = "T[M, N]"\n'
        "body = 'real n = layernorm(x, N); real d = exp(w) * n; o = sin(d) * d;'\n",
        ['outputs.d = "real[M, N]"\n'], []),
    "a copy of what a loop sets": (
        "last_s", 'inputs.x = "T[N, I=4]"\noutputs.o = "T[N]"\n'
        "body = 'real s = 0; for (int i = 0; i < 4; ++i) s = 0.5 * s + at(x, I = i); real last_s = s; o = sin(last_s);'\n",
        ['outputs.last_s = "real[N]"\n'], []),
    "a local of ragged rows, by a table of outputs": (
        "e", 'axes.N = { ragged = "start", over = "B" }\ntables.start = "i64[B + 1]"\ninputs.x = "T[B, N]"\n'
        "body = 'real e = exp(x); o = e * e / sum(e, N);'\n[outputs]\no = \"T[B, N]\" # of a row\n",
        ['\n[outputs]\n', '\ne = "real[B, N]"\n'], ["exp("]),
}


def run(*arguments):
    done = subprocess.run([KGEN, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(name, local, spec, said, unsaid, folder):
    path = folder / "k.toml"
    path.write_text('kernel = "k"\ntypes.T = ["f32", "f64"]\n' + spec)
    code, text = run("grad", path, "-o", folder, "--save", local)
    if code:
        return [f"{name}: {text}"]
    forward, backward = (folder / f"k_{which}.toml" for which in ("forward", "backward"))
    out = [f"{name}: the forward kernel has no {part!r}:\n{forward.read_text()}" for part in
           ['kernel = "k_forward"', *said] if part not in forward.read_text()]
    body = backward.read_text()
    out += [f"{name}: the backward kernel has {part!r}:\n{body}" for part in unsaid if part in body.split("body =")[1]]
    if f'inputs.{local} = ' not in body or 'backward_of = "k"\n' not in body:
        out.append(f"{name}: the backward kernel does not read {local}:\n{body}")
    code, text = run("verify", "--grad", forward, "--with", "o", "--seeds", 1)
    out += [f"{name}: {text}"] if code else []
    code, text = run("grad", forward, "-o", folder, "--with", "o")
    made = (folder / "k_forward_backward.toml").read_text()
    same = made.split("body =")[1] == body.split("body =")[1]
    return out + ([] if same else [f"{name}: k_forward has another gradient:\n{made}"])


wrong = []
for name, case in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        wrong += check(name, *case, Path(folder))
print("\n".join(wrong) or f"{len(CASES)} cases are right")
sys.exit(1 if wrong else 0)
