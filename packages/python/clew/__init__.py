"""Checks whether histories of concurrent operations are linearizable.

``check`` checks a history, ``Recorder`` records what the clients of a test do and checks that, and ``Monitor`` reports
every anomaly of a history that comes in pieces. Options have the names of the flags of ``clew check`` and ``clew
monitor``, with ``_`` for ``-``: ``time_limit="10s"``. A value is what the flag takes; a flag without one is ``True``.

Pages that messages and these texts name, such as docs/failures.md, are clew's documentation. It is in clew's repository
and in the archives of a release.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import threading
import weakref
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Iterable, Mapping, Optional, Union

from ._library import Error, call as _call, encoded as _encoded, forked as _forked, long_call as _long_call, version

__all__ = ["Error", "Monitor", "MonitorResult", "NotLinearizable", "Operation", "Recorder", "Result", "check", "version"]

History = Union[str, bytes, "os.PathLike[str]", IO[Any], Iterable[Mapping[str, Any]]]


@dataclass(frozen=True)
class Result:
    """What clew says of a history."""

    valid: Optional[bool]
    """True, False, or None if a limit left it undecided."""
    status: int
    """The exit status that ``clew check`` has."""
    line: str
    """The object of JSON that ``clew check --output json`` prints, as it prints it."""
    text: str
    """What ``clew check`` prints for people: the verdict, the sentence and a drawing of the operations in it."""
    warnings: list[str] = field(default_factory=list)
    output: dict[str, str] = field(default_factory=dict)
    """The other forms that the option ``output`` asked for."""
    evidence: dict[str, str] = field(default_factory=dict)
    """The evidence that options such as ``html=True`` asked for, by their names."""
    lacks: dict[str, str] = field(default_factory=dict)
    """Why there is no such evidence."""

    @cached_property
    def json(self) -> dict[str, Any]:
        """The line, parsed. docs/formats.md has its keys."""
        return json.loads(self.line)

    @property
    def explanation(self) -> Optional[str]:
        """Why the history is not linearizable, in one sentence."""
        return self.json.get("explanation")

    @property
    def story(self) -> list[str]:
        """The same, step by step."""
        return self.json.get("story") or []

    @property
    def kind(self) -> Optional[str]:
        """The kind of failure, such as ``"stale-read"``, if it is certain: docs/failures.md."""
        return self.json.get("kind")

    def require(self) -> Result:
        """Raises NotLinearizable unless the history is linearizable."""
        if self.valid is not True:
            raise NotLinearizable(self)
        return self


class NotLinearizable(AssertionError):
    """A history that is not linearizable, or that a limit left undecided. ``result`` says which."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.text.rstrip("\n"))
        self.result = result


def check(history: History, *, model: Optional[str] = None, file: Optional[str] = None, **options: Any) -> Result:
    """Checks a history.

    ``history`` is one of these:

    * records: an iterable of mappings, which are op maps, ``{"process": 0, "type": "invoke", "f": "read", "value":
      None}``, or interval records (docs/own-system.md);
    * a text in any form that ``clew check`` reads: ``bytes``, or a ``str`` that has several lines or begins with a bracket;
    * a path: any other ``str``, or a ``Path``. Only this file is read, and nothing beside it;
    * a file that is open.

    ``model`` is inferred if it is not given. ``file`` names the history in what is said of it. Raises Error if the
    options make no sense, or if the history cannot be read.
    """
    name, text = _read(history)
    return _result(_long_call("check", text, **_about(model, file or name, options)))


def _read(history: History) -> tuple[Optional[str], bytes]:
    """Returns the name of a history, if it has one, and its text."""
    if isinstance(history, (bytes, bytearray, memoryview)):
        return None, bytes(history)
    if isinstance(history, str) and ("\n" in history or history.lstrip()[:1] in ("{", "[", "(", "#")):
        return None, history.encode()
    if isinstance(history, (str, os.PathLike)):
        path = os.fspath(history)
        return str(path), Path(path).read_bytes()
    if isinstance(history, io.IOBase) or hasattr(history, "read"):
        text = history.read()  # type: ignore[union-attr]
        return None, text.encode() if isinstance(text, str) else text
    return None, b"".join(_encoded(dict(record)) + b"\n" for record in history)  # type: ignore[union-attr]


