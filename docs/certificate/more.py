#!/usr/bin/env python3
"""check.py with the models that fewer people use: more.py HISTORY CERTIFICATE"""
import re
import sys
from collections import Counter
from fractions import Fraction
import check
from check import OPEN, Bag, Model, Seen, check as must, field, fits, is_list, is_map, is_set, items, key, listed, readable, whole

TRUE, FALSE = check.atoms["true"], check.atoms["false"]

class LookupSet(Model):
    def start(self, init, given): return frozenset(items(fits(not given or is_list(init) or is_set(init), init)))
    def read(self, op):
        f, v, answer = {"add": "insert", "delete": "remove", "lookup": "contains"}.get(op.f, op.f), op.given, op.value
        if op.status == "info": return None if f == "contains" else (f, v, None)
        if is_list(answer) and len(answer[1]) == 2 and answer[1][0] == v: answer = answer[1][1]
        return readable(answer in (TRUE, FALSE), "an answer that is neither true nor false", (f, v, answer == TRUE))
    def changes(self, o): return o[0] != "contains" and o[2] is not False
    def step(self, s, o):
        if o[2] is not None and (o[1] in s) != (o[2] == (o[0] != "insert")): return []
        return [s if not self.changes(o) else s | {o[1]} if o[0] == "insert" else s - {o[1]}]
    def restrict(self, kept, dropped):
        must(not {k.o[1] for k in kept} & {d.o[1] for d in dropped if self.changes(d.o)}, "an element of the core has an operation outside of it")

class MultiRegister(Seen):
    def start(self, init, given): return fits(is_map(init), init)[1] if given else frozenset()
    def read(self, op):
        steps = [listed(x) for x in (() if op.value is None else listed(op.value))]
        readable(all(len(x) == 3 and x[0] in map(key, ("r", "read", "w", "write")) for x in steps), "a step that neither reads nor writes")
        txn = tuple((f[1][0], k, v) for f, k, v in steps)
        saw = [self.p.get("nil-reads") == "exact" or op.f == "txn" and f == key("r") for f, _, _ in steps]  # what a nil says
        if op.status == "ok" and op.given is not None:
            called = [tuple(listed(x)) for x in listed(op.given)]
            must(len(called) == len(txn) and all(x[:1] in ((key(n),) for n in (("r", "read") if f == "r" else ("w", "write"))) and x[1:2] == (k,) and (f == "r" or x[2:] == (v,))
                for x, (f, k, v) in zip(called, txn)), "a completion with other steps than its invocation")
        txn = tuple(x for x, nil in zip(txn, saw) if x[0] == "w" or op.status == "ok" and (x[2] is not None or nil))
        return ("txn", txn) if txn else None
    def step(self, s, o):
        now = dict(s)
        for f, k, v in o[1]:
            if f == "w": now[k] = v
            elif now.get(k) != v: return []
        return [frozenset(now.items())]
    def changes(self, o): return bool(self.makes(o))
    def makes(self, o): return [x for x in {k: v for f, k, v in o[1] if f == "w"}.items() if x not in self.sees(o)]
    def sees(self, o): return [(k, v) for i, (f, k, v) in enumerate(o[1]) if f == "r" and ("w", k) not in [x[:2] for x in o[1][:i]]]

class Priority(Bag):
    def prepare(self, ops):
        self.ranks = {}
        ordered([v for op in ops for v in op.o[1:]] + [v for v, _ in self.init])
    def rank(self, v):
        if v not in self.ranks: self.ranks[v] = rank(v)
        return self.ranks[v]
    def first(self, s):
        best = (min if self.p.get("priority") == "min" else max)((self.rank(x) for x, _ in s), default=None)
        return [x for x in s if self.rank(x[0]) == best]
NAMED = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r", "backspace": "\b", "formfeed": "\f"}
def sort(v): return "n" if whole(v) or v[0] in "rmf" else v[0]
def units(text): return text.encode("utf-16-be")  # which Java compares
def rank(v):
    """What compares as values do in Clojure's compare, if ordered accepts them."""
    if v is None: return (0,)
    s = sort(v)
    if s == "n": return (1, v if whole(v) else v[1] if v[0] == "f" and abs(v[1]) == OPEN else Fraction(v[1]))
    if s in "ky": return (1, v[1] != "/" and "/" in v[1], *map(units, v[1].split("/", 1) if v[1] != "/" else "/"))
    if s == "u": return (1, *((a ^ 1 << 63) for a in (v[1][0] << 32 | v[1][1] << 16 | v[1][2], v[1][3] << 48 | v[1][4])))
    return (1, len(v[1]), [rank(x) for x in v[1]]) if s == "v" else (1, units(NAMED.get(v[1], v[1])) if s in "sc" else v[1])
