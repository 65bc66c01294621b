"""Calls the library. docs/api.md describes the requests and the responses."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, Optional

_NAMES = {"darwin": "libclew.dylib", "win32": "clew.dll"}
NAME = _NAMES.get(sys.platform, "libclew.so")

_loading = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None
_loader: Optional[int] = None  # the process that has loaded it


class Error(Exception):
    """A request that cannot be answered: wrong options, or a history that cannot be read.

    ``kind`` is one of the kinds of docs/api.md, such as ``"options"`` or ``"unreadable"``. ``file``, ``line`` and
    ``column`` say where the error is, if it has a place. ``response`` is the error as the library gave it.
    """

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__(response["message"])
        self.kind: str = response["kind"]
        self.file: Optional[str] = response.get("file")
        self.line: Optional[int] = response.get("line")
        self.column: Optional[int] = response.get("column")
        self.response = response


def library() -> ctypes.CDLL:
    """Loads the library at the first call, so that a process may import clew and then fork.

    Of a library that has been called, a fork has the memory but not the threads. A call there would wait for ever.
    """
    global _loaded, _loader
    if forked():
        raise RuntimeError(
            "clew was called in this process before it forked, and cannot be called here: start processes with"
            " multiprocessing.get_context('spawn'), or call clew only after the fork"
        )
    with _loading:
        if _loaded is None:
            path = os.environ.get("CLEW_LIBRARY") or str(Path(__file__).with_name(NAME))
            found = ctypes.CDLL(path)
            found.clew_call.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
            found.clew_call.restype = ctypes.c_void_p
            found.clew_free.argtypes = [ctypes.c_void_p]
            found.clew_free.restype = None
            found.clew_version.argtypes = []
            found.clew_version.restype = ctypes.c_char_p
            _loaded, _loader = found, os.getpid()
        return _loaded


def forked() -> bool:
    """Returns whether this process has forked from one that has called the library."""
    return _loader is not None and _loader != os.getpid()


def version() -> str:
    """Returns clew's version, as ``clew --version`` prints it."""
    return library().clew_version().decode()


def plain(value: Any) -> Any:
    """Returns what JSON has in place of a value."""
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=encoded)  # so that equal sets are equal
    raise TypeError(f"{value!r} is of type {type(value).__name__}, which JSON does not have")


def encoded(value: Any) -> bytes:
    return json.dumps(_in_json(value), default=plain, allow_nan=False).encode()


def _in_json(value: Any) -> Any:
    """Returns a value whose mappings have only texts as keys. Others are in EDN: JSON would make ``{1: 2}`` ``{"1": 2}``."""
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: _in_json(x) for key, x in value.items()}
        return {"edn": _edn(value)}
    if isinstance(value, (list, tuple)):
        return [_in_json(x) for x in value]
    return value


def _edn(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_edn(key)} {_edn(x)}" for key, x in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(map(_edn, value)) + "]"
    if isinstance(value, (set, frozenset)):
        return _edn(plain(value))
    if value is None:
        return "nil"
    return json.dumps(value, default=plain, allow_nan=False, ensure_ascii=False)  # as EDN has it


def call(name: str, body: Optional[bytes] = None, **fields: Any) -> Any:
    """Returns the result of a call. ``body`` is a text that follows the request as it is."""
    head: dict[str, Any] = {"api": 1, "call": name, **fields}
    if body is not None:
        head["bytes"] = len(body)
    request = encoded(head)
    if body is not None:
        request = b"\n".join((request, body))
    found, length = library(), ctypes.c_size_t()
    at = found.clew_call(request, len(request), ctypes.byref(length))
    try:
        response = json.loads(ctypes.string_at(at, length.value))
    finally:
        found.clew_free(at)
    if "error" in response:
        raise Error(response["error"])
    return response["result"]


def long_call(name: str, body: Optional[bytes] = None, **fields: Any) -> Any:
    """Does what call does. Ctrl-C ends the waiting, which it cannot do while a function of C runs."""
    if threading.current_thread() is not threading.main_thread():
        return call(name, body, **fields)
    answers: list[Any] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(call(name, body, **fields))
        except BaseException as e:
            failures.append(e)

    thread = threading.Thread(target=work, name="clew", daemon=True)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return answers[0]
