"""What can go wrong before a kernel is called."""


class SpecError(ValueError):
    """The spec is wrong, or cannot be read: the text is kgen's message, with line and column."""


class CompileError(RuntimeError):
    """The compiler cannot be run, or refuses what kgen has written: the text is what it says."""


class CacheError(OSError):
    """The folder for compiled kernels cannot be read or written."""