def ordered(values):
    """Whether compare orders all of them, and in our way, is sure."""
    values = [v for v in values if v is not None]
    sorts = {sort(v) for v in values}
    readable(len(sorts) < 2 and sorts < set("nksycvbiu") and not any(is_list(v) and type(v[1]) is check.List for v in values), "values that may have no order")
    if sorts == {"n"}:
        kinds = {v[0] for v in values if not whole(v)}
        readable("r" not in kinds or kinds == {"r"}, "the order of ratios and floats or decimals")
        exact = lambda v: Fraction(v if whole(v) else v[1])
        near = lambda v: abs(exact(v)) >= 10**300 or Fraction(float(exact(v))) != exact(v)
        readable("f" not in kinds or not any(near(v) for v in values if whole(v) or v[0] == "m"), "the order of floats and numbers that are none")
    lengths = {}
    for v in values if sorts == {"v"} else (): lengths.setdefault(len(v[1]), []).append(v[1])
    for same in lengths.values():
        for column in zip(*same): ordered(column)

class Versioned(Model):
    def start(self, init, given):
        fits(not given or is_list(init) and len(init[1]) == 2 and whole(init[1][0]) and 0 <= init[1][0] <= 1 << 30, init)
        return items(init) if given else (0, None)
    def read(self, op):
        if op.f == "read" and op.value is None: return None
        version, value = listed(op.value)
        readable(version is None or whole(version) and version >= 0, "a version that is no number")
        return (op.f, version, readable(op.f != "cas" or len(listed(value)) == 2, "a cas that is no pair", value))
    def step(self, s, o):
        if o[0] == "read": return [s] if o[1] in (None, s[0]) and o[2] in (None, s[1]) else []
        fits = o[1] in (None, s[0] + 1) and (o[0] == "write" or items(o[2])[0] == s[1])
        return [(s[0] + 1, o[2] if o[0] == "write" else items(o[2])[1])] if fits else []

class Owners(Model):
    most = 1
    def start(self, init, given): return frozenset()
    def read(self, op):
        readable(not is_map(op.value) or check.silent(op.value), "a field that locks do not know")
        fence = field(op.value, "fence") or 0
        return [op.f, op.process % int(self.p["threads"]) if "threads" in self.p else op.process, check.permits(op) if self.p.get("permits") else 1, fence]
    def prepare(self, ops):
        for way in (ops, ops[::-1]):  # a client is the one named last, else the one named next
            named = {}
            for op in way:
                client = field(op.value, "client") if op.status == "ok" else None
                if client is not None: named[op.o[1]] = ("client", client)
                if way is ops or not hasattr(op, "owner"): op.owner = named.get(op.o[1], None)
                if op.owner is None: del op.owner
        for op in ops: op.o = (op.o[0], getattr(op, "owner", op.o[1]), *op.o[2:])
    def step(self, s, o):
        held = dict(s)
        held[o[1]] = held.get(o[1], 0) + (o[2] if o[0] == "acquire" else -o[2])
        fits = sum(held.values()) <= int(self.p["permits"]) if "permits" in self.p else len(held) == 1 and held[o[1]] <= self.most
        return [frozenset((k, n) for k, n in held.items() if n)] if fits and held[o[1]] >= 0 else []
class Reentrant(Owners):
    def __init__(self, parameters): super().__init__(parameters); self.most = int(parameters.get("max-holds", 2))
class Fenced(Owners):
    def start(self, init, given): return (None, 0, 0, 0)
    def read(self, op): return readable(op.f != "acquire" or op.value == op.given or check.silent(op.value), "an answer that may be a fence", super().read(op))
    def step(self, s, o):
        owner, holds, fence, greatest = s
        if o[0] == "release": return [] if not holds or owner != o[1] else [(None, 0, 0, greatest)] if holds == 1 else [(owner, holds - 1, fence, greatest)]
        if holds and (owner != o[1] or holds == self.most): return []
        if fence: return [(owner, holds + 1, fence, greatest)] if o[3] in (0, fence) else []
        return [(o[1], holds + 1, o[3], max(o[3], greatest))] if o[3] == 0 or o[3] > greatest else []
