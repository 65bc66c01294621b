#!/usr/bin/env python3
"""Checks a certificate of clew against its history: check.py HISTORY CERTIFICATE

It has nothing of clew's, and reads the history itself (EDN, plain or .gz). ../certificate.md says why what it checks suffices.
Exit status: 0 it proves the verdict, 1 it does not, 2 it cannot be said."""
import gzip, hashlib, json, re, sys
from calendar import monthrange
from datetime import date
from decimal import Decimal
from fractions import Fraction

OPEN, LIMIT = float("inf"), 3_000_000
class Rejected(Exception): pass
class TooHard(Exception): pass
def check(condition, why):
    if not condition: raise Rejected(why)
def readable(condition, what, v=None):
    if not condition: raise TooHard(f"it does not read {what}")
    return v
# EDN: nil is None, an integer an int, anything else a tuple that begins with its sort. Odd
# is what may equal something that is spelled otherwise, and what holds it: nobody compares it.
class Odd(tuple): pass
class List(tuple): pass  # the items of (1 2), which equals [1 2], but is no [key value]
END = r"\t-\r\x1c- ,()\[\]{}\";\\"
TOKEN = re.compile(rf"""[\t-\r\x1c- ,]+|;[^\r\n]*(?=\r?\n|\r?\Z)|(\#?"(?:[^"\\]|\\.)*"|\\.[^{END}]*|\#\{{|\#_|[()\[\]{{}}]|[^{END}]+|.)""", re.S)
CLOSE = {"(": ")", "[": "]", "{": "}", "#{": "}"}
atoms = {"nil": None, "true": ("b", True), "false": ("b", False)}
def key(name): return ("k", name)
def is_set(v): return isinstance(v, tuple) and v[0] == "S"
def is_list(v): return isinstance(v, tuple) and v[0] == "v"
def is_map(v): return isinstance(v, tuple) and v[0] == "M"
def items(v): return v[1] if is_list(v) or is_set(v) else ()
def field(v, name): return dict(v[1]).get(key(name)) if is_map(v) else None
def whole(v): return type(v) is int
def bare(v): return bare(v[2]) if v and v[0] == "t" else v
def listed(v): return v[1] if is_list(v) else readable(False, f"{v}, which is no list")
def sure(v): return v if type(v) is not Odd else readable(False, f"{v[1]!r:.60} for sure")
def fits(condition, init):
    check(condition, f"a model that cannot begin with {init}")
    return init
def only(text): return sure(*forms(readable("##NaN" not in text, "a ##NaN here", text)))
def unescaped(m): return chr(int(m[1][1:], 16)) if len(m[1]) > 1 else dict(zip("ntrbf", "\n\t\r\b\f")).get(m[1], m[1])
def atom(t):
    if re.fullmatch(r"\\(\S|newline|space|tab|return|backspace|formfeed)", t): return ("c", t[1:])
    if re.fullmatch(r'"([^"\\]|\\[tnrbf"\\/]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})*"', t): return ("s", re.sub(r"\\(u....|.)", unescaped, t[1:-1]))
    if re.fullmatch(r"[-+]?(0|[1-9][0-9]*)N?", t): return int(t.rstrip("N"))
    if re.fullmatch(r"[-+]?[0-9]+/0*[1-9][0-9]*", t): return int(Fraction(t)) if Fraction(t).denominator == 1 else ("r", Fraction(t))
    if re.fullmatch(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]{1,3})?M", t): return ("m", Decimal(t[:-1]))
    if re.fullmatch(r"[-+]?[0-9]+(\.[0-9]*([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)|##-?Inf", t): return ("f", float(t.strip("#")))
    if len(t) > 1 and re.match(r'\\|#?"', t): return Odd(("?", t))
    readable(t.isascii() and not re.search(r"""^['"\\;]|[@^`~]""", t), t)
    return ("k", t[1:]) if re.fullmatch(r":[^\s:]\S*", t) else ("y", t) if re.fullmatch(r"(?![-+]?[0-9])[^\s:#]\S*", t) else Odd(("?", t))
