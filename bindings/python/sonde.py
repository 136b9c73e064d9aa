# SPDX-License-Identifier: MIT
"""Reading perf.data files with libsonde: records as in a file, samples in time order, and names of addresses.

    with sonde.File("perf.data") as file:
        for record in file:
            print(record.offset, record.type_name, record.fields)

    with sonde.Session("perf.data") as session:
        for sample in session:
            print(sample.time, sample.comm, sample.location.symbol)

    with sonde.Symbols() as symbols:
        for place in symbols.find(symbols.add_object("/bin/true"), [0x2000, 0x2010]):
            print(place.symbol, place.functions)

Numbers are in the units of doc/format.md (times in ns, sizes in bytes). What a File or Session gave may be kept
after the next step of the loop; bytes and fields of a Record that were not yet asked for need the File to be open.
A File or Session is used by one thread at a time.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import enum
import os
import re
import struct
import subprocess
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Type, Union

__all__ = ["Attr", "Container", "Diagnostic", "DiagnosticKind", "Event", "Feature", "Field", "Fields", "File",
           "FileInfo", "Frame", "Function", "LibraryError", "Location", "Place", "Record", "Sample", "Session",
           "SondeError", "Status", "Symbols", "Value", "version"]

NAMES = ("libsonde.so.0", "libsonde.so")  # tried when SONDE_LIBRARY names none
VERSION = "0.1."  # structs below are those of this version

# A value of a field, as in doc/json.md but with bytes as bytes.
Value = Union[int, float, str, bytes, List[Any], Dict[str, Any]]
Fields = Dict[str, Value]


class LibraryError(OSError):
    """The shared library cannot be loaded, or is of a version that this module does not know."""


class Status(enum.IntEnum):
    """enum sonde_status: why a call failed."""

    OK = 0
    ENOMEM = -1
    EIO = -2
    EFORMAT = -3
    EUNSUPPORTED = -4
    ELIMIT = -5
    EARG = -6
    EINTERRUPTED = -7
    EPERM = -8
    ENOENT = -9
    EOUTPUT = -10


class SondeError(Exception):
    """A call failed: the library's words, its status, and the place in the file (bytes; None: there is none).

    What led to it is its __cause__, a SondeError too."""

    def __init__(self, status: int, text: str, offset: Optional[int] = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.offset = offset


class DiagnosticKind(enum.IntEnum):
    """enum sonde_diag_kind: what is said of input that is damaged or unknown. Reading goes on behind it."""

    TRUNCATED = 0
    DAMAGED = 1
    UNKNOWN = 2
    LOST = 3
    NOTE = 4
    NOT_SHOWN = 5


@dataclass(frozen=True)
class Diagnostic:
    """A remark on the input; offset in bytes, None where there is none."""

    kind: DiagnosticKind
    offset: Optional[int]
    detail: str


class Container(enum.IntEnum):
    """enum sonde_container."""

    FILE = 1
    PIPE = 2
    DIRECTORY = 3


# ---- the library's structs, as in include/sonde/*.h; tests/python compares both ----

_u16, _u32, _u64, _int, _bool = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int, ctypes.c_bool
_NO_OFFSET = (1 << 64) - 1


class _Error(ctypes.Structure):
    pass


_Error._fields_ = [("status", _int), ("offset", _u64), ("text", ctypes.c_char_p), ("cause", ctypes.POINTER(_Error))]


class _Diag(ctypes.Structure):
    _fields_ = [("kind", _int), ("offset", _u64), ("detail", ctypes.c_char_p)]


_DiagFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Diag))


class _FileOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("on_diag", _DiagFn), ("diag_arg", ctypes.c_void_p), ("gaps", _bool),
                ("temp_dir", ctypes.c_char_p)]


class _FileInfo(ctypes.Structure):
    _fields_ = [("container", _int), ("version", _int), ("big_endian", _bool), ("swapped", _bool),
                ("interrupted", _bool), ("truncated", _bool), ("header_size", _u64), ("attr_size", _u64),
                ("data_offset", _u64), ("data_size", _u64), ("feature_bits", _u64 * 4), ("streams", ctypes.c_size_t)]


class _RawRecord(ctypes.Structure):
    _fields_ = [("type", _u32), ("misc", _u16), ("size", ctypes.c_size_t), ("bytes", ctypes.c_void_p),
                ("payload", ctypes.c_void_p), ("payload_size", _u64), ("file", ctypes.c_char_p), ("stream", _u32),
                ("inflated", _bool), ("offset", _u64), ("inside", _u64), ("position", _u64), ("gap", ctypes.c_char_p)]


class _Field(ctypes.Structure):
    _fields_ = [("what", _int), ("kind", _int), ("show", _int), ("array", _bool), ("empty", _bool),
                ("width", ctypes.c_uint), ("name", ctypes.c_char_p), ("note", ctypes.c_char_p),
                ("unit", ctypes.c_char_p), ("number", _u64), ("real", ctypes.c_double),
                ("meaning", ctypes.c_char_p), ("count", _u64), ("text", ctypes.c_void_p),
                ("text_size", ctypes.c_size_t), ("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _FieldPart(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("mask", _u64), ("value", _u64)]


class _Attr(ctypes.Structure):
    _fields_ = [("type", _u32), ("size", _u32), ("config", _u64), ("sample_period", _u64), ("sample_type", _u64),
                ("read_format", _u64), ("flags", _u64), ("wakeup_events", _u32), ("bp_type", _u32),
                ("config1", _u64), ("config2", _u64), ("branch_sample_type", _u64), ("sample_regs_user", _u64),
                ("sample_stack_user", _u32), ("clockid", ctypes.c_int32), ("sample_regs_intr", _u64),
                ("aux_watermark", _u32), ("sample_max_stack", _u16), ("reserved", _u16), ("aux_sample_size", _u32),
                ("aux_action", _u32), ("sig_data", _u64), ("config3", _u64), ("config4", _u64)]


class _Sample(ctypes.Structure):
    _fields_ = [("present", _u64), ("ip", _u64), ("pid", _u32), ("tid", _u32), ("time", _u64), ("addr", _u64),
                ("id", _u64), ("stream_id", _u64), ("cpu", _u32), ("period", _u64), ("callchain_len", _u64),
                ("callchain", ctypes.POINTER(_u64)), ("raw_len", _u32), ("raw", ctypes.c_void_p),
                ("branch_len", _u64), ("branches", ctypes.POINTER(_u64)), ("user_regs_abi", _u64),
                ("user_regs", ctypes.POINTER(_u64)), ("user_stack_len", _u64), ("user_stack", ctypes.c_void_p),
                ("weight", _u64), ("data_src", _u64), ("transaction", _u64), ("intr_regs_abi", _u64),
                ("intr_regs", ctypes.POINTER(_u64)), ("phys_addr", _u64), ("cgroup", _u64),
                ("data_page_size", _u64), ("code_page_size", _u64), ("read_value", _u64),
                ("read_enabled", _u64), ("read_running", _u64), ("read_len", _u64), ("read_values", ctypes.c_void_p),
                ("branch_hw_index", _u64), ("branch_counters", ctypes.c_void_p), ("aux_len", _u64), ("aux", ctypes.c_void_p)]


class _Thread(ctypes.Structure):
    _fields_ = [("pid", _u32), ("tid", _u32), ("comm", ctypes.c_char_p)]


class _Event(ctypes.Structure):
    _fields_ = [("sample", ctypes.POINTER(_Sample)), ("thread", _Thread), ("event", _u32), ("cpumode", _u32),
                ("offset", _u64), ("inside", ctypes.c_void_p), ("type", _u32)]


class _ThreadLife(ctypes.Structure):
    _fields_ = [("pid", _u32), ("tid", _u32), ("start", _u64), ("comm", ctypes.c_char_p)]


class _Frame(ctypes.Structure):
    pass


_FrameP = ctypes.POINTER(_Frame)
_Frame._fields_ = [("caller", _FrameP), ("dso", ctypes.c_char_p), ("symbol", ctypes.c_char_p), ("symbol_offset", _u64),
                   ("ip", _u64), ("address", _u64), ("cpumode", _u32), ("inline_depth", _u32)]


class _SessionOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("jobs", ctypes.c_uint), ("on_diag", _DiagFn),
                ("diag_arg", ctypes.c_void_p), ("strict", _bool), ("symfs", ctypes.c_char_p),
                ("kallsyms", ctypes.c_char_p), ("no_demangle", _bool), ("on_progress", ctypes.c_void_p),
                ("progress_arg", ctypes.c_void_p), ("check_owner", _bool), ("counts_only", _bool),
                ("cache", ctypes.c_char_p), ("home", ctypes.c_char_p), ("temp_dir", ctypes.c_char_p),
                ("vmlinux", ctypes.c_char_p), ("demangle_kernel", _bool),
                ("build_ids", ctypes.c_char_p), ("stitch_call_stacks", _bool),
                ("itrace", ctypes.c_char_p), ("guest_kallsyms", ctypes.c_char_p),
                ("guest_vmlinux", ctypes.c_char_p), ("trace_calls", _bool), ("debuginfod", _bool),
                ("on_download", ctypes.c_void_p), ("download_arg", ctypes.c_void_p),
                ("more_symfs", ctypes.POINTER(ctypes.c_char_p))]


class _Source(ctypes.Structure):
    _fields_ = [("function", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", _u32)]


class _Location(ctypes.Structure):
    _fields_ = [("address", _u64), ("object", ctypes.c_char_p), ("object_address", _u64), ("symbol", ctypes.c_char_p),
                ("symbol_offset", _u64), ("functions", ctypes.POINTER(_Source)), ("nfunctions", ctypes.c_size_t)]


class _SymbolsOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("jobs", ctypes.c_uint), ("no_demangle", _bool), ("cache", ctypes.c_char_p),
                ("home", ctypes.c_char_p)]


_VALUE, _LIST, _LIST_END, _STRUCT, _STRUCT_END, _REST = range(1, 7)
_UNSIGNED, _SIGNED, _REAL, _PARTS, _TEXT, _BYTES = range(1, 7)
_SHOW_FLAGS = 3

_P = ctypes.c_void_p
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "sonde_version": (ctypes.c_char_p, []),
    "sonde_status_text": (ctypes.c_char_p, [_int]),
    "sonde_file_new": (_P, [ctypes.POINTER(_FileOptions)]),
    "sonde_file_free": (None, [_P]),
    "sonde_file_error": (ctypes.POINTER(_Error), [_P]),
    "sonde_file_open": (_int, [_P, ctypes.c_char_p]),
    "sonde_file_get_info": (ctypes.POINTER(_FileInfo), [_P]),
    "sonde_file_next": (_int, [_P, ctypes.POINTER(ctypes.POINTER(_RawRecord))]),
    "sonde_file_rewind": (None, [_P]),
    "sonde_file_diags": (_u64, [_P, _int]),
    "sonde_file_events": (ctypes.c_size_t, [_P]),
    "sonde_file_event_name": (ctypes.c_char_p, [_P, ctypes.c_size_t]),
    "sonde_file_event_attr": (ctypes.POINTER(_Attr), [_P, ctypes.c_size_t]),
    "sonde_file_event_bytes": (_P, [_P, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]),
    "sonde_file_event_ids": (ctypes.POINTER(_u64), [_P, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]),
    "sonde_file_record_event": (ctypes.c_long, [_P, ctypes.POINTER(_RawRecord)]),
    "sonde_file_feature": (_P, [_P, ctypes.c_uint, ctypes.POINTER(ctypes.c_size_t)]),
    "sonde_file_record_fields": (_int, [_P, ctypes.POINTER(_RawRecord), _P]),
    "sonde_file_feature_fields": (_int, [_P, ctypes.c_uint, _P]),
    "sonde_file_event_fields": (_int, [_P, ctypes.c_size_t, _P]),
    "sonde_record_type_name": (ctypes.c_char_p, [_u32]),
    "sonde_record_misc_name": (ctypes.c_char_p, [_u32, _u16, ctypes.c_uint]),
    "sonde_feature_name": (ctypes.c_char_p, [ctypes.c_uint]),
    "sonde_fields_new": (_P, []),
    "sonde_fields_free": (None, [_P]),
    "sonde_fields_next": (_int, [_P, ctypes.POINTER(ctypes.POINTER(_Field))]),
    "sonde_fields_cut": (_int, [_P]),
    "sonde_fields_numbers": (ctypes.c_size_t, [_P, _u64, ctypes.POINTER(_u64), ctypes.c_size_t]),
    "sonde_fields_part": (_int, [_P, ctypes.c_uint, ctypes.POINTER(ctypes.POINTER(_FieldPart))]),
    "sonde_session_new": (_P, [ctypes.POINTER(_SessionOptions)]),
    "sonde_session_free": (None, [_P]),
    "sonde_session_error": (ctypes.POINTER(_Error), [_P]),
    "sonde_session_open": (_int, [_P, ctypes.c_char_p]),
    "sonde_session_open_fd": (_int, [_P, _int]),
    "sonde_session_open_memory": (_int, [_P, ctypes.c_char_p, ctypes.c_size_t]),
    "sonde_session_diags": (_u64, [_P, _int]),
    "sonde_session_events": (ctypes.c_size_t, [_P]),
    "sonde_session_event_name": (ctypes.c_char_p, [_P, ctypes.c_size_t]),
    "sonde_session_event_attr": (ctypes.POINTER(_Attr), [_P, ctypes.c_size_t]),
    "sonde_session_next": (_int, [_P, ctypes.POINTER(ctypes.POINTER(_Event))]),
    "sonde_session_next_thread": (_int, [_P, ctypes.POINTER(ctypes.c_size_t),
                                         ctypes.POINTER(ctypes.POINTER(_ThreadLife))]),
    "sonde_session_frames": (_int, [_P, ctypes.POINTER(_Event), ctypes.POINTER(_FrameP)]),
    "sonde_session_resolve": (_int, [_P, ctypes.POINTER(_Event), _u32, _u64, ctypes.POINTER(_FrameP)]),
    "sonde_session_locate": (_int, [_P, _u32, _u64, ctypes.POINTER(_u64), ctypes.c_size_t,
                                    ctypes.POINTER(ctypes.POINTER(_Location))]),
    "sonde_symbols_new": (_P, [ctypes.POINTER(_SymbolsOptions)]),
    "sonde_symbols_free": (None, [_P]),
    "sonde_symbols_error": (ctypes.POINTER(_Error), [_P]),
    "sonde_symbols_add_object": (_int, [_P, ctypes.c_char_p]),
    "sonde_symbols_add_process": (_int, [_P, _u32]),
    "sonde_symbols_find": (_int, [_P, _int, ctypes.POINTER(_u64), ctypes.c_size_t,
                                  ctypes.POINTER(ctypes.POINTER(_Location))]),
}

_loaded: Optional[ctypes.CDLL] = None


def _candidates() -> Iterator[str]:
    yield from NAMES
    found = ctypes.util.find_library("sonde")
    if found is not None:
        yield found
    try:
        done = subprocess.run(["pkg-config", "--variable=libdir", "sonde"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return
    folder = os.fsdecode(done.stdout).strip()
    if done.returncode == 0 and folder:
        for name in NAMES:
            yield os.path.join(folder, name)


def _open_library() -> ctypes.CDLL:
    named = os.environ.get("SONDE_LIBRARY")
    why = ""
    for name in [named] if named else _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            why = why or str(error)
    raise LibraryError(f"libsonde cannot be loaded ({why}); install it, or name the file in SONDE_LIBRARY")


def _library() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        lib = _open_library()
        try:
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(lib, name)
                function.restype = result
                function.argtypes = arguments
        except AttributeError as error:
            raise LibraryError(f"libsonde is not of the version of this module: {error}") from None
        found = lib.sonde_version().decode()
        if not found.startswith(VERSION):
            raise LibraryError(f"libsonde is version {found}; this module needs {VERSION}x")
        _loaded = lib
    return _loaded


def version() -> str:
    """The library's version."""
    return str(_library().sonde_version().decode())


