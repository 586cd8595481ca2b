"""The function of a kernel that Python calls, as LLVM code generated from the kinds of its arguments and of its result.

It receives the tuple of arguments, checks their kinds, reads them in place, releases the GIL, calls the kernel and
makes a Python object of its result. If an argument is of another kind, it returns the first entry of the table without
a call. The parts of Python's and numpy's objects that it reads are public: type and value of a scalar (arrayscalars.h),
and PyArrayObject_fields (ndarraytypes.h). kernel_objects.py has the table.

A kind is the name of a scalar's dtype, "none", an Array, or a tuple of kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# The first entries of the table; after these, for each of DTYPES, its scalar type and the dtype.
MISMATCH, NONE, FAIL, TRUE, ARRAY, TUPLE, INT, FLOAT, BOOL = range(9)
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
_FIRST_DTYPE = 9
MISMATCH_RESULT = object()
_LLVM = {"bool": "i8", "float32": "float", "float64": "double"}
_HEAD = object.__basicsize__  # size of every object's head, which ends with its type


@dataclass(frozen=True)
class Array:
    """layout : C, F, or A for neither. writable : whether it may be written."""

    dtype: str
    ndim: int
    layout: str
    writable: bool


Result = str | tuple["Result", ...]
Kind = str | Array | tuple["Kind", ...]


def llvm_type(dtype: str) -> str:
    """LLVM's type of an item."""
    return _LLVM.get(dtype) or "i" + dtype.lstrip("uint")


def scalar_slot(dtype: str) -> int:
    """The table's entry for a scalar type; the next entry is its dtype."""
    return _FIRST_DTYPE + 2 * DTYPES.index(dtype)


HELPERS = Path(__file__).with_name("kernel_call.ll")
_C, _F, _WRITEABLE = 1, 2, 0x400  # numpy's array flags
_NUMBERS = {
    "TYPE": _HEAD - 8, "HEAD": _HEAD, "NDIM": _HEAD + 8, "DESCR": _HEAD + 40, "FLAGS": _HEAD + 48,
    # Fields of a dtype (PyArray_Descr): kind, type, byte order, flags, type number. An unpickled dtype is another
    # object with the same fields.
    "KINDS": _HEAD + 8, "UNFLAGGED": ~(0xFF << 24),
    "TUPLE": TUPLE, "ARRAY": ARRAY, "INT": INT, "BOOL": BOOL, "TRUE": TRUE, "FAIL": FAIL,
    "NPINT": scalar_slot("int64"), "NPUINT": scalar_slot("uint64"), "NPBOOL": scalar_slot("bool")}


def _array_flags(kind: Array) -> tuple[int, int]:
    """The numpy flags to compare, and their values. A one-dimensional contiguous array has both orders and counts as
    C."""
    order = {"C": _C, "F": _F, "A": 0}[kind.layout]
    return _WRITEABLE | _C | (_F if order != _C else 0), order | (_WRITEABLE if kind.writable else 0)