class ReentrantFenced(Fenced, Reentrant): pass

class KV(Seen):
    """One place for each key. An append may leave anything there."""
    def changes(self, o): return o[0] not in ("get", "failed") and (o[0] != "cas" or o[2] != o[3])
    def start(self, init, given): return fits(is_map(init), init)[1] if given else frozenset()
    def read(self, op):
        given, value, k, lost = op.given, op.value, op.key, op.status != "ok"
        keys, named = self.p.get("kv-keys"), k is not None or is_map(given) and key("key") in dict(given[1])
        must(named == (keys is None), "a :key, or none, where the certificate says otherwise")
        if k is None and named: k = field(given, "key")
        elif keys == "pairs":
            must(is_list(given) and len(given[1]) == 2, "an operation that is no pair of a key and a value")
            k, given = given[1]
            same = is_list(value) and len(value[1]) == 2 and items(value)[0] == k
            value = items(value)[1] if same else readable(lost or value in (TRUE, FALSE), "an answer without the key", value)
        elif keys:
            told_none = given in (TRUE, FALSE) if op.f == "delete" else lost or given == value
            must(op.f not in ("get", "delete") or given is None or is_map(given) or told_none, f"a {op.f} that may have been called with a key")
        in_map, asked = named and op.key is None, self.fields(op, given, named and op.key is None, op.f == "cas")
        x = dict(asked)
        readable(not {"succeeded", "found"} & set(x), "an invocation that says what came of it")
        readable(not in_map or op.f not in ("put", "append", "put-if-absent") or "value" in x, "an update without its :value")
        if not lost and value in (TRUE, FALSE) and given != value and op.f not in ("get", "put"): x["succeeded"] = value
        elif not lost and (op.f == "get" or given != value):
            told = self.fields(op, value, in_map, True)
            x = told if op.f == "get" else {**x, **told}
            readable(told.get("key", k) == k, "an answer about another key")
            readable(op.f != "get" or {"value", "found", "succeeded"} & set(told), "a get without its :value")
            other = x.get("value") is not None and x.get("value") != asked.get("value")
            readable(not other or op.f != "delete" and (op.f != "cas" or is_list(x["value"])), f"the answer of this {op.f}")
            readable(op.f == "get" or x.get("value") is not value or field(value, "succeeded") is field(value, "found") is None, "an answer beside what is none")
        kinds = {"expected", "old", "new"} & set(x)
        readable(not kinds or op.f == "cas" and len(kinds) == 2 and "new" in kinds and not is_list(x.get("value")), "a cas of two kinds")
        v, answer, refused = x.get("value"), x.get("succeeded", x.get("found")), x.get("succeeded") == FALSE
        readable(all(x.get(n) in (None, TRUE, FALSE) for n in ("succeeded", "found")), "an answer that is neither true nor false")
        readable(not refused or op.f in ("cas", "put-if-absent", "get") or not is_map(value), "an update that did not succeed")
        readable(lost or op.f not in ("put", "put-if-absent") or v is not None or asked.get("value") is None, "a put of nothing")
        readable(op.f != "get" or lost or answer != TRUE or "value" in x, "a get without its :value")
        if op.f == "get" and is_map(value): readable(answer != FALSE or v in (None, ("s", "")), "nothing, with a value")
        if op.f == "delete": answer = x.get("found", answer)
        if op.f == "get": return None if lost else ("get", k, None if answer == FALSE else v)
        if op.f == "delete": return ("get" if answer == FALSE else "erase" if answer == TRUE else "put", k, None)
        if op.f in ("cas", "put-if-absent"):
            old, new = (None, v) if op.f != "cas" else (x.get("expected", x.get("old")), x["new"]) if "new" in x else listed(v)
            return ("failed", k, old) if op.status == "fail" or answer == FALSE else ("cas", k, old, new)
        return (op.f, k, v)
    def fields(self, op, v, in_map, answers):
        """The fields of a map, where keys stand in maps, or where it tells only what came of an operation. Else a value is whole."""
        x = {name[1]: part for name, part in v[1] if name[0] == "k"} if is_map(v) and all(isinstance(name, tuple) for name, _ in v[1]) else {}
        known = ("value", "succeeded", "found") + ("expected", "new", "old") * (op.f == "cas")
        if in_map and is_map(v):
            readable(len(x) == len(v[1]) and set(x) <= {"key", *known}, "a map with other keys than its own")
            return x
        answer = answers and set(x) - {"value"} and len(x) == len(v[1]) and set(x) <= set(known)
        return x if answer and all(x.get(n, TRUE) in (TRUE, FALSE) for n in ("succeeded", "found")) else {"value": v}
    def prepare(self, ops):
        saw = {op.o[2] for op in ops if op.f == "get" and op.o is not None}
        values = [v for op in ops for v in op.o[2:]] + [v for _, v in self.init]
        readable(all(op.o[0] != "append" for op in ops) or all(v is None or isinstance(v, tuple) and v[0] == "s" for v in values), "appends beside something other than strings")
        if any(op.o[0] == "append" for op in ops) or ("s", "") in saw and None not in saw:
            for op in ops: op.o = op.o[:2] + tuple(("s", "") if v is None else v for v in op.o[2:])
            self.nothing = ("s", "")
    nothing = None
    def step(self, s, o):
        now, is_now = dict(s), dict(s).get(o[1], self.nothing)
        if o[0] in ("get", "cas") and is_now != o[2] or o[0] == "failed" and is_now == o[2] or o[0] == "erase" and is_now == self.nothing: return []
        if self.changes(o): now[o[1]] = ("s", (is_now or ("s", ""))[1] + o[2][1]) if o[0] == "append" else o[-1]
        return [frozenset((k, v) for k, v in now.items() if v != self.nothing)]
    def makes(self, o): return [(o[1], ANY if o[0] == "append" else o[-1])] if self.changes(o) else []
    def sees(self, o): return [] if o[0] == "put" else [(o[1], o[2] if o[0] in ("get", "cas") else ANY)]
