"""Tests of the package, for the standard library's unittest: python test_package.py, where the wheel is installed."""

import gc
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import clew
from clew import _library

STALE = [
    {"process": 0, "type": "invoke", "f": "write", "value": 1},
    {"process": 0, "type": "ok", "f": "write", "value": 1},
    {"process": 1, "type": "invoke", "f": "read", "value": None},
    {"process": 1, "type": "ok", "f": "read", "value": 0},
]
TEXT = "".join(json.dumps(op) + "\n" for op in STALE)


def line(result):
    return {key: value for key, value in result.json.items() if key not in ("ms", "file", "op-line")}


class Check(unittest.TestCase):
    def test_a_history_may_come_in_many_ways(self):
        wanted = line(clew.check(STALE, model="register", init=0))
        self.assertEqual((wanted["valid"], wanted["op-index"]), (False, 3))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "history.json"
            path.write_text(TEXT)
            with open(path) as text, open(path, "rb") as binary:
                for history in (TEXT, TEXT.encode(), bytearray(TEXT.encode()), io.StringIO(TEXT), text, binary, path, str(path),
                                (op for op in STALE), "[" + ",".join(TEXT.splitlines()) + "]"):
                    with self.subTest(history):
                        self.assertEqual(line(clew.check(history, model="register", init=0)), wanted)
            self.assertEqual(clew.check(path, model="register").json["file"], str(path))
            self.assertEqual(clew.check(path, model="register", file="x").json["file"], "x")

    def test_a_result_says_all(self):
        result = clew.check(TEXT, model="register", init=0, html=True, witness=True, output="junit")
        self.assertIs(result.valid, False)
        self.assertEqual((result.status, result.kind), (1, "stale-read"))
        self.assertIn("value 0 was read by process 1", result.explanation)
        self.assertTrue(result.story)
        self.assertIn("INVALID", result.text)
        self.assertEqual(list(result.output), ["junit"])
        self.assertIn("<testsuite", result.output["junit"])
        self.assertEqual((list(result.evidence), list(result.lacks)), (["html"], ["witness"]))
        with self.assertRaises(clew.NotLinearizable) as raised:
            result.require()
        self.assertIs(raised.exception.result, result)
        self.assertIn("process 1", str(raised.exception))

    def test_valid_and_undecided(self):
        self.assertIs(clew.check(TEXT[: TEXT.index("\n", 70)], model="register").require().valid, True)
        result = clew.check(TEXT, model="register", init=0, time_limit="1ns")
        self.assertIs(result.valid, None)
        self.assertEqual((result.status, result.json["cause"]), (2, "timeout"))
        self.assertRaises(clew.NotLinearizable, result.require)

    def test_warnings(self):
        self.assertIn("no operations", clew.check([], model="register").warnings[0])

    def test_a_model_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "own.star"
            path.write_text("""
init = 0

def write(state, op):
    return op.value

def read(state, op):
    return state if op.out == state else inconsistent("read %s from %s" % (op.out, state))

ops = {"write": write, "read": read}
""")
            self.assertIs(clew.check(STALE, model_file=path).valid, False)

    def test_errors(self):
        with self.assertRaises(clew.Error) as raised:
            clew.check("{:process 0\n")
        self.assertEqual((raised.exception.kind, raised.exception.line), ("unreadable", 2))
        for wrong in ({"modle": "x"}, {"model": "regster"}, {"time_limit": "soon"}):
            with self.assertRaises(clew.Error) as raised:
                clew.check(STALE, **wrong)
            self.assertEqual(raised.exception.kind, "options")
        self.assertRaises(FileNotFoundError, clew.check, "there is no such file")
        self.assertRaises(TypeError, clew.check, [{"process": 0, "type": "invoke", "f": "write", "value": object()}])
        self.assertRaises(ValueError, clew.check, [{"process": 0, "type": "invoke", "f": "write", "value": float("nan")}])

    def test_threads(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(line(clew.check(STALE, init=0)))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(found), 8)
        self.assertTrue(all(x == found[0] for x in found))

    def test_ctrl_c_ends_the_waiting(self):
        # A search through all subsets of the writes that may have happened.
        hard = [{"process": p, "type": "invoke", "f": "write", "value": p} for p in range(60)]
        hard += [{"process": 99, "type": kind, "f": "read", "value": -1} for kind in ("invoke", "ok")]
        begun = time.monotonic()
        interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        interrupt.start()
        with self.assertRaises(KeyboardInterrupt):
            clew.check(hard, model="register", algorithm="porcupine", time_limit="300s")
        self.assertTrue(0.5 <= time.monotonic() - begun < 150, time.monotonic() - begun)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_process_may_fork_before_the_first_call(self):
        program = """
import os, sys, clew
child = os.fork()
valid = clew.check([{"process": 0, "type": "invoke", "f": "read", "value": None}], model="register").valid
if child == 0:
    os._exit(0 if valid else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        self.assertEqual(subprocess.run([sys.executable, "-c", program], timeout=60).returncode, 0)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_fork_of_a_process_that_has_called_says_so(self):
        program = """