def collection(bracket, xs):
    keys = {"{": xs[::2], "#{": xs}.get(bracket, ())
    if len(set(keys)) < len(keys) or bracket == "{" and len(xs) % 2: return Odd(("?", "what has a key twice, or no value"))
    v = {"{": ("M", frozenset(zip(keys, xs[1::2]))), "#{": ("S", frozenset(keys)), "(": ("v", List(xs))}.get(bracket, ("v", tuple(xs)))
    return Odd(v) if any(type(x) is Odd for x in xs) else v
INSTANT = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?)?)?(?:Z|([-+])(\d\d):(\d\d))?", re.A)
def instant(text):
    """Milliseconds, as java.util.Date has them; None for what Clojure does not read, and for the Julian calendar."""
    m = INSTANT.fullmatch(text)
    if not m or m[1] < "1583": return None
    year, month, day, hour, minute, second, away, off = (int(m[i] or missing) for i, missing in ((1, 0), (2, 1), (3, 1), (4, 0), (5, 0), (6, 0), (9, 0), (10, 0)))
    if not (1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1] and max(hour, away) < 24 and max(minute, off) < 60 and second <= 59 + (minute == 59)): return None
    offset = (60 * away + off) * (-1 if m[8] == "-" else 1)
    return ((date(year, month, day).toordinal() * 1440 + hour * 60 + minute - offset) * 60 + second) * 1000 + int(((m[7] or "") + "000")[:3])
def uuid(text):  # the last bits of five numbers
    if len(text) > 36 or not re.fullmatch(r"[0-9a-fA-F]{1,15}(-[0-9a-fA-F]{1,15}){4}", text): return None
    return tuple(int(n, 16) % 16**digits for n, digits in zip(text.split("-"), (8, 4, 4, 4, 12)))
def named(ns, k):  # a key of #:ns{..}
    if not isinstance(k, tuple) or k[0] not in "ky": return k
    return (k[0], k[1][2:]) if k[1][:2] == "_/" and len(k[1]) > 2 else k if "/" in k[1][1:] else (k[0], f"{ns}/{k[1]}")
def tagged(tag, v):
    if type(v) is not Odd and tag in ("#inst", "#uuid"):
        what = (instant if tag == "#inst" else uuid)(v[1]) if isinstance(v, tuple) and v[0] == "s" else None
        return Odd(("?", f"{tag} {v}")) if what is None else (tag[1], what)
    if tag[1] == ":" and is_map(v) and re.fullmatch("#:(?!(nil|true|false)$)[a-zA-Z_][a-zA-Z0-9_.-]*", tag):
        pairs = [x for k, of in v[1] for x in (named(tag[2:], k), of)]
        return Odd(collection("{", pairs)) if type(v) is Odd else collection("{", pairs)
    return (Odd if type(v) is Odd or re.match("#(inst$|uuid$|:)", tag) else tuple)(("t", tag, v))
def forms(text):
    stack = [("", [], [])]  # of what is open: its bracket, what it holds, and the tags of what comes next
    for t in filter(None, (m[1] for m in TOKEN.finditer(text))):
        if t in CLOSE or t[0] == "#" and t[1:2] not in ("#", '"'):
            readable(t in CLOSE or re.fullmatch(r"#(_|[a-zA-Z:][^\s'@^`~]*)", t), t)
            stack.append((t, [], [])) if t in CLOSE else stack[-1][2].append(t)
            readable(len(stack) < 100 and len(stack[-1][2]) < 100, "what nests so deep")
            continue
        if t in ")]}":
            bracket, xs, tags = stack.pop()
            readable(CLOSE.get(bracket) == t and not tags, f"{t} where it stands")
            v = collection(bracket, xs)
        else:
            if t not in atoms: atoms[t] = atom(t)
            v = atoms[t] if t != "##NaN" else ("nan", object())
        tags = stack[-1][2]
        while tags and tags[-1] != "#_": v = tagged(tags.pop(), v)
        if tags: tags.pop()
        elif len(stack) > 1: stack[-1][1].append(v)
        else: yield v
    readable(len(stack) == 1 and not stack[0][2], "what is cut off")

class Op:
    def __init__(self, **known): self.__dict__.update(known)