# ---- texts, errors, diagnostics ----

_ESCAPED = re.compile("[\udc80-\udcff]")


def _text(raw: Optional[bytes]) -> str:
    """Texts of a recording have any encoding: each byte that is not UTF-8 becomes U+FFFD."""
    if raw is None:
        return ""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _ESCAPED.sub("\ufffd", raw.decode("utf-8", "surrogateescape"))


def _optional(raw: Optional[bytes]) -> Optional[str]:
    return None if raw is None else _text(raw)


def _place(offset: int) -> Optional[int]:
    return None if offset == _NO_OFFSET else offset


def _failure(error: Any) -> SondeError:
    failure = SondeError(error.status, _text(error.text), _place(error.offset))
    if error.cause:
        failure.__cause__ = _failure(error.cause.contents)
    return failure


def _bytes_at(address: Optional[int], size: int) -> bytes:
    return ctypes.string_at(address, size) if address and size else b""


class _Handle:
    """A handle of the library, with what all kinds have in common."""

    _kind = ""

    def __init__(self) -> None:
        self._lib = _library()
        self._handle: Optional[int] = None

    def _call(self, name: str, *arguments: Any) -> Any:
        if self._handle is None:
            raise ValueError(f"this {self._kind} is closed")
        return getattr(self._lib, f"sonde_{self._kind}_{name}")(self._handle, *arguments)

    def _check(self, status: int) -> int:
        if status < 0:
            error = self._call("error").contents
            if error.status == 0:
                raise SondeError(status, _text(self._lib.sonde_status_text(status)))
            raise _failure(error)
        return status

    def _make(self, options: ctypes.Structure) -> None:
        options.size = ctypes.sizeof(options)
        self._handle = getattr(self._lib, f"sonde_{self._kind}_new")(ctypes.byref(options))
        if self._handle is None:
            raise MemoryError

    def close(self) -> None:
        """Gives everything back; may be called again."""
        if self._handle is not None:
            getattr(self._lib, f"sonde_{self._kind}_free")(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


class _Reader(_Handle):
    """A handle that reads a recording."""

    def __init__(self, on_diagnostic: Optional[Callable[[Diagnostic], None]]) -> None:
        super().__init__()

        def report(_: Any, diag: Any) -> None:
            d = diag.contents
            if on_diagnostic is not None:
                on_diagnostic(Diagnostic(DiagnosticKind(d.kind), _place(d.offset), _text(d.detail)))

        self._on_diag = _DiagFn(report) if on_diagnostic is not None else _DiagFn(0)

    def _open(self, path: Any) -> int:
        return int(self._call("open", os.fsencode(path)))

    def _begin(self, options: ctypes.Structure, path: Any) -> None:
        self._make(options)
        try:
            self._check(self._open(path))
        except SondeError:
            self.close()
            raise

    def diagnostics(self, kind: DiagnosticKind) -> int:
        """How many there were of a kind so far. Not 0 for TRUNCATED or DAMAGED: part was not read."""
        return int(self._call("diags", kind))


# ---- fields ----


@dataclass(frozen=True)
class Field:
    """One step of a walk over fields, struct sonde_field; `what` and `kind` are words."""

    what: str  # value, list, list_end, struct, struct_end, rest
    name: Optional[str]
    value: Optional[Value]  # of values and rests
    unit: Optional[str]
    note: Optional[str]  # meaning, in words
    meaning: Optional[Value]  # name of the number, list of its flags, dict of its parts that are not 0
    empty: bool  # padding of zeros: nothing to show
    cut: bool  # a field did not fit, up to here


_WHATS = ("", "value", "list", "list_end", "struct", "struct_end", "rest")


class _Walk:
    """struct sonde_fields."""

    def __init__(self, lib: ctypes.CDLL) -> None:
        self._lib = lib
        self.pointer: Optional[int] = lib.sonde_fields_new()
        if self.pointer is None:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "pointer", None) is not None:
            self._lib.sonde_fields_free(self.pointer)

    def _numbers(self, field: Any) -> List[Any]:
        n = field.size // field.width if field.width else 0
        out = (_u64 * n)()
        got = self._lib.sonde_fields_numbers(self.pointer, 0, out, n)
        raw = memoryview(out).cast("B")
        if field.kind == _SIGNED:
            return list(struct.unpack(f"={n}q", raw))[:got]
        if field.kind == _REAL:
            return list(struct.unpack(f"={n}d", raw))[:got]
        return list(out)[:got]

    def _value(self, field: Any) -> Value:
        kind = field.kind
        if kind == _TEXT:
            return _text(_bytes_at(field.text, field.text_size))
        if kind in (_BYTES, 0):
            return _bytes_at(field.bytes, field.size)
        if field.array:
            return self._numbers(field)
        if kind == _REAL:
            return float(field.real)
        number = int(field.number)
        return number - (1 << 64) if kind == _SIGNED and number >> 63 else number

    def _parts(self) -> Iterator[Tuple[str, int]]:
        part = ctypes.POINTER(_FieldPart)()
        i = 0
        while self._lib.sonde_fields_part(self.pointer, i, ctypes.byref(part)):
            if part.contents.value:
                yield part.contents.name.decode(), part.contents.value
            i += 1

    def _meaning(self, field: Any) -> Optional[Value]:
        if field.array:
            return None
        if field.kind == _PARTS:
            return dict(self._parts())
        if field.show == _SHOW_FLAGS and field.width:
            return [name for name, _ in self._parts()]
        return _optional(field.meaning)

    def _steps(self) -> Iterator[Any]:
        field = ctypes.POINTER(_Field)()
        while self._lib.sonde_fields_next(self.pointer, ctypes.byref(field)):
            yield field.contents

    def steps(self) -> Iterator[Field]:
        for f in self._steps():
            has_value = f.what in (_VALUE, _REST)
            yield Field(_WHATS[f.what], _optional(f.name), self._value(f) if has_value else None, _optional(f.unit),
                        _optional(f.note), self._meaning(f) if f.what == _VALUE else None, bool(f.empty),
                        bool(self._lib.sonde_fields_cut(self.pointer)))

    def fields(self) -> Fields:
        """All of them as doc/json.md has them."""
        top: Fields = {}
        stack: List[Any] = [top]
        for f in self._steps():
            what = f.what
            if what == _VALUE and not f.empty:
                name = f.name.decode()
                stack[-1][name] = self._value(f)
                meaning = self._meaning(f)
                if meaning is not None:
                    stack[-1][name + "_is"] = meaning
            elif what in (_LIST, _STRUCT):
                inner: Any = [] if what == _LIST else {}
                if f.name is None:
                    stack[-1].append(inner)
                else:
                    stack[-1][f.name.decode()] = inner
                stack.append(inner)
            elif what in (_LIST_END, _STRUCT_END):
                stack.pop()
            elif what == _REST and not f.empty:
                cut = self._lib.sonde_fields_cut(self.pointer)
                stack[-1]["cut" if cut else "more"] = self._value(f)
        return top


