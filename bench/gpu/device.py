"""device.cu for Python: buffers in device memory between guard bytes, replayed graphs."""

import ctypes

import numpy as np

GUARD = 256
GUARD_BYTE = 0xA5
MULTIPROCESSORS, L2_BYTES = 16, 38  # of cudaDeviceAttr


class Device:
    def __init__(self, library):
        self.c = ctypes.CDLL(str(library))
        pointer, int64 = ctypes.c_void_p, ctypes.c_int64
        self.c.bench_stream.restype = pointer
        self.c.bench_alloc.restype = pointer
        self.c.bench_alloc.argtypes = [int64]
        self.c.bench_free.argtypes = [pointer]
        self.c.bench_free_bytes.restype = int64
        self.c.bench_write.argtypes = self.c.bench_read.argtypes = self.c.bench_copy.argtypes = [
            pointer,
            pointer,
            int64,
        ]
        self.c.bench_copy_async.argtypes = self.c.bench_copy.argtypes
        self.c.bench_fill.argtypes = [pointer, ctypes.c_int, int64]
        self.c.bench_error.restype = ctypes.c_char_p
        self.can_time = hasattr(self.c, "bench_graph_time")
        if self.can_time:
            self.c.bench_capture_end.restype = pointer
            self.c.bench_graph_time.restype = ctypes.c_float
            self.c.bench_graph_time.argtypes = self.c.bench_graph_free.argtypes = [pointer]
        self.count = self.c.bench_device_count()
        self.stream = self.c.bench_stream() if self.count else None

    def finish(self):
        """Waits; an error of the device is final, so it is an exception."""
        error = self.c.bench_finish()
        if error:
            raise RuntimeError(f"the device reports: {self.c.bench_error(error).decode()}")

    def copy_rate(self, size=1 << 30, times=20):
        """Bytes that a copy on the device reads and writes in a nanosecond: the median of `times`."""
        source, target = (self.c.bench_alloc(size) for _ in range(2))
        self.c.bench_fill(source, GUARD_BYTE, size)
        taken = []
        for _ in range(times):
            self.c.bench_capture_begin()
            self.c.bench_copy_async(target, source, size)
            graph = self.c.bench_capture_end()
            taken.append(self.c.bench_graph_time(graph))
            self.c.bench_graph_free(graph)
        self.c.bench_free(source)
        self.c.bench_free(target)
        return 2 * size / sorted(taken)[times // 2] / 1e6

    def l2_bytes(self):
        return self.c.bench_attribute(L2_BYTES)


class Buffer:
    """An array in device memory with guard bytes on both sides; `shift` makes its address unaligned. Without `fill` its
    memory and its guards are left as they are."""

    def __init__(self, device, array, shift=0, fill=True):
        self.device, self.array = device, array.copy(order="C")
        self.bytes, self.shift = self.array.nbytes, GUARD + shift
        self.total = self.bytes + self.shift + GUARD
        self.base = device.c.bench_alloc(self.total)
        if not self.base:
            raise MemoryError(f"{self.total} bytes of device memory")
        if fill:
            device.c.bench_fill(self.base, GUARD_BYTE, self.total)
            device.c.bench_write(self.address, self.array.ctypes.data, self.bytes)

    @property
    def address(self):
        return self.base + self.shift

    def read(self):
        """The array as it is now, and whether the guard bytes still stand."""
        image = np.empty(self.total, np.uint8)
        self.device.c.bench_read(image.ctypes.data, self.base, self.total)
        inside = image[self.shift : self.shift + self.bytes]
        guards = np.concatenate([image[: self.shift], image[self.shift + self.bytes :]])
        return inside.view(self.array.dtype).reshape(self.array.shape), bool((guards == GUARD_BYTE).all())

    def twin(self):
        """Another buffer with the same contents."""
        other = object.__new__(Buffer)
        other.__dict__.update(self.__dict__)
        other.base = self.device.c.bench_alloc(self.total)
        if not other.base:
            raise MemoryError(f"{self.total} bytes of device memory")
        self.device.c.bench_copy(other.base, self.base, self.total)
        return other

    def free(self):
        if self.base:
            self.device.c.bench_free(self.base)
        self.base = None
