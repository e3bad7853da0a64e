"""Rows of length 1: an operator of PyTorch, made by kgen from specs/unit_rows.toml."""
from .unit_rows_torch import unit_rows

__all__ = ["unit_rows"]