# Without a :value, an answer may stand under another key, as it may beside a nil.
MEANS_NOTHING = set(map(key, "index time process type f key error exception debug node final tstag execute-via op-index".split()))
ANSWERS = "output out result results res ret return returned response resp reply answer got val".split()
def own_value(e, ended):
    if key("value") in e: return e[key("value")] is not None or not ended or not any(k and k[0] in "ks" and k[1].lower() in ANSWERS for k in e if isinstance(k, tuple))
    return set(e) <= MEANS_NOTHING
def steps(v): return is_list(v) and v[1] and all(is_list(x) and len(x[1]) == 3 and x[1][0] in map(key, ("append", "r", "w", "read", "write")) for x in v[1])
def operations(text, every_client, knows):
    ops, running, at, place = [], {}, 0, -1
    for form in map(bare, forms(text)):
        for e in map(bare, items(form) if is_list(form) else (form,)):
            e, place = dict(readable(is_map(e), "anything but EDN op maps", e)[1]), place + 1
            process, kind, f, value = sure(e[key("process")]), e.get(key("type")), e.get(key("f")), e.get(key("value"))
            if f is None and (steps(value) or process in running and value is None and running[process].f == "txn"): f = key("txn")  # as Elle takes them
            if process == key("nemesis") or not every_client and not whole(process) and f not in knows: continue
            check(every_client or whole(process), f"a process that is not an integer has an operation :{f[1]}")
            readable(kind in map(key, ("invoke", "ok", "fail", "info")) and f and f[0] == "k", f"an op of :type {kind} and :f {f}")
            readable(own_value(e, kind[1] == "ok"), "an op that has no :value, but another key that may stand for it")
            at, index = at + 1, e.get(key("index")) if whole(e.get(key("index"))) else place
            if kind[1] == "invoke":
                readable(process not in running, "a process with two operations at once")
                running[process] = Op(f=f[1], given=sure(value), value=value, process=process, key=sure(e.get(key("key"))), inv=at, ret=OPEN, status="info")
                running[process].named = {"operation": len(ops), "invocation": index, "completion": None}
                ops.append(running[process])
            elif process in running:
                op = running.pop(process)
                op.named["completion"] = index
                op.status, op.ret, op.value = kind[1], OPEN if kind[1] == "info" else at, sure(value) if kind[1] == "ok" else op.value
                readable(f == key(op.f) or op.status == "fail", f"an operation :{op.f} that ends as {f}")
            else: readable(kind[1] == "info" or kind[1] == "fail" and [op.status for op in ops if op.process == process][-1:] == ["info"], "a completion of no operation")
    return ops

# Models. read says what an operation means, None if it says nothing: a tuple that begins
# with its kind; step is the states that it leads to. Operations of the kinds in reads
# change nothing. restrict says whether operations may be left out, and what is left.
class Model:
    reads = ("read",)
    def __init__(self, parameters):
        self.p = parameters
        self.init = self.start(only(parameters["init"]) if "init" in parameters else None, "init" in parameters)
    def start(self, init, given): return init
    def prepare(self, ops): pass
    def changes(self, o): return o[0] not in self.reads
    def restrict(self, kept, dropped):
        check(not any(self.changes(op.o) for op in dropped), "an operation that changes the state is not in the core")
class Seen(Model):
    """What an operation sees was made by the last one before it that replaced it."""
    def restrict(self, kept, dropped):
        looks, replaced = [], [(place, k.inv, k.ret) for k in kept for place, _ in self.makes(k.o)]
        for o in kept:
            for cell in self.sees(o.o):
                since = max([inv for place, inv, ret in replaced if cell and place == cell[0] and ret < o.inv], default=-1)
                looks.append((cell, since, o.ret))
        for d in dropped:
            for made in self.makes(d.o):
                check(not any((cell is None or cell == made) and d.inv < end and d.ret > since for cell, since, end in looks), "an operation outside of the core may have been seen in it")
