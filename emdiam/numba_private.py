"""All private parts of numba and llvmlite that this package uses: another release may change them.

Loaded only when a kernel is compiled: numba takes half a second and 50 MiB. tests/test_numba_private.py names the
changes.
"""

from __future__ import annotations

import sys
from functools import cache, cached_property
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import numba
import numba.extending
from llvmlite import binding
from llvmlite.binding import newpassmanagers
from llvmlite.binding.ffi import ObjectRef

# For intrinsics, code that they emit: loops (for_each(builder, count), for_range(builder, begin, end, step)), memory of
# the function (stack_slot(builder, type), filled_slot(builder, value)), a function of C or LLVM
# (library_function(module, type, name)), and the address of an item (item_pointer(context, builder, array type, array,
# [index], wraparound=False)).
from numba.core.cgutils import alloca_once as stack_slot  # noqa: F401
from numba.core.cgutils import alloca_once_value as filled_slot  # noqa: F401
from numba.core.cgutils import for_range as for_each  # noqa: F401
from numba.core.cgutils import for_range_slice as for_range  # noqa: F401
from numba.core.cgutils import get_item_pointer as item_pointer  # noqa: F401
from numba.core.cgutils import get_or_insert_function as library_function  # noqa: F401
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target

from .jit import CompiledKernel, NumbaFunction
from .kernel_code import Kind, Result, caller_code

_BLAS = "scipy.linalg.cython_blas"

# -- for kernels -----------------------------------------------------------------------------------
# Compiling takes a third less time without functions that are never called, for C and for Python, and with inlining by
# LLVM instead of numba, which copies and types a function's code at every call. No kernel divides by a possible zero,
# which Python's error model would check for.
_KERNEL: dict[str, Any] = {"nopython": True, "boundscheck": None, "error_model": "numpy", "no_cfunc_wrapper": True,
                           "no_cpython_wrapper": True}
# Passes of numba for features that kernels lack: contexts, closures, functions that numba inlines, literals that are
# unrolled, listings of types. Kernels are the same without.
_UNUSED = frozenset("""WithLifting InlineClosureLikes RewriteDynamicRaises MakeFunctionToJitFunction InlineInlinables
    FindLiterallyCalls LiteralUnroll LiteralPropagationSubPipelinePass InlineOverloads AnnotateTypes""".split())
# Functions and methods of numpy that make an array.
_MAKERS = frozenset(("arange", "argsort", "array", "concatenate", "copy", "empty", "empty_like", "full", "ones", "sort",
                     "zeros", "zeros_like"))

RUNTIME = Path(__file__).with_name("kernel_runtime.ll")  # replaces numba's runtime and library


class _Library(AOTCodeLibrary):  # type: ignore[misc]
    """Code of one function as numba generates it. numba optimizes each function and makes machine code of it, also if
    it is only inlined, which takes a fifth of all CPU seconds; here compile_object does so, once for a kernel."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()  # links the code of functions that it calls
        return 0


class _Codegen(AOTCPUCodegen):  # type: ignore[misc]
    """Makes such libraries."""

    _library_class = _Library

    def set_env(self, _name: str, _environment: Any) -> None:
        """Nothing: kernels use no Python objects."""


class _Target(CPUTarget):  # type: ignore[misc]
    """numba's own target but for the libraries. Functions of users and of numba itself keep theirs."""

    @cached_property
    def _toplevel_target_context(self) -> Any:
        """The size of a type is looked up once, since each time LLVM parses a module with a variable of that type."""
        numbas = cpu_target.target_context
        return numbas.subtarget(_internal_codegen=_Codegen("emdiam"), get_abi_sizeof=cache(numbas.get_abi_sizeof))

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context


class _Compiler(CompilerBase):  # type: ignore[misc]
    """numba's own passes that kernels need. After each of them numba finds out again which variables are live, which
    only the last ones use, and those do so themselves."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [one for one in passes.passes if one[0].__name__ not in _UNUSED]
        passes._ENFORCING = False
        return [passes]


class _Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """A function for this target."""

    targetdescr = _Target("cpu")


def dispatcher(compiled: NumbaFunction) -> Any:
    """Numba's function for a function of jit.py, for calls from other compiled functions; always the same object."""
    if compiled.native is None:
        if compiled.kind == "intrinsic":
            compiled.native = numba.extending.intrinsic(compiled.py_func)
        else:
            inlined = compiled.kind == "inlined"
            # References to arguments are not counted in functions that make no array.
            options = {**_KERNEL, "forceinline": inlined, "_nrt": not inlined and _allocates(compiled)}
            compiled.native = _Dispatcher(_for_numba(compiled.py_func), None, options, _Compiler)
    return compiled.native


