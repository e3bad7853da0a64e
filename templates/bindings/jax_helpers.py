//@ _array
def _array(value, name, rank, or_more=False, optional=False, is_table=False):
    """The value as an array of JAX with this many dimensions, or more of them in front."""
    if value is None and optional:
        return None
    if not isinstance(value, (jax.Array, np.ndarray, np.generic)):
        raise TypeError(f"{_KERNEL}: {name} must be an array, not {type(value).__name__}")
    if len(value.shape) < rank or (len(value.shape) > rank and not or_more):
        least = f"{rank} dimensions" + (" or more" if or_more else "")
        raise ValueError(f"{_KERNEL}: {name} must have {least}, not the shape {value.shape}")
    array = jnp.asarray(value)
    if array.dtype != value.dtype and not is_table:
        raise TypeError(f"{_KERNEL}: {name} is {value.dtype}, which JAX keeps only with jax_enable_x64")
    if array.dtype != value.dtype and (value.astype(array.dtype) != value).any():
        raise ValueError(f"{_KERNEL}: {name} has entries that JAX keeps only with jax_enable_x64")
    return array
//@ _type
_TYPES = {"bf16": jnp.dtype("bfloat16"), "bool": np.dtype("bool")}
_TYPES.update({f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)})
_TYPES.update({f"{word[0]}{bits}": np.dtype(f"{word}{bits}") for word in ("int", "uint") for bits in (8, 16, 32, 64)})


def _type(dtype):
    """The name that specs have for a dtype."""
    return next((name for name, one in _TYPES.items() if dtype == one), str(dtype))
//@ _choose: _type
def _choose(**given):
    """The first function that is made for all that is given: its number, and its choices."""
    rows = list(enumerate(_FUNCTIONS))
    for choice, value in given.items():
        if value is None:
            continue
        column = _CHOICES.index(choice)
        is_array = isinstance(value, tuple)
        name, value = (value[0], _type(value[1].dtype)) if is_array else (choice, str(value))
        allowed = dict.fromkeys(row[column] for _, row in rows)
        rows = [row for row in rows if row[1][column] == value]
        if not rows:
            error = TypeError if is_array else ValueError
            raise error(f"{_KERNEL}: {name} must be {' or '.join(allowed)}, not {value}")
    return rows[0]
//@ _type_choice: _type
def _type_choice(value):
    """A type that is chosen by name, or as a dtype."""
    if value is None or value in list(_TYPES):
        return value
    try:
        return _type(np.dtype(value))
    except (TypeError, ValueError):
        return str(value)  # which is refused with what it can be
//@ _scalar: _fixed _type
def _scalar(value, name, kind):
    _fixed(value, name, kind)
    try:
        if not hasattr(value, "__float__") or (kind == "bool") != isinstance(value, (bool, np.bool_)):
            raise TypeError(f"not {value!r}")
        if kind[0] in "iu":
            value = operator.index(value)
        return _TYPES["f32" if kind in ("f16", "bf16") else kind].type(value).item()
    except (TypeError, ValueError, OverflowError) as error:
        kind_of_error = TypeError if isinstance(error, TypeError) else ValueError
        raise kind_of_error(f"{_KERNEL}: {name} must be {kind}: {error}") from None
//@ _size: _fixed
def _size(value, name):
    _fixed(value, name, "i64")
    try:
        value = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{_KERNEL}: {name} must be a whole number: {error}") from None
    if value < 0:
        raise ValueError(f"{_KERNEL}: {name} must not be negative, but is {value}")
    if value >= 2**63:
        raise ValueError(f"{_KERNEL}: {name} is beyond int64: {value}")
    return value
//@ _fixed
def _fixed(value, name, kind):
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{_KERNEL}: {name} is traced, but is part of the compiled call: give a number, or, to compute it,"
            f" declare it as an input `{kind}[]`"
        )
//@ _match: _type
def _match(array, name, wanted, shape, written, by=""):
    """Refuses another type or other extents than the arrays that `by` names have given."""
    if array is None:
        return
    wanted, found = wanted.split(), _type(array.dtype)
    if found not in wanted or array.shape != shape:
        error = ValueError if found in wanted else TypeError
        is_here = f"{wanted[0]}{list(shape)} here" + (f", by {by}" if by else "")
        raise error(f"{_KERNEL}: {name} is {found}{list(array.shape)}, but {written} is {is_here}")
//@ _floor_div
def _floor_div(a, b):
    return a // b if b else 0
//@ _floor_mod
def _floor_mod(a, b):
    return a % b if b else a