class Register(Seen):
    reads = ("read", "failed")
    def read(self, op):
        if op.f == "read": return None if op.status != "ok" or op.value is None and self.p.get("nil-reads") != "exact" else ("read", op.value)
        if op.f == "write": return ("write", op.value)
        old, new = (None, None) if op.value is None else listed(op.value)[:2]
        return ("failed", old) if op.status == "fail" else ("cas", old, new)
    def step(self, s, o):
        if o[0] == "write": return [o[1]]
        if o[0] == "failed": return [s] if s != o[1] else []
        return [o[-1]] if s == o[1] else []
    def makes(self, o): return [(0, o[-1])] if o[0] == "write" or o[0] == "cas" and o[1] != o[2] else []
    def sees(self, o): return [(0, o[1])] if o[0] in ("read", "cas") else [None] if o[0] == "failed" else []
class Container(Model):
    reads, names = ("peek", "empty"), {"enqueue": "put", "push": "put", "insert": "put", "dequeue": "take", "pop": "take", "poll": "take"}
    def start(self, init, given): return self.filled(fits(is_list(init), init)[1] if given else ())
    def filled(self, elements): return tuple(elements)
    def read(self, op):
        f, lost, none = self.names.get(op.f, op.f), op.status == "info", op.value in (None, key("empty")) and self.p.get("semantics") != "knossos"
        if f == "peek": return None if lost else ("empty",) if none else ("peek", op.value)
        if f == "drain": return ("drainany",) if lost and op.value is None else ("drain", *listed(op.value))
        if f == "take" and none: return ("any",) if lost and op.value is None else ("empty",)
        return readable(f != "put" or not none, "an element that says that there is none", (f, op.value))
    def step(self, s, o):
        if o[0] == "put": return [self.put(s, o[1])]
        if o[0] == "empty": return [] if s else [s]
        if o[0] == "peek": return [s] if any(True for _ in self.heads(s, o[1:])) else []
        if o[0] in ("any", "take"): return list(self.heads(s, o[1:]))
        states = [s]
        for v in o[1:]: states = [x for t in states for x in self.heads(t, (v,))]
        for t in states:  # drainany: the list grows by what more is taken
            if o[0] == "drainany": states += [x for x in self.heads(t, ()) if x not in states]
        return states
    def restrict(self, kept, dropped):
        values, empty = {v for k in kept for v in k.o[1:]}, any(k.o[0] == "empty" for k in kept)
        for d in (d for d in dropped if self.changes(d.o)):
            check(not values.intersection(d.o[1:]), "a value of the core has an operation outside of it")
            check(d.o[0] not in ("any", "drainany") or type(self) is Bag and not empty, "an operation that may have taken anything is not in the core")
        gone = {v for d in dropped if self.changes(d.o) for v in d.o[1:]}
        self.init = self.filled([v for v in listed(only(self.p.get("init", "[]"))) if v not in gone])
class FIFO(Container):
    def put(self, s, v): return s + (v,)
    def heads(self, s, v): return [s[1:]] if s and v in ((), s[:1]) else []
class Stack(FIFO):
    def heads(self, s, v): return [s[:-1]] if s and v in ((), s[-1:]) else []
class Bag(Container):
    def filled(self, elements): return frozenset((v, elements.count(v)) for v in elements)
    def put(self, s, v):
        n = dict(s).get(v, 0)
        return s - {(v, n)} | {(v, n + 1)}
    def heads(self, s, v): return [s - {(x, n)} | ({(x, n - 1)} if n > 1 else set()) for x, n in self.first(s) if v in ((), (x,))]
    def first(self, s): return s
class GrowSet(Model):
    reads = ("read", "no set")
    def start(self, init, given): return frozenset(items(fits(not given or is_set(init) or is_list(init), init)))
    def read(self, op):
        if op.f == "add" or op.status != "ok": return ("add", op.value) if op.f == "add" else None
        is_set, knossos = isinstance(op.value, tuple) and op.value[0], self.p.get("semantics") == "knossos"
        if op.value is None and not knossos: return None
        if is_set in ("S", "v"[knossos:]): return ("read", frozenset(items(op.value)))
        return readable(knossos, "what was read of a set, and is none", ("no set", op.value))
    def step(self, s, o): return [s | {o[1]}] if o[0] == "add" else [s] if o == ("read", s) else []
    def restrict(self, kept, dropped):
        gone = {d.o[1] for d in dropped if d.o[0] == "add"}
        for k in kept: k.o = (k.o[0], k.o[1] - gone) if k.o[0] == "read" else k.o
        kept[:] = [k for k in kept if k.o[0] != "add" or k.o[1] not in gone]
        self.init -= gone
