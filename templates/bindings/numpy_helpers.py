//@ _array
def _array(value, name):
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; its mask would be lost")
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if isinstance(value, np.generic):  # what arithmetic with arrays of no dimensions gives
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"{name} must be an array, not {type(value).__name__}")
    try:
        if value.__dlpack_device__()[0] == 1:
            return _from_dlpack(value)
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"{name} cannot be taken for an array of the CPU: {error}") from None
    raise TypeError(f"{name} must lie in the memory of the CPU")
//@ _address
def _address(array, _of=ctypes.addressof, _buffer=ctypes.c_char.from_buffer):
    try:
        return _of(_buffer(array))  # takes a quarter of the other's time
    except (TypeError, ValueError, BufferError):  # it is empty, of bf16, has strides or may not be written
        return array.__array_interface__["data"][0]
//@ _size: _whole
def _size(value, name):
    value = _whole(value, name, _int64)
    if value < 0:
        raise ValueError(f"{name} must not be negative")
    return value
//@ _whole
_int64 = np.dtype("int64")


def _whole(value, name, dtype):
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}") from None
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise ValueError(f"{name} is beyond {dtype}: {value}")
    return value
//@ _choose: _choice
def _choose(*given):
    """The function for choices that are no names, but dtypes or whole numbers; an exception where there is none."""
    key = [_choice(value, name, choices) for value, (name, choices) in zip(given, _CHOSEN_BY)]
    function = _FUNCTIONS.get(tuple(key) if len(key) > 1 else key[0])
    if function is None:
        raise TypeError("no function has " + ", ".join(f"{name}: {one}" for one, (name, _) in zip(key, _CHOSEN_BY)))
    return function
//@ _choice
_TYPE_NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "bool"}
_TYPE_NAMES.update({f"{word}{bits}": f"{word[0]}{bits}" for word in ("int", "uint") for bits in (8, 16, 32, 64)})


def _choice(value, name, choices):
    if isinstance(choices[0], np.dtype):
        if value not in choices:
            raise TypeError(f"{name} is {value}, not {' or '.join(map(str, choices))}")
        return value
    text = getattr(value, "__name__", str(value)).split(".")[-1]  # torch.float32, jax.numpy.float32, 128
    text = _TYPE_NAMES.get(text, text)
    if text not in choices and value is not None:
        raise ValueError(f"{name} must be {' or '.join(choices)}, not {value!r}")
    return value if value is None else text
//@ _floor_div
def _floor_div(a, b):
    return a // b if b else 0
//@ _floor_mod
def _floor_mod(a, b):
    return a % b if b else a
//@ _ceil_div
def _ceil_div(a, b):
    return -(-a // b) if b else 0
//@ _empty
def _empty(name, shape, dtype, new=np.empty):
    try:
        return new([max(extent, 0) for extent in shape], dtype)  # the C function says which size is negative
    except (ValueError, MemoryError) as error:
        kind = MemoryError if isinstance(error, MemoryError) else ValueError
        raise kind(f"{name} would have the shape {shape}: {error}") from None
//@ _flag
def _flag(value, name):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return bool(value)
//@ _steps
def _steps(array, rest=0, behind=None):
    """Its strides in elements, where the dimensions from `rest` up to the last `behind` count as one. None: there are
    no such strides."""
    strides, shape = list(array.strides), array.shape
    if any(stride % array.itemsize for stride in strides):
        return None
    if behind is not None:
        end = array.ndim - behind
        inner = [d for d in range(rest, end) if shape[d] != 1]
        if any(strides[a] != strides[b] * shape[b] for a, b in zip(inner, inner[1:])):
            return None
        strides[rest:end] = [strides[inner[-1]] if inner else 0]
    return [stride // array.itemsize for stride in strides]
//@ _outputs
def _outputs(out, names):
    if not isinstance(out, (tuple, list)) or len(out) != len(names):
        raise TypeError("out must be a tuple of " + ", ".join(names))
    return out
//@ _output: _wrong_type
def _output(array, name, shape, dtype, strided=False):
    if type(array) is not np.ndarray:
        array = _array(array, name)
    if array.dtype != dtype:
        raise _wrong_type(name, array, dtype)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, not {shape}")
    if not array.flags.writeable:
        raise ValueError(f"{name} may not be written")
    if not (array.flags.c_contiguous or strided):
        raise ValueError(f"{name} must be contiguous")
    return array
//@ _apart
def _apart(outputs, inputs, aliases):
    """Refuses outputs that share memory with other arrays than the input whose memory they may be."""
    for name, output in outputs.items():
        for other, array in {**inputs, **outputs}.items():
            if output is None or array is None or other in (name, aliases.get(name)):
                continue
            if np.shares_memory(output, array):
                raise ValueError(f"{name} and {other} overlap")
//@ _wrong_type
def _wrong_type(name, array, dtype):
    return TypeError(f"{name} is {array.dtype}, not {dtype}")
//@ _wrong_rank
def _wrong_rank(name, array, brackets):
    return ValueError(f"{name} has the shape {array.shape}, not that of {brackets}")
//@ _other_rest
def _other_rest(name, shape, rest, others):
    return ValueError(f"{name} has {shape} for `...`, not {rest} as {others}")
//@ _mismatch
def _mismatch(name, dimension, array, expression, value, others):
    what = expression if expression == str(value) else f"{expression}, which is {value}"
    by = f" by {others}" if others else ""
    return ValueError(f"dimension {dimension} of {name} is {array.shape[dimension]}, not {what}{by}")
//@ _wrong_argument
def _wrong_argument(error, names):
    number = str(error).removeprefix("argument ").partition(":")[0]
    return TypeError(f"{names[int(number) - 1]} must be a number")