class _Code:
    """Lines of the function."""

    def __init__(self) -> None:
        self.lines, self.arguments = list[str](), list[str]()
        self._count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def value(self, text: str) -> str:
        """Define a new value."""
        self._count += 1
        self.line(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def at(self, base: str, offset: int, kind: str) -> str:
        """Load a value of an LLVM type from this address."""
        return self.value(f"load {kind}, ptr {self.value(f'getelementptr i8, ptr {base}, i64 {offset}')}")

    def need(self, condition: str) -> None:
        """Continue only if the condition holds; otherwise the arguments are of other kinds."""
        self._count += 1
        self.line(f"br i1 {condition}, label %l{self._count}, label %mismatch")
        self.lines.append(f"l{self._count}:")

    def unpack(self, item: str, kind: Kind) -> None:
        """Read an argument, and append the kernel's arguments for it."""
        if isinstance(kind, Array):
            self._array(item, kind)
        elif isinstance(kind, tuple):
            self.need(self.value(f"call i1 @is_tuple(ptr {item}, i64 {len(kind)})"))
            for i, inner in enumerate(kind):
                self.unpack(self.value(f"call ptr @PyTuple_GetItem(ptr {item}, i64 {i})"), inner)
        else:
            self._scalar(item, kind)

    def _array(self, item: str, kind: Array) -> None:
        slot, (mask, flags) = scalar_slot(kind.dtype) + 1, _array_flags(kind)
        self.need(self.value(
            f"call i1 @is_array(ptr {item}, i64 {slot}, i32 {kind.ndim}, i32 {mask}, i32 {flags})"))
        data, *lists = (self.at(item, _HEAD + offset, "ptr") for offset in (0, 16, 24))
        sizes, strides = ([self.at(place, 8 * i, "i64") for i in range(kind.ndim)] for place in lists)
        count = "1"
        for size in sizes:
            count = self.value(f"mul i64 {count}, {size}")
        width = 1 if kind.dtype == "bool" else int(kind.dtype.lstrip("uintfloa")) // 8
        self.arguments += ["ptr null", "ptr null", f"i64 {count}", f"i64 {width}", f"ptr {data}",
                           *(f"i64 {number}" for number in (*sizes, *strides))]

    def _scalar(self, item: str, kind: str) -> None:
        native = llvm_type(kind)
        if kind in ("int64", "uint64", "bool"):
            slot = self.value(f"alloca {native}")
            self.need(self.value(f"call i1 @as_{kind}(ptr {item}, ptr {slot})"))
            number = self.value(f"load {native}, ptr {slot}")
        else:
            other = FLOAT if kind == "float64" else scalar_slot(kind)
            self.need(self.value(f"call i1 @is_either(ptr {item}, i64 {scalar_slot(kind)}, i64 {other})"))
            number = self.at(item, _HEAD, native)
        self.arguments.append(f"{native} {number}")

    def packed(self, kind: Result, base: str, offset: int) -> str:
        """A new reference to a Python object made from the result at this address."""
        if kind == "none":
            return self.value(f"call ptr @new_entry(i64 {NONE})")
        if isinstance(kind, tuple):
            made = self.value(f"call ptr @PyTuple_New(i64 {len(kind)})")
            for i, inner in enumerate(kind):
                offset = _aligned(offset, inner)
                item = self.packed(inner, base, offset)
                self.value(f"call i32 @PyTuple_SetItem(ptr {made}, i64 {i}, ptr {item})")
                offset += _size(inner)
            return made
        native = llvm_type(kind)
        number = self.at(base, offset, native)
        if kind.startswith("float"):
            number = number if native == "double" else self.value(f"fpext float {number} to double")
            return self.value(f"call ptr @PyFloat_FromDouble(double {number})")
        if native != "i64":
            number = self.value(f"{'sext' if kind.startswith('int') else 'zext'} {native} {number} to i64")
        make = {"bool": "PyBool_FromLong"}.get(kind, f"PyLong_From{'Unsigned' * kind.startswith('u')}LongLong")
        return self.value(f"call ptr @{make}(i64 {number})")


def _size(kind: Result) -> int:
    """Bytes of a result in memory."""
    if isinstance(kind, tuple):
        size = 0
        for inner in kind:
            size = _aligned(size, inner) + _size(inner)
        return -(-size // (width := _alignment(kind))) * width
    return {"none": 8, "i8": 1, "float": 4, "double": 8}.get(native := kind if kind == "none" else llvm_type(kind)) or (
        int(native[1:]) // 8)


def _alignment(kind: Result) -> int:
    return max(map(_alignment, kind), default=1) if isinstance(kind, tuple) else _size(kind)


def _aligned(offset: int, kind: Result) -> int:
    return -(-offset // (width := _alignment(kind))) * width


def caller_code(symbol: str, kernel: str, arguments: tuple[Kind, ...], result: Result) -> tuple[str, int]:
    """The function `symbol` that calls the compiled function `kernel`, with its table as `symbol`.table; and the number
    of arguments that it passes."""
    code = _Code()
    place, info = (code.value(f"alloca [{_size(result)} x i8], align 16"), code.value("alloca ptr"))
    code.line(f"store ptr null, ptr {info}")
    code.unpack("%arguments", arguments)
    state = code.value("call ptr @PyEval_SaveThread()")
    passed = [f"ptr {place}", f"ptr {info}", *code.arguments]
    status = code.value(f'call i32 @"{kernel}"({", ".join(passed)})')
    code.line(f"call void @PyEval_RestoreThread(ptr {state})")
    code.line(f"br i1 {code.value(f'icmp eq i32 {status}, 0')}, label %done, label %failed")
    code.lines.append("done:")
    code.line(f"ret ptr {code.packed(result, place, 0)}")
    code.lines.append("failed:")
    why = code.value(f"load ptr, ptr {info}")
    code.line(f"ret ptr {code.value(f'call ptr @fail(ptr {why})')}")
    code.lines.append("mismatch:")
    code.line(f"ret ptr {code.value(f'call ptr @new_entry(i64 {MISMATCH})')}")
    helpers = HELPERS.read_text(encoding="utf-8").replace("@TABLE", f'@"{symbol}.table"')
    for word, number in _NUMBERS.items():
        helpers = helpers.replace(f" {word})", f" {number})").replace(f" {word}\n", f" {number}\n")
    types = ", ".join(argument.split()[0] for argument in passed)
    text = [helpers, f'declare i32 @"{kernel}"({types})',
            f'define ptr @"{symbol}"(ptr %self, ptr %arguments) {{', *code.lines, "}"]
    return "\n".join(text), len(passed)