def silent(v):
    """Whether a value of a lock says nothing of numbers, as far as its form shows."""
    if is_map(v): return all(k in map(key, ("client", "fence", "permits", "uid")) for k, _ in v[1])
    return v in (None, atoms["true"]) or isinstance(v, tuple) and (v[0] in "kyui" or v[0] == "s" and re.search(r"[^-+.0-9\s]|^\s*$", v[1]) is not None)
def permits(op):
    """How many an operation is about: what its completion says, else what its invocation says, else one."""
    said = [field(v, "permits") if is_map(v) else v for v in (op.value, op.given)]
    for v, n in zip((op.value, op.given), said): readable(n > 0 if whole(n) else silent(v) and (n == v or n is None), f"{v}, a number of permits or none")
    said = [n for n in said if whole(n)]
    return readable(len(set(said)) < 2, f"an operation of {said} permits", said[0] if said else 1)
class Semaphore(Model):
    def start(self, init, given): return 0
    def read(self, op): return (op.f, permits(op) if self.p.get("permits") else 1)
    def step(self, s, o):
        held = s + o[1] if o[0] == "acquire" else s - o[1]
        return [held] if 0 <= held <= int(self.p.get("permits", 1)) else []

# Of each model: how it is read, the :f's that it knows, and its parameters; it needs one with an exclamation mark.
MODELS = {"register": (Register, "read write", "init nil-reads"), "cas-register": (Register, "read write cas", "init nil-reads failed-cas"),
          "mutex": (Semaphore, "acquire release", ""), "semaphore": (Semaphore, "acquire release", "permits!"), "set": (GrowSet, "add read", "init"),
          "fifo-queue": (FIFO, "enqueue dequeue peek drain", "init"), "unordered-queue": (Bag, "enqueue dequeue drain", "init"), "stack": (Stack, "push pop peek", "init")}
others, COUNT = " (more.py knows more of clew's own)", "[1-9][0-9]{0,8}|10[0-9]{8}"
VALUES = {"init": "(?s).+", "nil-reads": "any|exact", "failed-cas": "ignore|observe", "semantics": "jepsen|knossos", "priority": "max|min", "permits": COUNT,
          "max-holds": COUNT, "threads": COUNT, "ids": "distinct|growing", "negative-balances": "refuse|allow", "answers": "told|echo", "kv-keys": "pairs|none", "accounts": "as-written|numbers|strings"}
def check_parameters(model, given):
    takes = ("semantics " + MODELS[model][2]).split()
    for name in takes: check(name[-1] != "!" or name[:-1] in given, f"the model {model} needs {name[:-1]}")
    for name, value in given.items():
        check(name in takes or name + "!" in takes, f"the model {model} has no parameter {name!r}")
        check(isinstance(value, str) and re.fullmatch(VALUES[name], value), f"{name} is {value!r}")

def numbers(xs): return isinstance(xs, list) and all(map(whole, xs))
def check_order(model, ops, order, end=OPEN):
    """A linearization: every operation once and in time, and the model takes every step.
    Up to an event, if there is one: what returns there or later may have happened or not."""
    check(numbers(order), "an order is a list of operations")
    chosen, latest, states = set(), 0, [model.init]
    for n in order:
        check(n in ops and n not in chosen, f"operation {n} is none of these, or stands in the order twice")
        op = ops[n]
        check(op.inv < end, f"operation {n} began after the failure")
        check(op.status != "fail" or op.o, f"operation {n} has failed")
        check(op.ret > latest, f"operation {n} had returned before one began that stands before it")
        chosen.add(n)
        latest = max(latest, op.inv)
        if op.o: states = list(dict.fromkeys(t for s in states for t in model.step(s, op.o)))
        check(states, f"operation {n} cannot happen where it stands")
    missing = [n for n, op in ops.items() if n not in chosen and op.ret < end and (op.status == "ok" or op.status == "fail" and op.o)]
    check(not missing, f"operations are missing, such as {missing[:3]}")