//@ _ceil_div
def _ceil_div(a, b):
    return -(-a // b) if b else 0
//@ _call: _Call _alike _type _apply
def _call(arrays, results, attributes, function=0, aliases=(), partial=()):
    for name, kind, shape, _ in results:
        # No memory holds 2**48 bytes. XLA ends the process where it cannot count them, also what vmap makes of them.
        if min(shape, default=0) < 0 or math.prod(shape) * _TYPES[kind].itemsize >= 2**48:
            sizes = "".join(f", {size} = {value}" for size, value in attributes.items() if value in shape)
            raise ValueError(f"{_KERNEL}: {name} would have the shape {shape}{sizes}")
    if not any(jnp.issubdtype(_TYPES[kind], jnp.floating) for _, kind, _, _ in results):
        arrays = jax.lax.stop_gradient(arrays)
    # JAX takes calls for the same whose numbers are equal: 0.0 and -0.0 differ by their digits, and NaN is itself.
    numbers = tuple((name, value.hex() if isinstance(value, float) else value) for name, value in attributes.items())
    outputs = _apply(_Call(results, function, numbers, aliases, partial), *_alike(arrays))
    return outputs if len(outputs) > 1 else outputs[0]
//@ _alike
def _alike(arrays):
    """Inside shard_map all arrays of a call must vary along the same axes of the mesh."""
    axes = [() if array is None else jax.typeof(array).manual_axis_type.varying for array in arrays]
    missing = [tuple(frozenset().union(*axes).difference(own)) for own in axes]
    return [jax.lax.pcast(array, more, to="varying") if more and array is not None else array
            for array, more in zip(arrays, missing)]  # fmt: skip
//@ _Call: _number _kind _type _alike
class _Call(typing.NamedTuple):
    """A call but for its arrays: what is known when JAX traces it."""

    results: tuple  # name, type and shape of each output, and whether it is wanted
    function: int  # which of the C functions
    attributes: tuple  # names and values of sizes, scalars (floats in hexadecimal) and what is there
    aliases: tuple  # inputs, and the outputs whose memory they are
    partial: tuple  # outputs that may be left unwritten in places: they begin with zeros

    def run(self, *arrays):
        kinds = [_kind(shape if wanted else (), _TYPES[kind], arrays) for _, kind, shape, wanted in self.results]
        given = [jnp.zeros((), bool) if array is None else array for array in arrays]
        aliases = dict(self.aliases)
        for output in self.partial:
            aliases[len(given)] = output
            given = _alike([*given, jnp.zeros(kinds[output].shape, kinds[output].dtype)])
        call = jax.ffi.ffi_call(_TARGET, kinds, vmap_method=_VMAP, input_output_aliases=aliases)
        numbers = {name: _number(value) for name, value in self.attributes}
        outputs = call(*given, **numbers, kgen_function=np.int64(self.function))
        return tuple(output if result[3] else None for output, result in zip(outputs, self.results))

    def attribute(self, name):
        value = dict(self.attributes)[name]
        return float.fromhex(value) if isinstance(value, str) else value
//@ _apply: _Call
def _with_rules(symbolic_zeros):
    apply = jax.custom_vjp(_Call.run, nondiff_argnums=(0,))
    apply.defvjp(_forward, _backward, symbolic_zeros=symbolic_zeros)
    return apply


_outside_shard_map, _inside_shard_map = _with_rules(True), _with_rules(False)  # which takes no symbolic zeros


def _apply(call, *arrays):
    is_inside = jax.sharding.get_abstract_mesh().manual_axes
    return (_inside_shard_map if is_inside else _outside_shard_map)(call, *arrays)
//@ _number
def _number(value):
    """An attribute as the handler takes it: 64 bits, or a bool."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, str):
        return np.float64(float.fromhex(value)).view(np.int64)
    return np.uint64(value % 2**64).astype(np.int64)
//@ _kind
def _kind(shape, dtype, arrays):
    """The type of an output. Inside shard_map it varies along the axes of the mesh that the inputs vary along."""
    varying = next((jax.typeof(array).manual_axis_type for array in arrays if array is not None), None)
    if varying is None or not varying.varying:
        return jax.ShapeDtypeStruct(shape, dtype)
    whole = jax.sharding.PartitionSpec(*[None] * len(shape))
    sharding = jax.sharding.NamedSharding(jax.sharding.get_abstract_mesh(), whole)
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding, manual_axis_type=varying)
//@ _differentiated
_YES = ((),)  # known when JAX traces, for there is no array in it; None: no


def _differentiated(primals):
    """The arrays of a call, and which of them may be differentiated."""
    if not any(isinstance(primal, jax.custom_derivatives.CustomVJPPrimal) for primal in primals):
        return primals, [primal if primal is None else _YES for primal in primals]
    is_variable = [_YES if primal is not None and primal.perturbed else None for primal in primals]
    return [primal if primal is None else primal.value for primal in primals], is_variable
//@ _gradient
def _gradient(gradient, or_none=False):
    """The gradient of an output; where it is 0, None may stand for it."""
    if isinstance(gradient, jax.custom_derivatives.SymbolicZero):
        return None if or_none else jnp.zeros(gradient.shape, gradient.dtype)
    return gradient
//@ _cast: _type
def _cast(gradient, kind):
    return gradient if gradient is None else gradient.astype(_TYPES[kind])
//@ _sibling
def _sibling(module):
    return importlib.import_module(f"{__package__}.{module}" if __package__ else module)