class Any:
    def __eq__(self, other): return True
    __hash__ = None
ANY = Any()

def told(model):
    must(model.p.get("answers") in ("told", "echo"), "the certificate does not say whether answers are told")
    return model.p["answers"] == "told"
class CounterModel(Model):
    def start(self, init, given): return fits(whole(init) and abs(init) <= 1 << 61, init) if given else 0
    def read(self, op):
        if op.f == "read" and op.status != "ok": return None
        n, new = op.value if op.f in ("add", "read") else 1 if op.given is None else op.given, None
        readable(whole(n), f"{n}, which is not an integer")
        if op.f in ("add", "read"): return ("add", n) if op.f == "add" else ("add", 0, n)
        if op.f[:4] == "decr": n = -n
        if op.status == "ok":
            both = is_list(op.value) and len(items(op.value)) == 2 and items(op.value)[0] == op.given
            new = items(op.value)[1] if both else op.value
            tells, always = whole(new), op.f == "add-and-get"
            readable(tells and (both or not always) or not always and op.value in (None, op.given), "an answer that is no new value")
            if not tells or not always and not told(self): new = None
        return ("add", n) if new is None else ("add", n, new)
    def changes(self, o): return o[1] != 0
    def step(self, s, o): return [s + o[1]] if len(o) == 2 or s + o[1] == o[2] else []

class Counting(Model):
    reads = ("zero",)
    def start(self, init, given): return 0
    def read(self, op):
        answers = (TRUE, None) if op.f == "incr" else (TRUE, FALSE)
        readable(op.status == "info" or op.value in answers, "an answer that is neither true nor false")
        readable(op.given in (None, TRUE, 1), "an amount that may be another one than 1")
        return ("zero",) if op.status == "ok" and op.value == FALSE else (op.f,)
    def step(self, s, o):
        if o[0] == "zero": return [s] if s == 0 else []
        return [s + 1] if o[0] == "incr" else [s - 1] if s > 0 else []

class IDs(Model):
    def start(self, init, given): return None if self.p.get("ids") == "growing" else frozenset()
    def read(self, op):
        if op.status != "ok": return None
        return ("id", readable(whole(op.value) or self.p.get("ids") != "growing", "an id that is not an integer, as ids grow", op.value))
    def step(self, s, o):
        if self.p.get("ids") == "growing": return [o[1]] if s is None or o[1] > s else []
        return [] if o[1] in s else [s | {o[1]}]
    def restrict(self, kept, dropped): pass

