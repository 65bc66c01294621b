"""Tests of the plugin: python -m pytest test_plugin.py, where the wheel is installed."""

import threading

import pytest

pytest_plugins = ["pytester"]

OPERATIONS = """
    import pytest
    def reads(recorder, value):
        with recorder.operation("write", 1):
            pass
        with recorder.operation("read") as read:
            read.value = value
"""


def test_outcomes(pytester):
    pytester.makepyfile(OPERATIONS + """
    @pytest.mark.clew(model="register")
    def test_right(clew_recorder): reads(clew_recorder, 1)
    @pytest.mark.clew(model="register")
    def test_wrong(clew_recorder): reads(clew_recorder, 2)
    def test_inferred(clew_recorder): reads(clew_recorder, 2)
    def test_fails_itself(clew_recorder):
        reads(clew_recorder, 2)
        assert False, "itself"
    @pytest.mark.clew(model="register", time_limit="1ns")
    def test_undecided(clew_recorder): reads(clew_recorder, 1)
    @pytest.mark.clew(model="register")
    def test_without_operations(clew_recorder): pass
    @pytest.mark.clew(modle="register")
    def test_options(clew_recorder): pass
    def test_of_something_else(): pass
    @pytest.mark.clew(model="register")
    @pytest.mark.parametrize("value", [1, 2])
    def test_each(clew_recorder, value): reads(clew_recorder, value)
    """)
    result = pytester.runpytest("--clew-pages", "pages", "--strict-markers")
    result.assert_outcomes(passed=4, failed=5, errors=1, warnings=1)
    result.stdout.fnmatch_lines(["*::test_wrong: INVALID", "*value 2 was read by process 0*", "page: pages/*test_wrong.html"])
    result.stdout.fnmatch_lines(["*itself*", "*no operations of clients*"])
    pages = sorted(page.name for page in (pytester.path / "pages").iterdir())
    assert pages == ["test_outcomes.py-test_each-2.html", "test_outcomes.py-test_inferred.html", "test_outcomes.py-test_undecided.html",
                     "test_outcomes.py-test_wrong.html"]


def test_the_verdict_stands_without_its_page(pytester):
    pytester.makepyfile(OPERATIONS + """
    @pytest.mark.clew(model="register")
    def test_wrong(clew_recorder): reads(clew_recorder, 2)
    """)
    result = pytester.runpytest("--clew-pages", str(pytester.makefile(".txt", "x")) + "/pages")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*INVALID*", "no page: *"])


def test_options_have_names(pytester):
    pytester.makepyfile(OPERATIONS + """
    @pytest.mark.clew("register")
    def test_model(clew_recorder): reads(clew_recorder, 1)
    """)
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*takes keywords only: expected model=\"register\", found 'register'*"])


def test_the_page_is_in_tmp_path(pytester):
    pytester.makepyfile(OPERATIONS + """
    @pytest.mark.clew(model="register")
    def test_wrong(clew_recorder): reads(clew_recorder, 2)
    """)
    result = pytester.runpytest("--basetemp", "tmp")
    result.assert_outcomes(failed=1)
    assert len(list((pytester.path / "tmp").rglob("*.html"))) == 1


@pytest.mark.clew(model="register", init=-1)
def test_threads(clew_recorder):
    lock, value = threading.Lock(), [-1]

    def client():
        for _ in range(20):
            with clew_recorder.operation("write", clew_recorder.process()), lock:
                value[0] = clew_recorder.process()
            with clew_recorder.operation("read") as read, lock:
                read.value = value[0]

    threads = [threading.Thread(target=client) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