# ---- files ----


@dataclass(frozen=True)
class FileInfo:
    """struct sonde_file_info: what the header says, offsets and sizes in bytes of the main file."""

    container: Container
    version: int
    big_endian: bool
    swapped: bool
    interrupted: bool
    truncated: bool
    header_size: int
    attr_size: int
    data_offset: int
    data_size: int
    streams: int
    features: Tuple[int, ...]  # numbers of those that are there


@dataclass(frozen=True)
class Attr:
    """What was asked of the kernel; sonde/attr.h says what the numbers mean."""

    type: int
    size: int
    config: int
    sample_period: int
    sample_type: int
    read_format: int
    flags: int
    config1: int
    config2: int
    branch_sample_type: int
    sample_regs_user: int
    sample_stack_user: int
    clockid: int
    sample_regs_intr: int
    sample_max_stack: int
    sig_data: int
    config3: int
    config4: int


def _attr(pointer: Any) -> Attr:
    return Attr(*(getattr(pointer.contents, name) for name in Attr.__dataclass_fields__))


@dataclass(frozen=True)
class Event:
    """An attr of the recording with its ids. `fields` is the attr as it stands, `data` its bytes."""

    name: str
    attr: Attr
    ids: Tuple[int, ...]
    fields: Fields
    data: bytes