def check_core(model, ops, fails, core):
    """No order of the core is a linearization up to the return of the operation that fails."""
    check(numbers(core) and fails in core and len(set(core)) == len(core) and all(n in ops for n in core), "the core is not one of operations")
    end, inside = ops[fails].ret, set(core)
    began = {n: op for n, op in ops.items() if op.inv < end and op.o}
    kept = [began[n] for n in core if n in began]
    model.restrict(kept, [op for n, op in began.items() if n not in inside])
    events = sorted([(k.inv, k) for k in kept] + [(k.ret, k) for k in kept if k.ret <= end], key=lambda e: e[0])
    running, configurations, worked = [], {(model.init, frozenset())}, 0
    for at, op in events:
        if at == op.inv: running.append(op)
        if at == op.inv: continue
        passed, seen, todo = set(), set(configurations), list(configurations)
        while todo:
            worked += 1
            if worked > LIMIT: raise TooHard("the core takes too long to decide")
            state, done = todo.pop()
            if op in done: passed.add((state, done - {op}))
            if op in done: continue
            left = [k for k in running if k not in done]
            idle = frozenset(k for k in left if not model.changes(k.o) and model.step(state, k.o))
            if idle: successors = [(state, done | idle)]  # what changes nothing may happen as soon as it can
            else:  # of operations that mean the same, the one that returns first
                first = {}
                for k in sorted(left, key=lambda k: (k.ret, k.inv)): first.setdefault(k.o, k)
                successors = [(t, done | {k}) for k in first.values() for t in model.step(state, k.o)]
            todo += [c for c in dict.fromkeys(successors) if c not in seen]
            seen.update(successors)
        running.remove(op)
        configurations = passed
        if not passed: return check(at == end, "the core fails before the operation that is said to fail")
    raise Rejected("the core has a linearization")
def check_failure(model, ops, key, valid, fails, before, core, named=(), **said):
    """The operation that fails is the first one: up to its return there is an order, and from there on there is none."""
    check(whole(fails) and fails in ops and ops[fails].ret != OPEN, "the operation that fails has not returned")
    check(all(isinstance(x, str) for x in said.values()) and (named == () or isinstance(named, list) and named), "what is said of the failure is of another form")
    check(all(repr(x) == repr(ops[x["operation"]].named) for x in named), "an operation that is named is another one")
    check_order(model, ops, before, ops[fails].ret)
    check_core(model, ops, fails, core)
    return True
def tuple_of(f, v):
    xs = v[1] if is_list(v) and type(v[1]) is not List else ()
    return xs if len(xs) == 2 else (xs[0], ("v", xs[1:])) if len(xs) == 3 and f == "cas" else None
def by_key(ops, keyless):
    """The operations of each independent key, without it; one without a key is of all, if it may be."""
    keys, shared, lacking = {}, [], []
    for n, op in ops.items():
        pairs = [pair for pair in (tuple_of(op.f, op.value), tuple_of(op.f, op.given)) if pair]
        readable(len({k for k, _ in pairs}) < 2, "an operation of two keys")
        if op.status != "fail" and not tuple_of(op.f, op.value): lacking.append(n)
        (keys.setdefault(pairs[0][0], []) if pairs else shared).append(n)
        if pairs: op.value, op.given = ((tuple_of(op.f, v) or (0, v))[1] for v in (op.value, op.given))
    check(keys, "no operation has a key")
    check(keyless or not lacking, f"operations {lacking[:3]} have no key, and the certificate does not say keyless")
    return {k: {n: ops[n] for n in sorted(own + shared)} for k, own in keys.items()}
def meaning(head, ops):
    model, knows = MODELS[head["model"]][0](head["parameters"]), MODELS[head["model"]][1].split()
    for op in ops.values():
        check(op.f in knows or op.status == "fail", f"the model {head['model']} has no :{op.f}")
        op.o = model.read(op) if op.status != "fail" or op.f == "cas" and head["parameters"].get("failed-cas") == "observe" else None
    model.prepare([op for op in ops.values() if op.o])
    return model, ops