import gc, os, sys, clew
clew.version()
recorder = clew.Recorder(model="register")
child = os.fork()
if child == 0:
    del recorder
    gc.collect()
    try:
        clew.check([], model="register")
    except RuntimeError as e:
        os._exit(0 if "get_context('spawn')" in str(e) else 1)
    os._exit(2)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status or (0 if clew.check([{"process": 0, "type": "invoke", "f": "read"}], model="register").valid else 3))
"""
        done = subprocess.run([sys.executable, "-c", program], timeout=600, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_keys_of_mappings_are_what_they_are(self):
        values = [
            {1: 2}, {"1": 2}, {None: 2}, {"null": 2}, {1.5: 2}, {"1.5": 2}, {False: 2}, {"false": 2}, {(1, "a"): 2}, {"[1, \"a\"]": 2},
            {1: {"x": [{2: {3}}]}, "1": 0}, [{1: 2}], {"x": {-1: 2}}, {"x": {"-1": 2}}, {0: "\u2028\t\"\\"},
        ]
        for written in values:
            for read in values:
                with self.subTest(written=written, read=read):
                    ops = [{"process": 0, "f": "write", "value": written, "call": 1, "return": 2},
                           {"process": 1, "f": "read", "value": None, "output": read, "call": 3, "return": 4}]
                    self.assertIs(clew.check(ops, model="register", init=0).valid, written == read)

    def test_accounts_may_be_integers(self):
        ops = [{"process": 0, "f": "transfer", "value": {"from": 0, "to": 1, "amount": 5}, "call": 1, "return": 2},
               {"process": 1, "f": "read", "value": None, "output": {0: 5, 1: 15}, "call": 3, "return": 4}]
        for read, valid in (({0: 5, 1: 15}, True), ({0: 10, 1: 10}, False)):
            ops[1]["output"] = read
            self.assertIs(clew.check(ops, model="bank", init="{0 10, 1 10}").valid, valid)


class Recorder(unittest.TestCase):
    def test_how_operations_end(self):
        with self.assertRaises(clew.NotLinearizable):
            with clew.Recorder(model="kv") as recorder:
                with recorder.operation("put", "a", key="x", node="n1"):
                    pass
                with recorder.operation("put", "b", key="x") as put:
                    put.fail()
                with recorder.operation("put", "c", key="x") as put:
                    put.crash()
                with self.assertRaises(TimeoutError):
                    with recorder.operation("put", "d", key="x"):
                        raise TimeoutError
                with recorder.operation("get", key="x", process=7) as get:
                    get.value = "b"
                events = [json.loads(event) for event in recorder.history().splitlines()]
        self.assertEqual([event["type"] for event in events[1::2]], ["ok", "fail", "info", "info", "ok"])
        self.assertEqual([event["process"] for event in events], [0] * 8 + [7] * 2)
        self.assertEqual((events[0]["value"], events[1]["value"], events[0]["node"], events[1]["key"]), ("a", "a", "n1", "x"))
        self.assertEqual(recorder.result.json["op-index"], 9)

    def test_sets_are_values(self):
        with clew.Recorder(model="set") as recorder:
            with recorder.operation("add", 1):
                pass
            with recorder.operation("read") as read:
                read.value = {1}
        self.assertIs(recorder.result.valid, True)

    def test_equal_sets_are_equal(self):
        one, other = set(), set()
        for x in (8, 0):
            one.add(x)
        for x in (0, 8):
            other.add(x)
        with clew.Recorder(model="register") as recorder:
            with recorder.operation("write", one):
                pass
            with recorder.operation("read") as read:
                read.value = other
        self.assertIs(recorder.result.valid, True)

    def test_only_line_feeds_end_lines(self):
        monitor = clew.Monitor(model="register", init=0)
        monitor.feed('{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value "a\x85b"}\n')
        self.assertEqual(monitor.close().totals["totals"]["anomalies"], 1)

    def test_an_operation_whose_value_cannot_be_read_ends(self):
        for odd, error in (object(), TypeError), ({"edn": "("}, clew.Error), ("\ud83d", clew.Error), (float("nan"), ValueError):
            with self.subTest(odd):
                recorder = clew.Recorder(model="register")
                with self.assertRaises(error):
                    with recorder.operation("read") as read:
                        read.value = odd
                with recorder.operation("read"):
                    pass
                self.assertIn('"type":"info"', recorder.history())
                recorder.close()

    def test_an_exception_is_not_replaced_by_that_of_its_value(self):
        recorder = clew.Recorder(model="register")
        with self.assertRaises(TimeoutError):
            with recorder.operation("read") as read:
                read.value = float("inf")
                raise TimeoutError
        self.assertIn('"type":"info"', recorder.history())
        recorder.close()

    def test_exceptions_pass_without_a_check(self):
        with self.assertRaises(KeyError):
            with clew.Recorder(model="register") as recorder:
                with recorder.operation("read") as read:
                    read.value = 1
                raise KeyError
        self.assertIsNone(recorder.result)
        recorder.close()

    def test_what_is_not_closed_is_forgotten(self):
        for thing in (clew.Recorder, clew.Monitor):
            handle = thing(model="register")._handle
            gc.collect()
            with self.assertRaises(clew.Error) as raised:
                _library.call("close", handle=handle)
            self.assertEqual(raised.exception.kind, "handle")

    def test_order(self):
        recorder = clew.Recorder(model="register")
        with self.assertRaises(clew.Error) as raised:
            recorder.complete(0, "ok", 1)
        self.assertEqual(raised.exception.kind, "order")
        recorder.close()
        with self.assertRaises(clew.Error) as raised:
            recorder.history()
        self.assertEqual(raised.exception.kind, "handle")


class Monitor(unittest.TestCase):
    def test_pieces(self):
        with clew.Monitor(model="register", init=0, html=True) as monitor:
            for at in range(0, len(TEXT), 7):
                monitor.feed(TEXT[at : at + 7])
            monitor.feed(op for op in STALE[2:])
        result = monitor.close()
        self.assertEqual((result.status, [a["index"] for a in result.anomalies]), (1, [3, 5]))
        self.assertEqual(result.totals["totals"]["operations"], 3)
        self.assertTrue(result.html.startswith("<!doctype html>"))

    def test_what_cannot_be_read(self):
        with self.assertRaises(clew.Error) as raised:
            with clew.Monitor(model="register") as monitor:
                monitor.feed("{:process 0, :type :invoke, :f :read}\n}\n")
        self.assertEqual((raised.exception.kind, raised.exception.line), ("unreadable", 2))


if __name__ == "__main__":
    unittest.main()