@dataclass(frozen=True)
class Feature:
    """A header feature: its bit, name (None when nobody knows it), fields, and bytes."""

    number: int
    name: Optional[str]
    fields: Fields
    data: bytes


class Record:
    """One record as it stands in the input; with `gaps`, also bytes that were skipped (`gap` says why)."""

    __slots__ = ("_file", "_raw", "type", "misc", "size", "offset", "inside", "position", "stream", "payload_size",
                 "gap")

    def __init__(self, file: File, raw: _RawRecord) -> None:
        self._file = file
        self._raw = _RawRecord.from_buffer_copy(raw)
        self.type: int = raw.type
        self.misc: int = raw.misc
        self.size: int = raw.size  # bytes, header included
        self.offset: int = raw.offset  # bytes from the start of its file; of the compressed record that held it
        self.inside: Optional[int] = raw.inside if raw.inflated else None  # place in what that one held
        self.position: int = raw.position  # rises with every item
        self.stream: int = raw.stream
        self.payload_size: int = raw.payload_size  # bytes behind the record, outside its size
        self.gap: Optional[str] = _optional(raw.gap)

    @property
    def type_name(self) -> str:
        """As "MMAP2"; UNKNOWN_n for types that the library does not know."""
        name = self._file._lib.sonde_record_type_name(self.type)
        return str(name.decode()) if name is not None else f"UNKNOWN_{self.type}"

    @property
    def misc_names(self) -> List[str]:
        """The CPU mode and the bits of misc that are set."""
        names: List[str] = []
        while True:
            name = self._file._lib.sonde_record_misc_name(self.type, self.misc, len(names))
            if name is None:
                return names
            names.append(name.decode())

    @property
    def path(self) -> str:
        """Of the file that holds it."""
        self._file._check_open()
        return _text(self._raw.file)

    @property
    def event(self) -> Optional[int]:
        """Index of the event that it belongs to; None when it cannot be told."""
        n: int = self._file._call("record_event", ctypes.byref(self._raw))
        return n if n >= 0 else None

    @property
    def data(self) -> bytes:
        """The record as it stands, header included, in the writer's byte order."""
        self._file._check_open()
        return _bytes_at(self._raw.bytes, self.size)

    @property
    def payload(self) -> bytes:
        """Trace data or format texts behind the record."""
        self._file._check_open()
        return _bytes_at(self._raw.payload, self.payload_size)

    def _begin(self) -> _Walk:
        walk = self._file._walk
        if self._file._call("record_fields", ctypes.byref(self._raw), walk.pointer) < 0:
            raise ValueError("a gap has no fields")
        return walk

    @property
    def fields(self) -> Fields:
        """The fields by name, as doc/json.md says, with bytes as bytes. Made anew with every use."""
        return self._begin().fields()

    def walk(self) -> List[Field]:
        """The fields one by one, with units, notes, padding and places of structs and lists."""
        return list(self._begin().steps())

    def __repr__(self) -> str:
        what = self.type_name if self.gap is None else f"gap: {self.gap}"
        return f"<Record {what} at {self.offset:#x}, {self.size} bytes>"


