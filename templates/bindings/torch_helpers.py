//@ _check_devices
def _check_devices(**arrays):
    given = {name: array for name, array in arrays.items() if array is not None}
    first = next(iter(given), None)
    for name, array in given.items():
        if array.device != given[first].device:
            raise RuntimeError(f"{_operator.name()}: {first} and {name} are not on the same device")
//@ _check_shape
def _check_shape(name, array, *shape):
    """The sizes of an array are those that others tell; of symbolic ones torch then knows it."""
    if array is None:
        return
    message = lambda: f"{_operator.name()}: {name} has the shape {tuple(array.shape)}, not {shape}"  # noqa: E731
    torch._check(len(array.shape) == len(shape), message)
    for size, expected in zip(array.shape, shape):
        torch._check(size == expected, message)
//@ _count_writes
_rules = torch.library.Library(_operator.namespace, "FRAGMENT")


def _count_writes(name, *written):
    """What the operator writes into gets another version: autograd may have kept the one before, and must notice."""
    operator = getattr(getattr(torch.ops, _operator.namespace), name).default

    def counted(keys, *arguments, **keywords):
        for place in written:
            array = arguments[place] if isinstance(place, int) else keywords[place]
            if array is not None and not array.is_inference():
                torch.autograd.graph.increment_version(array)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return operator.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, *arguments, **keywords)

    _rules.impl(name, counted, "ADInplaceOrView", with_keyset=True)
//@ _refuse_tangents
_forward_ad = torch.autograd.forward_ad


def _refuse_tangents(*arrays):
    """In forward mode torch would take the tangents of the outputs for 0."""
    if any(torch.is_tensor(a) and _forward_ad.unpack_dual(a).tangent is not None for a in arrays):
        raise NotImplementedError(f"{_operator.name()} has no forward derivative: take its gradient, by .backward()")
//@ _no_slices
def _no_slices(batched, arguments, keywords):
    """What vmap over nothing gives: the shapes are those of a slice."""
    meta = [a.to("meta") if torch.is_tensor(a) else a for a in arguments]
    meta = [a.new_empty(a.shape[1:]) if i in batched else a for i, a in enumerate(meta)]
    results = _operator(*meta, **keywords)
    device = arguments[batched[0]].device
    empty = lambda r: r if r is None else r.new_empty((0, *r.shape), device=device)  # noqa: E731
    return tuple(map(empty, results)) if isinstance(results, tuple) else empty(results)
