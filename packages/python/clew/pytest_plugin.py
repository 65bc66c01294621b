"""A plugin for pytest: a test that has ``clew_recorder`` fails unless what it recorded is linearizable.

::

    @pytest.mark.clew(model="register")
    def test_store(clew_recorder):
        with clew_recorder.operation("write", 1):
            store.write(1)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator, Optional

import pytest

import clew

_recorders: dict[str, tuple[clew.Recorder, Path]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("clew").addoption("--clew-pages", metavar="DIR", help="keep the pages of histories that are not linearizable in DIR, instead of each test's tmp_path")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clew(model, **options): how clew_recorder checks the history of the test; the options are those of clew.check")


@pytest.fixture
def clew_recorder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[clew.Recorder]:
    """Records what the test's clients do. It is checked when the test has passed."""
    marker = request.node.get_closest_marker("clew")
    if marker and marker.args:
        raise pytest.UsageError('pytest.mark.clew takes keywords only: expected model="register", found ' + ", ".join(map(repr, marker.args)))
    options = {"file": request.node.nodeid, **(marker.kwargs if marker else {}), "html": True}
    recorder = clew.Recorder(**options)
    pages: Optional[str] = request.config.getoption("--clew-pages")
    _recorders[request.node.nodeid] = recorder, Path(pages) if pages else tmp_path
    yield recorder
    del _recorders[request.node.nodeid]
    recorder.close()


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Comes after the test's own call, if that did not fail. So the test fails, not what cleans up after it."""
    if item.nodeid not in _recorders:
        return
    recorder, pages = _recorders[item.nodeid]
    result = recorder.check()
    for warning in result.warnings:
        item.warn(pytest.PytestWarning(warning))
    if result.valid is True:
        return
    told = result.text.rstrip("\n")
    if "html" in result.evidence:
        page = pages / (re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-") + ".html")
        try:
            pages.mkdir(parents=True, exist_ok=True)
            page.write_text(result.evidence["html"], encoding="utf-8")
            told += f"\n\npage: {page}"
        except OSError as error:
            told += f"\n\nno page: {error}"
    pytest.fail(told, pytrace=False)
