"""Rows of length 1: a function for arrays of JAX, made by kgen from specs/unit_rows.toml."""
from .unit_rows_jax import unit_rows

__all__ = ["unit_rows"]