def _allocates(compiled: NumbaFunction) -> bool:
    """Whether a kernel makes arrays, or calls one that does and may return them. numba refuses to compile a function
    that makes arrays in a way that is not listed here."""
    names, function = _names(compiled.py_func.__code__), compiled.py_func
    values = [function.__globals__.get(name) for name in names]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    return not _MAKERS.isdisjoint(names) or any(isinstance(one, CompiledKernel) and _allocates(one) for one in values)


def _for_numba(function: Any) -> Any:
    """The function with numba's functions in place of those of jit.py in its globals and its closure."""
    def numbas(value: Any) -> Any:
        return dispatcher(value) if isinstance(value, NumbaFunction) else value

    names = {name: numbas(value) for name, value in function.__globals__.items() if name in _names(function.__code__)}
    cells = tuple(CellType(numbas(cell.cell_contents)) for cell in function.__closure__ or ())
    return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__,
                        function.__defaults__, cells)


def _names(code: Any) -> set[str]:
    """Names that a function looks up, including those in nested functions."""
    return {*code.co_names, *(name for inner in code.co_consts if hasattr(inner, "co_names") for name in _names(inner))}


def compile_object(compiled: NumbaFunction, symbol: str, arguments: tuple[Any, ...], kinds: tuple[Kind, ...],
                   machine: binding.TargetMachine) -> bytes:
    """The object of a kernel for arguments of these kinds, with the function `symbol` of kernel_code.caller_code."""
    function = dispatcher(compiled)
    signature = tuple(map(numba.typeof, arguments))
    function.compile(signature)
    made = function.overloads[signature]
    inner = made.fndesc.llvm_func_name
    text, count = caller_code(symbol, inner, kinds, _kind_of(made.signature.return_type))
    module = binding.parse_assembly(function.inspect_llvm(signature))
    if len(list(module.get_function(inner).arguments)) != count:
        raise RuntimeError(f"numba calls {inner} in another way than numba_private expects")
    for other in (text, RUNTIME.read_text(encoding="utf-8")):
        module.link_in(binding.parse_assembly(other))
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in (symbol, f"{symbol}.table"):
            value.linkage = "internal"
    _optimize(module, machine)
    called = [function.name for function in module.functions if function.is_declaration]
    names = " ".join(name for name in called if not name.startswith("llvm."))
    return f"{names}\n".encode() + bytes(machine.emit_object(module))


def _optimize(module: Any, machine: binding.TargetMachine) -> None:
    """Optimize a kernel with everything that it calls, with the passes that numba uses: pairs of calls that count and
    uncount a reference are found before other functions are inlined."""
    for level in (0, 3):
        tuning = binding.create_pipeline_tuning_options(level)
        tuning.loop_vectorization, tuning.slp_vectorization = level > 0, False
        builder = binding.create_pass_builder(machine, tuning)
        passes = builder.getModulePassManager()
        if level == 0:
            passes.add_global_dead_code_eliminate_pass()
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.add_refprune_pass()
        passes.run(module, builder)
    module.verify()


def _kind_of(result: Any) -> Result:
    """The kind of a kernel's result. Raises TypeError if it cannot be made into an object."""
    result = numba.types.unliteral(result)
    if isinstance(result, numba.types.BaseTuple):
        return tuple(map(_kind_of, result))
    if isinstance(result, numba.types.Integer | numba.types.Float | numba.types.Boolean | numba.types.NoneType):
        return str(result)
    raise TypeError(f"a kernel gives {result}: it can give None, numbers and tuples of them")


# -- time and memory -------------------------------------------------------------------------------
def import_without_blas() -> None:
    """Import numba's array functions without BLAS: to see whether numpy.correlate could use it, numba imports
    scipy.linalg with its first kernel, which takes 0.2 s and 16 MiB. Blocking that import for a moment saves both."""
    if _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_BLAS]


def free_pass_managers() -> None:
    """Make llvmlite free its pass managers. numba makes one for every function that it compiles, and llvmlite (0.45 to
    0.50) never frees any: its classes inherit an empty method before the one that frees. That kept 63 MiB of the 130
    that the kernels of pivots took."""
    for manager in (newpassmanagers.FunctionPassManager, newpassmanagers.ModulePassManager):
        if manager._dispose is ObjectRef._dispose:
            manager._dispose = newpassmanagers.NewPassManager._dispose


import_without_blas()
free_pass_managers()