class Bank(Model):
    def start(self, init, given):
        if is_map(init): init = self.balances(init)
        fits(not given or is_map(init) and all(whole(n) and abs(n) <= 1 << 61 for _, n in init[1]), init)
        return frozenset((k, n) for k, n in (init[1] if given else ()) if n)
    def prepare(self, ops):
        """Which form the accounts have that are not keywords in reads, and whether reads by place name all of them."""
        reads = [op.value for op in ops if op.f == "read" and op.status == "ok" and op.value is not None]
        ends = [field(op.value, x) for op in ops if op.f == "transfer" for x in ("from", "to")]
        names = [k for v in (*reads, check.only(self.p.get("init", "{}"))) if is_map(v) for k, _ in v[1]]
        others = ends + [k for k in names if not self.keyword(k)]
        names = [k for k in names if self.keyword(k)]
        if names and others and "accounts" not in self.p:
            readable(not all(isinstance(k, tuple) and k[0] == "s" for k in others), "keywords that are strings")
            readable(not all(map(whole, others)) or not all(whole(self.number(k)) for k in names), "keywords that are numbers")
        for v in filter(is_list, reads): readable(all(whole(k) and 0 <= k < len(items(v)) for k in ends), "a transfer of an account that has no place")
    def keyword(self, k): return isinstance(k, tuple) and k[0] == "k"
    def number(self, k): return int(k[1]) if re.fullmatch("0|-?[1-9][0-9]*", k[1]) and -2**63 <= int(k[1]) < 2**63 else k
    def account(self, k):
        if not self.keyword(k): return k
        return {"numbers": self.number(k), "strings": ("s", k[1])}.get(self.p.get("accounts"), k)
    def placed(self, v): return ("M", frozenset(enumerate(items(v)))) if is_list(v) else v
    def balances(self, v):
        named = [(self.account(k), n) for k, n in v[1]]
        readable(len({k for k, _ in named}) == len(named), "an account of two names")
        return ("M", frozenset(named))
    def read(self, op):
        if op.f == "read": return ("read", self.start(self.placed(op.value), True)) if op.status == "ok" and op.value is not None else None
        readable(whole(field(op.value, "amount")) and field(op.value, "amount") >= 0, "a transfer of less than nothing")
        readable(None not in (field(op.value, "from"), field(op.value, "to")), "a transfer from or to no account")
        return ("transfer", *(field(op.value, x) for x in ("from", "to", "amount")))
    def changes(self, o): return o[0] == "transfer" and o[1] != o[2] and o[3] != 0
    def step(self, s, o):
        if o[0] == "read": return [s] if s == o[1] else []
        now = Counter(dict(s))
        now[o[1]] -= o[3]
        fits = now[o[1]] >= 0 or self.p.get("negative-balances") == "allow"
        now[o[2]] += o[3]
        return [frozenset((k, n) for k, n in now.items() if n)] if fits else []

class Log(Model):
    def changes(self, o): return o[0] == "append" and (None in o[2:] or o[2] == o[3])
    def start(self, init, given):
        readable(not given or not is_list(init) or None not in items(init), "a log that begins with nothing in it")
        return items(fits(not given or is_list(init), init))
    def empty(self, v, name): return is_map(v) and (key(name), None) in v[1]
    def known(self, v): return not is_map(v) or all(k in map(key, ("offset", "msg", "value", "match-seq-num")) for k, _ in v[1])
    def within(self, v): return field(v, "msg") if field(v, "msg") is not None else field(v, "value")
    def read(self, op):
        v, at = op.given, None
        if op.f == "append":
            expected = field(v, "match-seq-num")
            readable(not self.empty(v, "match-seq-num"), "a :match-seq-num that is nil")
            if expected is not None: v = self.within(v)
            if op.status == "ok" and op.value is not None:
                at, back = (field(op.value, "offset"), self.within(op.value)) if is_map(op.value) else (op.value, v)
                tells = (at is None or whole(at) and 0 <= at < 2**30) and (back == v or back is None and at is not None)
                readable((tells and self.known(op.value)) or op.value == op.given, "an answer that is no offset")
                if not tells or not told(self): at = None
            return ("append", v, at, expected)
        if op.status != "ok" or op.f == "read" and op.value is None: return None
        if op.f != "read-at": return (op.f, op.value if op.f == "tail" else items(op.value))
        at, asked = field(op.value, "offset"), op.given if field(op.given, "offset") is None else field(op.given, "offset")
        readable(not self.empty(op.value, "offset"), "an :offset that is nil")
        readable(at is None or asked in (None, at) and self.known(op.value), "an answer about another offset")
        return ("read-at", op.value, asked) if at is None else ("read-at", self.within(op.value), at)
    def step(self, s, o):
        if o[0] == "append": return [s + (o[1],)] if o[2] in (None, len(s)) and o[3] in (None, len(s)) else []
        if o[0] == "read-at": return [s] if (s[o[2]] if o[2] < len(s) else None) == o[1] else []
        return [s] if o[1] == (len(s) if o[0] == "tail" else s) else []

