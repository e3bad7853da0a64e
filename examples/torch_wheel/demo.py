"""What a user of the wheel does: the operator in a compiled function, and its gradient."""
import torch
from unit_rows import unit_rows

x = torch.tensor([[3.0, 4.0], [5.0, 12.0]], requires_grad=True)
y = torch.compile(lambda x: unit_rows(x), fullgraph=True, backend="eager")(x)
y[:, 0].sum().backward()
print(y.detach().numpy().round(4))
print(x.grad.numpy().round(4))
