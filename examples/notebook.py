# %% [markdown]
# A kernel from its maths to its gradient, in the cells of a notebook. Editors that know `# %%` run it cell by cell;
# `python notebook.py` runs it as a whole.

# %% A kernel is a text. It is compiled when the first array comes.
import kgen
import numpy as np
import torch

softmax = kgen.load("""
kernel = "softmax"
doc = "y = exp(x) / sum(exp(x)) along N, without overflow"
types.T = ["f32", "f64"]
inputs.x = "T[..., N]"
outputs.y = "T[..., N]"
body = '''
real e = exp(x - max(x, N));
y = e / sum(e, N);
'''
""")
print(softmax)

# %% It takes arrays of NumPy.
x = np.array([[1, 2, 3], [0, 0, 1000]], "f4")
print(softmax(x).round(3))

# %% It takes tensors of torch, which have gradients.
t = torch.tensor(x, dtype=torch.float64, requires_grad=True)
softmax(t)[:, 0].sum().backward()
print(t.grad.numpy().round(3))

# %% The gradient is a kernel as well. This is its body.
gradient = softmax.grad()
print(gradient.source("spec").split("'''")[1].strip())

# %% All that has a name in the body, as the interpreter computes it: for finding mistakes.
for name, values in softmax.interpret(x).items():
    print(name, values.round(3).tolist())

# %% What goes into a product: C++ that needs nothing of kgen.
print(softmax.source("openmp").splitlines()[0])