class Lease(Model):
    def changes(self, o): return o[0] in ("claim", "release") or o[2] is not None
    def term(self, v): return items(v) if is_list(v) else (field(v, "owner"), field(v, "epoch")) if is_map(v) else (v, None)
    def start(self, init, given):
        if not given or is_list(init) and tuple(items(init)) == (None, None): return None, -1, True
        owner, epoch = self.term(init)
        fits(whole(epoch) and epoch >= 0, init)
        return owner, epoch, True
    def read(self, op):
        if op.f == "check": return (op.f, *self.term(op.value)) if op.status == "ok" else None
        terms = [self.term(v) for v in (op.given, op.value) if v not in (None, TRUE)]
        owner, epoch = ([x for x in column if x is not None] for column in zip(*terms))
        readable(owner and owner[0] not in (TRUE, FALSE) and len(set(owner)) == 1 and len(set(epoch)) < 2, "an update of no owner or epoch, or of two")
        return (op.f, owner[0], epoch[0] if epoch else None)
    def step(self, s, o):
        (owner, epoch, told), (kind, who, when) = s, o
        if kind == "claim": return [(who, epoch + 1, False)] if when is None else [(who, when, True)] if when > epoch else []
        if owner != who or when is not None and (told and when != epoch or when < epoch): return []
        if when is not None: epoch, told = when, True
        return [(None if kind == "release" else owner, epoch, told)]

LOCK = "acquire release"
check.others = ""
check.MODELS.update({
    "multi-register": (MultiRegister, "txn read write", "init nil-reads"), "lookup-set": (LookupSet, "insert add remove delete contains lookup", "init"),
    "priority-queue": (Priority, "enqueue insert dequeue poll peek", "init priority"), "versioned-register": (Versioned, "read write cas", "init"),
    "owner-mutex": (Owners, LOCK, "threads"), "reentrant-mutex": (Reentrant, LOCK, "max-holds threads"), "owner-semaphore": (Owners, LOCK, "permits! threads"),
    "fenced-mutex": (Fenced, LOCK, "threads"), "reentrant-fenced-mutex": (ReentrantFenced, LOCK, "max-holds threads"),
    "kv": (KV, "get put append delete cas put-if-absent", "init failed-cas kv-keys"),
    "counter": (CounterModel, "add read incr increment decr decrement add-and-get", "init answers"), "counting-semaphore": (Counting, "incr decr", ""), "id-generator": (IDs, "generate take", "ids"),
    "bank": (Bank, "transfer read", "init negative-balances accounts"), "log": (Log, "append read-at tail read", "init answers"), "lease": (Lease, "claim renew release check", "init")})

# What follows is made of the homes of data types.