def _about(model: Optional[str], file: Optional[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of a request that says how to check. A model's file is sent along."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    if model is not None:
        given["model"] = model
    fields: dict[str, Any] = {"options": given}
    if given.get("model-file") is not None:
        given["model-file"] = os.fspath(given["model-file"])
        fields["files"] = {given["model-file"]: Path(given["model-file"]).read_text(encoding="utf-8")}
    output = given.get("output") or []
    given["output"] = ["json", "text", *([output] if isinstance(output, str) else output)]
    if file:
        fields["file"] = file
    return fields


def _result(said: Mapping[str, Any]) -> Result:
    output = dict(said["output"])
    line, valid = output.pop("json").rstrip("\n"), said["line"]["valid"]
    return Result(
        valid=None if valid == "unknown" else valid,
        status=said["status"],
        line=line,
        text=output.pop("text"),
        warnings=said["warnings"],
        output=output,
        evidence=said.get("evidence", {}),
        lacks=said.get("lacks", {}),
    )


class Operation:
    """An operation that a client has begun: ``with recorder.operation("read") as read: read.value = store.get()``.

    At the end of the block it has succeeded with ``value``, which is the invocation's value if the block does not set it.
    An exception in the block, which is passed on, means that the operation may or may not have happened. ``fail`` and
    ``crash`` say so without one.
    """

    __slots__ = ("_recorder", "_process", "_f", "_keys", "_type", "value")

    def __init__(self, recorder: Recorder, process: int, f: str, value: Any, keys: dict[str, Any]) -> None:
        self._recorder, self._process, self._f, self._keys = recorder, process, f, keys
        self._type = "ok"
        self.value = value

    def fail(self) -> None:
        """Says that the operation certainly did not happen."""
        self._type = "fail"

    def crash(self) -> None:
        """Says that the operation may or may not have happened."""
        self._type = "info"

    def __enter__(self) -> Operation:
        self._recorder.invoke(self._process, self._f, self.value, **self._keys)
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if kind is not None and self._type == "ok":
            self._type = "info"
        try:
            self._recorder.complete(self._process, self._type, self.value, **self._keys)
        except Exception as wrong:
            if not isinstance(wrong, Error) or wrong.kind == "request":  # clew cannot read the value, so what the operation did is not known
                self._recorder.complete(self._process, "info", None, **self._keys)
            if kind is None:
                raise


class Recorder:
    """Records what clients do. Any number of threads may use it at once.

    As a context manager it checks the history at the end of its block, and raises NotLinearizable unless the history is
    linearizable. ``result`` has the result then. An exception in the block is passed on without a check.
    """

    result: Optional[Result] = None

    def __init__(self, *, model: Optional[str] = None, file: str = "recorder", **options: Any) -> None:
        self._handle: int = _call("recorder.open", **_about(model, file, options))["handle"]
        self._forget = _forgets(self, self._handle)
        self._numbers = itertools.count()
        self._own = threading.local()

    def process(self) -> int:
        """Returns the number of the calling thread, which is a client of its own."""
        if not hasattr(self._own, "number"):
            self._own.number = next(self._numbers)
        return self._own.number

    def operation(self, f: str, value: Any = None, *, process: Optional[int] = None, **keys: Any) -> Operation:
        """Returns an operation for a ``with`` statement.

        The client is the calling thread unless ``process`` says which it is, as for asyncio. Models with keys take
        ``key="x"``; other keywords are only shown.
        """
        return Operation(self, self.process() if process is None else process, f, value, keys)

    def invoke(self, process: int, f: str, value: Any = None, **keys: Any) -> None:
        """Records that a client begins an operation. It must not have one open."""
        _call("recorder.invoke", handle=self._handle, process=process, f=f, value=value, **_with(keys))

    def complete(self, process: int, type: str, value: Any = None, **keys: Any) -> None:
        """Records that a client's operation has ended: ``"ok"``, ``"fail"`` or ``"info"``.

        The value of an operation that is ok replaces the invocation's, even if it is None.
        """
        _call("recorder.complete", handle=self._handle, process=process, type=type, value=value, **_with(keys))

    def history(self) -> str:
        """Returns what has been recorded: lines of JSON that ``clew check`` reads."""
        return _call("recorder.history", handle=self._handle)["history"]

    def check(self) -> Result:
        """Checks what has been recorded by now. Operations that are open may or may not have happened."""
        self.result = _result(_long_call("recorder.check", handle=self._handle))
        return self.result

    def close(self) -> None:
        """Forgets what has been recorded. Closing again does nothing."""
        self._forget()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        try:
            if kind is None:
                self.check().require()
        finally:
            self.close()


def _forgets(owner: object, handle: int) -> weakref.finalize:
    """Returns what closes a handle once: when it is called, or when its owner is gone."""
    forget = weakref.finalize(owner, _close, handle)
    forget.atexit = False  # the library may not be called in a process that has forked
    return forget


def _close(handle: int) -> None:
    if not _forked():
        _call("close", handle=handle)


def _with(keys: dict[str, Any]) -> dict[str, Any]:
    return {"with": keys} if keys else {}


@dataclass(frozen=True)
class MonitorResult:
    """What a monitor has found."""

    status: int
    """The exit status that ``clew monitor`` has: 1 if there was an anomaly."""
    anomalies: list[dict[str, Any]]
    """All anomalies, as ``clew monitor --output json`` prints them."""
    totals: dict[str, Any]
    """Its last line."""
    warnings: list[str]
    html: Optional[str] = None
    """The page, if the option ``html=True`` asked for it."""


class Monitor:
    """Reports every anomaly of a history of any length that comes in pieces, in one pass: docs/monitor.md."""

    result: Optional[MonitorResult] = None

    def __init__(self, *, model: Optional[str] = None, file: Optional[str] = None, **options: Any) -> None:
        fields = _about(model, file, options)
        fields["options"]["output"] = "json"
        self._handle: int = _call("monitor.open", **fields)["handle"]
        self._forget = _forgets(self, self._handle)
        self._anomalies: list[dict[str, Any]] = []

    def feed(self, piece: Union[str, bytes, Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
        """Gives the next piece of the history, which is a text that may end anywhere, or op maps.

        Returns the anomalies that were found since the last call. The monitor reads on its own, so that those of this
        piece may come later.
        """
        text = piece.encode() if isinstance(piece, str) else _read(piece)[1]
        return self._took(_call("monitor.feed", text, handle=self._handle)["lines"])

    def _took(self, lines: str) -> list[dict[str, Any]]:
        found = [line for line in map(json.loads, filter(None, lines.split("\n"))) if "anomaly" in line]
        self._anomalies += found
        return found

    def close(self) -> MonitorResult:
        """Says that the history has ended. Returns what was found. Raises Error if the history cannot be read."""
        if self.result is None:
            self._forget.detach()
            said = _long_call("monitor.close", handle=self._handle)
            self._took(said["lines"])
            totals = json.loads(said["lines"].rstrip("\n").split("\n")[-1])
            self.result = MonitorResult(said["status"], self._anomalies, totals, said["warnings"], said.get("html"))
        return self.result

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.close()
        else:
            self._forget()
