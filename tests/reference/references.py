"""An independent reference for every shipped kernel: plain numpy in double, or exact whole numbers.

`REFERENCES[kernel](inputs, sizes, params)` returns a dict of outputs. Inputs hold the arrays (floats as double,
with the values the kernel really sees), the tables and the scalars; an optional operand left out is None. An output is an array
(compared exactly), a `Num` (compared within the agreement formula) or a `Result`, which says more.
Each family of specs has a file of its own, references_*.py.
"""

import references_dense  # noqa: F401
import references_folds  # noqa: F401
import references_gradients  # noqa: F401
import references_maps  # noqa: F401
from registry import REFERENCES  # noqa: F401