class Etcd(Model):
    fields = ("value", "mod-revision", "version", "create-revision", "lease")
    def start(self, init, given): return 1, -1, frozenset(), frozenset()
    def read(self, op):
        old = op.f == "range" and (field(op.given, "revision") or field(op.given, "serializable") == TRUE)
        if old or op.f in ("watch", "defragment") or op.f == "lease-grant" and field(op.given, "lease") in (None, 0): return None
        answer = op.value if op.status == "ok" and op.value != op.given else None
        return None if answer is None and op.f == "range" else (op.f, op.given, answer)
    def changes(self, o):
        f, given, answer = o
        if field(answer, "error") is not None or f == "range": return False
        if f != "txn": return f != "delete" or field(answer, "deleted") != 0
        took = {TRUE: ["then"], FALSE: ["else"]}.get(field(answer, "succeeded"), ["then", "else"] if items(field(given, "if")) else ["then"])
        results = items(field(answer, "results"))
        acts = [(field(a, "f")[1], field(results[i], "deleted") if results else None) for branch in took for i, a in enumerate(items(field(given, branch)))]
        return any(f == "put" or f == "delete" and n != 0 for f, n in acts)
    def act(self, f, given, result, s, now):
        first, last, lease = field(given, "key"), field(given, "end"), field(given, "lease") or None
        readable(first and first[0] == "s" and last != ("s", "\0"), "a key that is no string, or a range without an end")
        if f == "put":
            if lease is None or lease in s[2]:
                _, _, version, created, _ = now.get(first, (None, 0, 0, s[0] + 1, None))
                now[first] = (field(given, "value"), s[0] + 1, version + 1, created, lease)
            return True
        found = sorted((k for k in now if k == first or last and first[1].encode() <= k[1].encode() < last[1].encode()), key=lambda k: k[1].encode())
        if f == "delete":
            for k in found: del now[k]
            return field(result, "deleted") in (None, len(found))
        if field(result, "count") not in (None, len(found)): return False
        found, shown = found[:field(given, "limit") or None], field(result, "kvs")
        if shown is None or field(given, "count-only") == TRUE: return True
        names = self.fields[1:] if field(given, "keys-only") == TRUE else self.fields
        return [field(x, "key") for x in items(shown)] == found and all(
            field(x, n) in (None, now[k][self.fields.index(n)]) for x, k in zip(items(shown), found) for n in names)
    def step(self, s, o):
        (revision, compacted, leases, keys), (f, given, answer) = s, o
        error, lease, told = field(answer, "error"), field(given, "lease"), field(answer, "revision")
        readable(error is None or f == "compact", "an error as an answer")
        now = dict(keys)
        if f == "compact":
            at = field(given, "revision")
            wrong = "compacted" if at <= compacted else "future" if at > revision else ""
            if error is not None: return [s] if wrong and wrong in str(error) else []
            return [] if wrong else [(revision, at, leases, keys)]
        if f == "lease-grant": leases |= {lease}
        if f == "lease-revoke": leases, now = leases - {lease}, {k: x for k, x in now.items() if x[4] != lease}
        if f in ("put", "delete", "range") and not self.act(f, given, answer, s, now): return []
        if f == "txn":
            holds = all(now.get(field(t, "key"), (None, 0, 0, 0, None))[i] == field(t, n)
                for t in items(field(given, "if")) for i, n in enumerate(self.fields[:4]) if field(t, n) is not None)
            if field(answer, "succeeded") not in (None, TRUE if holds else FALSE): return []
            actions = items(field(given, "then" if holds else "else"))
            results = items(field(answer, "results")) or (None,) * len(actions)
            for a, r in zip(actions, results):
                if not self.act(field(a, "f")[1], a, r, s, now): return []
        touched = frozenset(now.items()) != keys
        return [(revision + touched, compacted, leases, frozenset(now.items()))] if told in (None, revision + touched) else []
check.MODELS["etcd"] = (Etcd, "put range delete txn lease-grant lease-revoke compact defragment watch", "")

class ListAppend(Model):
    def start(self, init, given): return frozenset((k, items(v)) for k, v in fits(is_map(init) and all(is_list(v) for _, v in init[1]), init)[1]) if given else frozenset()
    def read(self, op):
        steps = [listed(x) for x in (() if op.value is None else listed(op.value))]
        readable(all(len(x) == 3 and x[0] in map(key, ("r", "append")) for x in steps), "a step that neither reads nor appends")
        if op.status == "ok" and op.given is not None:
            called = [tuple(listed(x)) for x in listed(op.given)]
            must(len(called) == len(steps) and all(x[:2] == tuple(y[:2]) and (y[0] == key("r") or x[2:] == tuple(y[2:])) for x, y in zip(called, steps)), "a completion with other steps than its invocation")
        txn = tuple((f[1][0], k, v if f == key("append") else () if v is None else items(v)) for f, k, v in steps if f == key("append") or op.status == "ok")
        return ("txn", txn) if txn else None
    def step(self, s, o):
        now = dict(s)
        for f, k, v in o[1]:
            if f == "a": now[k] = now.get(k, ()) + (v,)
            elif now.get(k, ()) != v: return []
        return [frozenset(now.items())]
    def changes(self, o): return any(f == "a" for f, _, _ in o[1])

check.MODELS["list-append"] = (ListAppend, "txn", "init")

if __name__ == "__main__":
    sys.exit(check.main())
