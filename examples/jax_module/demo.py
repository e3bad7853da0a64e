"""The function under jit, vmap and grad: a direction is learned that points where all examples do."""
import jax
import jax.numpy as jnp
import numpy as np
from unit_rows import unit_rows

examples = jnp.array([[1.0, 2.0, 2.0], [2.0, 4.0, 3.0], [1.0, 1.0, 2.0]])


def loss(direction):
    return -(unit_rows(examples) @ unit_rows(direction)).mean()


@jax.jit
def step(direction):
    value, slope = jax.value_and_grad(loss)(direction)
    return direction - slope, value


direction = jnp.array([1.0, 0.0, 0.0])
for _ in range(50):
    direction, value = step(direction)
print("learned", np.asarray(unit_rows(direction)).round(3), "loss", round(float(value), 3))
print("by vmap", np.asarray(jax.vmap(unit_rows)(examples)[0]).round(3))