def read(raw, head):
    if raw[:2] == b"\x1f\x8b": raw = gzip.decompress(raw)
    ops = dict(enumerate(operations(raw.decode("utf-8-sig"), head["clients"] == "all", list(map(key, MODELS[head["model"]][1].split())))))
    check(len(ops) == head["operations"], "the history has another number of operations")
    return {k: meaning(head, part) for k, part in (by_key(ops, "keyless" in head) if head["independent"] else {None: ops}).items()}
# What a line must have, and what it may have besides: the first one, and those of a key that is valid, or is not.
FORMS = {"head": ("clew-certificate operations model parameters independent clients valid", "sha256 keyless consistency"),
         "True": ("key valid order", ""), "False": ("key valid fails before core", "analyzer pattern explanation named")}
def once(pairs):
    check(len(dict(pairs)) == len(pairs), "a field stands twice")
    return dict(pairs)
def parsed(line, form=None):
    x = json.loads(line, object_pairs_hook=once)
    must, may = map(str.split, FORMS.get(form or isinstance(x, dict) and repr(x.get("valid")), ("?", "")))
    check(isinstance(x, dict) and set(must) <= set(x) <= set(must + may), "a certificate of another form")
    return x
def of_level(head, parts, sections): raise TooHard("levels.py checks levels of consistency")
def prove(history, certificate):
    with open(history, "rb") as f: raw = f.read()
    with open(certificate) as f:
        head = parsed(next(f), "head")
        keys, keyless = head["independent"], head.get("keyless")
        check(numbers([head["clew-certificate"], head["operations"]]) and head["clew-certificate"] == 1 and type(keys) is type(head["valid"]) is bool and isinstance(head["model"], str)
              and isinstance(head["parameters"], dict) and head["clients"] in ("integers", "all") and ("keyless" not in head or keyless is keys is True), "a certificate of another form")
        check("sha256" not in head or head["sha256"] == hashlib.sha256(raw).hexdigest(), "the certificate is of another history")
        if head["model"] not in MODELS: raise TooHard(f"nothing is known of the model {head['model']}{others}")
        check_parameters(head["model"], head["parameters"])
        try: parts, seen, failed = read(raw, head), set(), False
        except Exception as why: raise why if isinstance(why, Rejected) else TooHard(f"the history cannot be read: {why if isinstance(why, TooHard) else repr(why)[:200]}; clew convert --to edn -o h.edn HISTORY makes EDN of other forms")
        if "consistency" in head: return of_level(head, parts, f)
        for section in map(parsed, f):
            check(isinstance(section["key"], str) and section["key"] == section["key"].strip() if keys else section["key"] is None, "a key that is none")
            k = only(section["key"]) if keys else None
            check(k in parts and k not in seen, f"there is no key {section['key']}, or there are two sections of it")
            seen.add(k)
            if section["valid"]: check_order(*parts[k], section["order"])
            else: failed = check_failure(*parts[k], **section)
        check(head["valid"] is (not failed) and (failed or len(seen) == len(parts)), "the sections do not add up to the verdict")
    return f"proved: {'not ' * failed}linearizable as {head['model']} {head['parameters']}, independent: {keys}, clients: {head['clients']}{', keyless: True' if keyless else ''}"

def main():
    worst = 0
    if len(sys.argv) < 3 or len(sys.argv) % 2 == 0: sys.exit("usage: check.py HISTORY CERTIFICATE, or several such pairs")
    for history, certificate in zip(sys.argv[1::2], sys.argv[2::2]):
        try: status, said = 0, prove(history, certificate)
        except (json.JSONDecodeError, StopIteration): status, said = 1, "rejected: this is no certificate"
        except (TooHard, OSError, MemoryError, RecursionError) as why: status, said = 2, f"not checked: {why}"
        except Exception as why: status, said = 1, f"rejected: {why if isinstance(why, Rejected) else repr(why)[:200]}"
        print(f"{certificate}:", *said.split())  # on one line, whatever it quotes
        worst = max(worst, status, key=(0, 2, 1).index)
    return worst
if __name__ == "__main__": sys.exit(main())