class File(_Reader):
    """A recording as it stands: every record in the order of the input, events, features.

    path: a file, folder, FIFO, or "-" for standard input. gaps: also give bytes that were skipped, as records with
    `gap` set. on_diagnostic is called for each remark on damaged or unknown input. temp_dir: folder for what cannot be
    mapped; None: /var/tmp or /tmp. Raises SondeError.
    """

    _kind = "file"

    def __init__(self, path: Union[str, bytes, os.PathLike[str]], gaps: bool = False,
                 on_diagnostic: Optional[Callable[[Diagnostic], None]] = None, temp_dir: Optional[str] = None) -> None:
        super().__init__(on_diagnostic)
        self._walk = _Walk(self._lib)
        # The library keeps a pointer to this text.
        self._temp_dir = os.fsencode(temp_dir) if temp_dir is not None else None
        self._begin(_FileOptions(on_diag=self._on_diag, gaps=gaps, temp_dir=self._temp_dir), path)

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._handle is None:
            raise ValueError("this file is closed")

    @property
    def info(self) -> FileInfo:
        """What the header says."""
        i = self._call("get_info").contents
        bits = tuple(n for n in range(256) if i.feature_bits[n // 64] >> n % 64 & 1)
        return FileInfo(Container(i.container) if i.container else Container.FILE, i.version, bool(i.big_endian),
                        bool(i.swapped), bool(i.interrupted), bool(i.truncated), i.header_size, i.attr_size,
                        i.data_offset, i.data_size, i.streams, bits)

    def event_name(self, event: int) -> str:
        """The name of an event by its index."""
        name = self._call("event_name", event)
        if name is None:
            raise IndexError(event)
        return _text(name)

    @property
    def events(self) -> List[Event]:
        """The events (attrs) of the recording."""
        out = []
        n = ctypes.c_size_t()
        for i in range(self._call("events")):
            ids = self._call("event_ids", i, ctypes.byref(n))
            numbers = tuple(ids[k] for k in range(n.value))
            address = self._call("event_bytes", i, ctypes.byref(n))
            data = _bytes_at(address, n.value)
            self._check(self._call("event_fields", i, self._walk.pointer))
            out.append(Event(self.event_name(i), _attr(self._call("event_attr", i)), numbers, self._walk.fields(),
                             data))
        return out

    @property
    def features(self) -> Dict[int, Feature]:
        """The header features by number."""
        out = {}
        n = ctypes.c_size_t()
        for bit in self.info.features:
            data = _bytes_at(self._call("feature", bit, ctypes.byref(n)), n.value)
            self._check(self._call("feature_fields", bit, self._walk.pointer))
            out[bit] = Feature(bit, _optional(self._lib.sonde_feature_name(bit)), self._walk.fields(), data)
        return out

    def __iter__(self) -> Iterator[Record]:
        """All records from the first one on; one loop over a File at a time."""
        self._call("rewind")
        raw = ctypes.POINTER(_RawRecord)()
        while self._check(self._call("next", ctypes.byref(raw))) > 0:
            yield Record(self, raw.contents)


# ---- sessions ----


@dataclass(frozen=True)
class Location:
    """What an address is; None where it is not known."""

    dso: Optional[str]  # path of the object
    symbol: Optional[str]
    symbol_offset: int  # bytes from the symbol's start
    address: int  # in the object


@dataclass(frozen=True)
class Frame:
    """An entry of a call chain."""

    address: int
    cpumode: int  # 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user
    location: Location


@dataclass(frozen=True)
class Thread:
    """A thread from its first record to the reuse of its number."""

    pid: int
    tid: int
    start: int  # ns; 0: it ran before the recording
    comm: str  # last name


@dataclass(frozen=True)
class Sample:
    """What was recorded when an event fired; numbers that the event does not record are None."""

    event: int  # index in Session.events
    event_name: str
    time: Optional[int]  # ns on the recording's clock
    pid: int
    tid: int
    comm: str  # the thread's name at that time
    cpu: Optional[int]
    cpumode: int  # as in Frame; 0 unknown
    ip: int
    addr: Optional[int]
    period: int  # events that the sample stands for
    location: Location  # of ip; empty without `symbols`
    callchain: Tuple[int, ...]  # as recorded, leaf first, with context marks
    frames: Tuple[Frame, ...]  # the same without marks, deferred parts joined; empty without `symbols`
    raw: bytes
    weight: Optional[int]
    data_src: Optional[int]
    phys_addr: Optional[int]
    offset: int  # of the record in the file, bytes


@dataclass(frozen=True)
class Function:
    """A function at an address, with the line of its code there, or of the call of the one inlined into it."""

    name: Optional[str]
    file: Optional[str]  # path
    line: Optional[int]  # from 1


@dataclass(frozen=True)
class Place:
    """What is known about an address; None where it is not known."""

    address: int  # as it was asked for
    object: Optional[str]  # path, or such as "[kernel.kallsyms]"; None: nothing is mapped there
    object_address: int  # in the object, as in its disassembly
    symbol: Optional[str]
    symbol_offset: int  # bytes from the symbol's start
    functions: Tuple[Function, ...]  # the innermost first: each but the last was inlined into the next one


_NOWHERE = Location(None, None, 0, 0)


def _location(f: Any) -> Location:
    return Location(_optional(f.dso), _optional(f.symbol), f.symbol_offset, f.address)


def _function(f: Any) -> Function:
    return Function(_optional(f.function), _optional(f.file), f.line or None)


def _places(ask: Callable[..., int], addresses: Iterable[int]) -> List[Place]:
    """ask: a call of the library with the addresses, their number, and where the locations go."""
    wanted = list(addresses)
    if any(not 0 <= a <= _NO_OFFSET for a in wanted):
        raise ValueError("an address is from 0 to 2**64 - 1")
    n, out = len(wanted), ctypes.POINTER(_Location)()
    ask((_u64 * n)(*wanted), n, ctypes.byref(out))
    return [Place(p.address, _optional(p.object), p.object_address, _optional(p.symbol), p.symbol_offset,
                  tuple(map(_function, p.functions[:p.nfunctions]))) for p in out[:n]]


_TIME, _ADDR, _WEIGHTS, _DATA_SRC, _PHYS_ADDR = 1 << 2, 1 << 3, 1 << 14 | 1 << 24, 1 << 15, 1 << 19
_NO_CPU = (1 << 32) - 1


class Session(_Reader):
    """A recording in order of time, with names for addresses.

    path: a file; an int is a descriptor, which stays open, a memoryview the bytes of a recording, which are copied.
    symbols: name addresses (False is faster). symfs: look for objects below this folder, or these. kallsyms: symbols of the
    kernel from this file. strict: damaged input is an error. cache: folder for what is kept between runs. home: objects
    are looked for in its .debug, perf's cache of build ids. temp_dir: as of File. vmlinux: symbols of the kernel from
    its ELF file. build_ids: perf's cache of build ids, if it is another folder.
    stitch_call_stacks: complete LBR call stacks by those of earlier samples. itrace: make samples of Intel PT traces, by
    the letters of `sonde script --itrace`. guest_kallsyms, guest_vmlinux: names and code of the kernel of guests, for
    their samples of traces. debuginfod: ask the servers of $DEBUGINFOD_URLS for missing files. Raises SondeError. Can be
    walked through once.
    """

    _kind = "session"

    def __init__(self, path: Union[str, bytes, os.PathLike[str], int, memoryview], symbols: bool = True,
                 symfs: Union[str, Sequence[str], None] = None, kallsyms: Optional[str] = None, demangle: bool = True,
                 strict: bool = False, on_diagnostic: Optional[Callable[[Diagnostic], None]] = None,
                 cache: Optional[str] = None, home: Optional[str] = None, temp_dir: Optional[str] = None,
                 vmlinux: Optional[str] = None, build_ids: Optional[str] = None,
                 stitch_call_stacks: bool = False, itrace: Optional[str] = None,
                 guest_kallsyms: Optional[str] = None, guest_vmlinux: Optional[str] = None,
                 debuginfod: bool = False) -> None:
        super().__init__(on_diagnostic)
        self._symbols = symbols
        roots = [symfs] if isinstance(symfs, (str, bytes, os.PathLike)) else list(symfs or [])
        # The library keeps pointers to these texts.
        self._roots = (ctypes.c_char_p * (len(roots) + 1))(*(os.fsencode(root) for root in roots[1:]))
        self._texts = [os.fsencode(t) if t is not None else None for t in (roots[0] if roots else None, kallsyms, cache, home, temp_dir,
                                                                               vmlinux, build_ids, itrace,
                                                                               guest_kallsyms, guest_vmlinux)]
        # One job: nothing here runs in parallel.
        self._begin(_SessionOptions(jobs=1, on_diag=self._on_diag, strict=strict, symfs=self._texts[0],
                                    kallsyms=self._texts[1], no_demangle=not demangle,
                                    cache=self._texts[2], home=self._texts[3], temp_dir=self._texts[4],
                                    vmlinux=self._texts[5], build_ids=self._texts[6],
                                    stitch_call_stacks=stitch_call_stacks,
                                    itrace=self._texts[7], guest_kallsyms=self._texts[8],
                                    guest_vmlinux=self._texts[9], debuginfod=debuginfod,
                                    more_symfs=self._roots), path)
        self.events: List[Tuple[str, Attr]] = [
            (_text(self._call("event_name", i)), _attr(self._call("event_attr", i)))
            for i in range(self._call("events"))]

    def _open(self, path: Any) -> int:
        if isinstance(path, int):
            return int(self._call("open_fd", path))
        if isinstance(path, memoryview):
            self._bytes = path.tobytes()  # as long as the handle
            return int(self._call("open_memory", self._bytes, len(self._bytes)))
        return super()._open(path)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _locate(self, event: Any, cpumode: int, address: int) -> Location:
        out = _FrameP()
        if not self._symbols or not self._check(self._call("resolve", event, cpumode, address, ctypes.byref(out))):
            return _NOWHERE
        return _location(out.contents)

    def _frames(self, event: Any) -> Iterator[Frame]:
        frame = _FrameP()
        self._check(self._call("frames", event, ctypes.byref(frame)))
        while frame:
            f = frame.contents
            yield Frame(f.ip, f.cpumode, _location(f))
            frame = f.caller

    def _sample(self, event: Any) -> Sample:
        e = event.contents
        s = e.sample.contents
        has = s.present
        chain = tuple(s.callchain[:s.callchain_len]) if s.callchain_len else ()
        return Sample(
            event=e.event, event_name=self.events[e.event][0], time=s.time if has & _TIME else None,
            pid=e.thread.pid, tid=e.thread.tid, comm=_text(e.thread.comm), cpu=s.cpu if s.cpu != _NO_CPU else None,
            cpumode=e.cpumode, ip=s.ip, addr=s.addr if has & _ADDR else None, period=s.period,
            location=self._locate(event, e.cpumode, s.ip), callchain=chain,
            frames=tuple(self._frames(event)) if self._symbols and chain else (),
            raw=_bytes_at(s.raw, s.raw_len), weight=s.weight if has & _WEIGHTS else None,
            data_src=s.data_src if has & _DATA_SRC else None,
            phys_addr=s.phys_addr if has & _PHYS_ADDR else None, offset=e.offset)

    def locate(self, pid: int, time: int, addresses: Iterable[int]) -> List[Place]:
        """Names and lines of addresses of a process as it was at a time (ns on the recording's clock). Addresses with the
        highest bit are those of the kernel. A preview: may change in any release."""
        return _places(lambda *a: self._check(self._call("locate", pid, time, *a)), addresses)

    def threads(self) -> Iterator[Thread]:
        """All threads of the recording."""
        at, thread = ctypes.c_size_t(), ctypes.POINTER(_ThreadLife)()
        while self._check(self._call("next_thread", ctypes.byref(at), ctypes.byref(thread))) > 0:
            t = thread.contents
            yield Thread(t.pid, t.tid, t.start, _text(t.comm))

    def __iter__(self) -> Iterator[Sample]:
        event = ctypes.POINTER(_Event)()
        while self._check(self._call("next", ctypes.byref(event))) > 0:
            yield self._sample(event)


# ---- addresses ----


class Symbols(_Handle):
    """Names and source lines of addresses in ELF objects and running processes; Session.locate does it in recordings.

    jobs: threads that read debug information, 0: one for each processor. demangle, cache, home: as of Session. A
    preview: may change in any release. Raises SondeError.
    """

    _kind = "symbols"

    def __init__(self, jobs: int = 0, demangle: bool = True, cache: Optional[str] = None,
                 home: Optional[str] = None) -> None:
        super().__init__()
        cache_raw, home_raw = (os.fsencode(t) if t is not None else None for t in (cache, home))
        self._make(_SymbolsOptions(jobs=jobs, no_demangle=not demangle, cache=cache_raw, home=home_raw))

    def __enter__(self) -> Symbols:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def add_object(self, path: Union[str, bytes, os.PathLike[str]]) -> int:
        """Adds an ELF object, whose addresses are those of its disassembly; its number for find()."""
        return self._check(self._call("add_object", os.fsencode(path)))

    def add_process(self, pid: int) -> int:
        """Adds a running process with what is mapped in it now; its number for find()."""
        return self._check(self._call("add_process", pid))

    def find(self, number: int, addresses: Iterable[int]) -> List[Place]:
        """The places of addresses of an object or process, in their order."""
        return _places(lambda *a: self._check(self._call("find", number, *a)), addresses)
