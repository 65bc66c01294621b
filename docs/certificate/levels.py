#!/usr/bin/env python3
"""more.py with levels of consistency of transactions: levels.py HISTORY CERTIFICATE

../transactions.md defines the levels. ../certificate.md says why what is checked suffices. A transaction is a number, and
a micro-operation is a transaction and a place in it, from 0."""
import json, sys
from collections import Counter
from itertools import takewhile
import check, more
from check import OPEN, TooHard, check as must, is_list, items, numbers, only, readable

# Of each level, the steps of a cycle that it forbids; of snapshots no two rw may be adjacent.
STEPS = {"strict-serializable": "ww wr rw process realtime", "strong-session-serializable": "ww wr rw process", "serializable-linearizable-keys": "ww wr rw realtime",
         "serializable": "ww wr rw", "strong-session-snapshot-isolation": "ww wr rw first process", "snapshot-isolation": "ww wr rw first", "read-committed": "ww wr", "read-uncommitted": "ww"}
SNAPSHOTS, MANY = ("strong-session-snapshot-isolation", "snapshot-isolation"), 300_000
def strength(level): return {"read-uncommitted": 0, "read-committed": 1}.get(level, 2)

class Registers:
    """Transactions that read and write. Of one that did not succeed nothing is known of what it read."""
    words = {check.key(f): f[0] for f in ("r", "read", "w", "write")}
    def __init__(self, ops, parameters):
        self.ops, self.nil = ops, None if parameters.get("nil-reads") == "exact" else "any"
        self.init = dict(only(parameters["init"])[1]) if "init" in parameters else {}
        for op in ops.values():  # what failed may have any form
            op.steps = [self.meant(op, self.words[x[0]], *x[1:], op.f == "txn" and x[0] == check.key("r")) if len(x) == 3 and x[0] in self.words else ("?", None, None) for x in map(items, items(op.value) if op.f == "txn" or op.status != "fail" else ())]
    def meant(self, op, f, k, v, short): return (f if f == "w" or op.status == "ok" and (v is not None or short or self.nil is None) else "?", k, v)
    def start(self): return dict(self.init)
    def put(self, state, k, v): state[k] = v
    def shows(self, state, own, k, v): return v == own.get(k, state.get(k))
    def explains(self, n, state):
        own = {}
        for f, k, v in self.ops[n].steps:
            if f == "w": self.put(own, k, v)
            if f == "r" and not self.shows(state, own, k, v): return False
        return True
    def apply(self, n, state):
        for f, k, v in self.ops[n].steps:
            if f == "w": self.put(state, k, v)
    def concerns(self, n): return {k for f, k, _ in self.ops[n].steps if f != "?"}
class Lists(Registers):
    """Transactions that read lists, and append to them (w): who appended what, and the order of versions of each key, which is its first longest list, up to where another one contradicts it."""
    words = {check.key("r"): "r", check.key("append"): "w"}
    def __init__(self, ops, parameters):
        super().__init__(ops, parameters)
        self.init = {k: tuple(items(v)) for k, v in self.init.items()}
        self.appended, self.failed, self.odd, self.longest, self.twice = {}, set(), [], dict(self.init), False
        for n, op in ops.items():
            for p, (f, k, v) in enumerate(op.steps):
                if f == "w" and op.status == "fail": self.failed.add((k, v))
                elif f == "w":
                    self.twice = self.twice or (k, v) in self.appended or v in self.init.get(k, ())
                    self.appended[k, v] = (n, p)
                elif f == "r":
                    best = self.longest.get(k, ())
                    if len(v) > len(best): self.longest[k], v, best = v, best, v
                    if best[:len(v)] != v: self.odd.append((k, v))
        agreed = dict(self.longest)
        for k, vs in self.odd: agreed[k] = tuple(v for v, _ in takewhile(lambda both: both[0] == both[1], zip(agreed[k], vs)))
        self.place = {k: {v: i for i, v in reversed(list(enumerate(vs)))} for k, vs in agreed.items()}
        shown = [self.appended.get((k, v)) for k, vs in [*self.longest.items(), *self.odd] for v in vs]
        self.happened = {n for n, op in ops.items() if op.status == "ok" and op.steps} | {by[0] for by in shown if by}
    def meant(self, op, f, k, v, _): return (f, k, v) if f == "w" else ("r", k, () if v is None else readable(is_list(v), "a list that is none", tuple(items(v)))) if op.status == "ok" else ("?", k, None)
    def start(self): return {k: list(v) for k, v in self.init.items()}
    def put(self, state, k, v): state.setdefault(k, []).append(v)
    def shows(self, state, own, k, v):
        lists = state.get(k, ()), own.get(k, ())
        return len(v) == sum(map(len, lists)) and v == (*lists[0], *lists[1])
    def at(self, k, v): return self.place.get(k, {}).get(v, OPEN)
    def writes(self, n, k): return [v for f, key, v in self.ops[n].steps if f == "w" and key == k]
    def outside(self, n, k, vs):
        """A list that a transaction read, without what it had itself appended at its end."""
        end = len(vs)
        while end and self.appended.get((k, vs[end - 1]), (None,))[0] == n: end -= 1
        return vs[:end]

# What holds.
def chosen(x, order, times):
    """The transactions of an order: those that succeeded, unless they say nothing, and perhaps some that crashed."""
    must(numbers(order), "an order is a list of transactions")
    count = Counter(order)
    must(all(n in x.ops and c == times for n, c in count.items()), f"the history lacks a transaction of the order, or one does not stand there {times}x")
    must(all(x.ops[n].status != "fail" for n in count), "a transaction of the order has failed")
    missing = [n for n, op in x.ops.items() if op.status == "ok" and any(f != "?" for f, _, _ in op.steps) and n not in count]
    must(not missing, f"transactions are missing, such as {missing[:3]}")
def check_serial(x, level, order):
    """A transaction takes its snapshot where it commits."""
    chosen(x, order, 1)
    stand(x, level, [n for n in order for _ in "12"])
def check_points(x, level, points):
    """Each transaction stands there twice: where it takes its snapshot, and where it commits."""
    chosen(x, points, 2)
    stand(x, level, points)
def stand(x, level, points):
    """What they read is what those before them leave, no two that write the same overlap, and the points keep the order in time, of processes, or in time by key."""
    state, begun, writing, called = x.start(), set(), set(), {}  # called: by what transactions have in common, the last call
    for n in points:
        op, keys = x.ops[n], {k for f, k, _ in x.ops[n].steps if f == "w"}
        groups = [None] if level == "strict-serializable" else [op.process] if "session" in level else x.concerns(n) if "keys" in level else []
        if n in begun:
            must(all(op.ret > called[g] for g in groups), f"transaction {n} had returned before one began that stands before it")
            writing -= keys
            x.apply(n, state)
            continue
        must(not keys & writing, f"transaction {n} overlaps one that appends to the same key")
        must(x.explains(n, state), f"transaction {n} cannot read that where it stands")
        begun.add(n)
        writing |= keys
        called.update([(g, max(op.inv, called.get(g, -1))) for g in groups])
def check_graph(x, level, order):
    """No edge of ww leads back in the order, nor one of wr for read-committed. Appends that nothing read stand in that order behind all others."""
    chosen(x, order, 1)
    where, last = {n: i for i, n in enumerate(order)}, {}
    must(x.happened <= where.keys(), "a transaction is missing that was read")
    for k, vs in [*x.longest.items(), *x.odd]:
        must(not repeated(x, k, vs), "a read shows something twice")
        must(all((k, v) in x.appended or (k, v) in x.failed or v in x.init.get(k, ()) for v in vs), "a read shows what nothing appended")
        must(level != "read-committed" or all((k, v) in x.appended or v in x.init.get(k, ()) for v in vs), "a read shows what a failed transaction appended")
    for (k, v), (n, _) in sorted(x.appended.items(), key=lambda a: x.at(*a[0])):
        if n not in x.happened: continue
        must(where[n] >= last.get(k, -1), f"transaction {n} stands before one that appended earlier to the same key")
        if x.at(k, v) != OPEN: last[k] = where[n]
    if level != "read-committed": return
    must(not x.odd, "two reads contradict each other")
    for n in x.happened:
        lengths, written = {}, {}
        for f, k, v in x.ops[n].steps:
            if f == "w":
                must(x.at(k, v) >= lengths.get(k, 0), f"transaction {n} read what it appends later")
                must(x.at(k, v) >= written.get(k, 0), f"transaction {n} appends in another order")
                written[k] = x.at(k, v)
            if f != "r": continue
            lengths[k] = max(len(v), lengths.get(k, 0))
            must(v[:len(x.init.get(k, ()))] == x.init.get(k, ()), f"transaction {n} read a list that lacks what was there initially")
            outside = x.outside(n, k, v)
            writer = x.appended.get((k, outside[-1]), (n,))[0] if outside else n
            must(writer == n or where[writer] < where[n], f"transaction {n} stands before one of which it read")
            must(writer == n or x.writes(writer, k)[-1] == outside[-1], f"transaction {n} read some of what another one appended")

# What does not hold.
def micro(x, m):
    must(numbers(m) and len(m) == 2 and m[0] in x.ops and 0 <= m[1] < len(x.ops[m[0]].steps), "a micro-operation that the history lacks")
    return (*m, *x.ops[m[0]].steps[m[1]])
def whole(x, m):
    must(numbers(m) and len(m) == 1 and m[0] in x.ops, "a transaction that the history lacks")
    return m
def repeated(x, k, vs): return len(set(vs)) < len(vs) and any(c > x.init.get(k, ()).count(v) + ((k, v) in x.appended) for v, c in Counter(vs).items())
def holds(x, kind, a, b):
    """Whether two micro-operations are a step of this kind."""
    (n, _, f, k, v), (m, _, g, other, w) = a, b
    if k != other or n == m: return False
    if kind == "realtime": return "?" not in (f, g)
    if kind == "ww": return f == g == "w" and x.at(k, v) < x.at(k, w)
    if kind == "wr": return (f, g) == ("w", "r") and x.outside(m, k, w)[-1:] == (v,)
    return (f, g) == ("r", "w") and w not in v and (kind == "rw" or x.writes(n, k) != [])
def check_cycle(x, level, anomaly, cycle):
    """Of each step, the first transaction comes before the second one."""
    must(isinstance(cycle, list) and len(cycle) > 1 and all(isinstance(s, dict) and s.keys() == {"type", "from", "to"} for s in cycle), "a cycle of another form")
    kinds = [s["type"] for s in cycle]
    for s, kind, after in zip(cycle, kinds, cycle[1:] + cycle[:1]):
        must(isinstance(kind, str) and kind in STEPS[level].split(), f"{level} allows cycles with a step of type {kind}")
        alone = kind == "process" or (kind, level) == ("realtime", "strict-serializable")
        a, b = [(whole if alone else micro)(x, s[end]) for end in ("from", "to")]
        must(a[0] in x.happened and b[0] in x.happened, f"nothing shows that both {a[0]} and {b[0]} happened")
        must(kind not in ("process", "realtime") or x.ops[a[0]].ret < x.ops[b[0]].inv and (kind == "realtime" or x.ops[a[0]].process == x.ops[b[0]].process), f"{a[0]} had not returned before {b[0]} was called, or is of another process")
        must(alone or holds(x, kind, a, b), f"no {kind} leads from {a[0]} to {b[0]} there")
        must(b[0] == after["from"][0], "the steps are not a cycle")
    adjacent = any(k == before == "rw" for k, before in zip(kinds, kinds[-1:] + kinds))
    must(level not in SNAPSHOTS or not adjacent, f"{level} allows cycles in which rw follows rw")
    name = "G2-item" if adjacent else "G-nonadjacent-item" if kinds.count("rw") > 1 else "G-single-item" if {"rw", "first"} & set(kinds) else "G1c" if "wr" in kinds else "G0"
    must(anomaly == name + ("-realtime" if "realtime" in kinds else "-process" if "process" in kinds else ""), "this cycle has another name")
def inside(x, n, p, k, v):
    """Whether a read contradicts what its transaction itself read and appended before."""
    own = []
    for f, key, w in reversed(x.ops[n].steps[:p]):
        if key == k and f == "r": return v != (*w, *reversed(own))
        if key == k: own.append(w)
    return v[len(v) - len(own):] != tuple(reversed(own)) or len(v) < len(own)
# Of each other anomaly: how strong a level has to be to forbid it, what its micro-operations are (a read and appends, say), and what is wrong with them.
ANOMALIES = {("internal", "r"): (2, lambda x, r: inside(x, r[0], r[1], *r[3:])),
    ("future-read", "rw"): (1, lambda x, r, a: r[0] == a[0] and r[1] < a[1] and a[4] in r[4]),
    ("garbage-read", "r"): (0, lambda x, r: any((r[3], v) not in x.appended and (r[3], v) not in x.failed and v not in x.init.get(r[3], ()) for v in r[4])),
    ("duplicate-elements", "r"): (0, lambda x, r: repeated(x, *r[3:])),
    ("G1a", "rw"): (1, lambda x, r, a: x.ops[a[0]].status == "fail" and a[3:] not in x.appended and a[4] in r[4] and a[4] not in x.init.get(a[3], ())),
    ("dirty-update", "rww"): (1, lambda x, r, a, b: ANOMALIES["G1a", "rw"][1](x, r, a) and x.appended.get(b[3:]) == b[:2] and b[4] in r[4][r[4].index(a[4]):]),
    ("G1b", "rww"): (1, lambda x, r, a, b: a[0] == b[0] != r[0] and a[1] < b[1] and x.appended.get(a[3:]) == a[:2] and x.outside(r[0], *r[3:])[-1:] == a[4:]),
    ("incompatible-order", "r"): (1, lambda x, r: r[4][:len(x.init.get(r[3], ()))] != x.init.get(r[3], ())),
    ("incompatible-order", "rr"): (1, lambda x, r, s: any(v != w for v, w in zip(r[4], s[4]))),
    ("incompatible-order", "rww"): (1, lambda x, r, a, b: a[0] == b[0] and a[1] < b[1] and x.appended.get(b[3:]) == b[:2] and b[4] in r[4] and a[4] not in r[4][:r[4].index(b[4])])}
def check_anomaly(x, level, anomaly, at):
    must(isinstance(at, list) and at, "an anomaly of another form")
    found = [micro(x, m) for m in at]
    strong, wrong = ANOMALIES.get((anomaly, "".join(m[2] for m in found)), (0, None))
    must(wrong and len({m[3] for m in found}) == 1, "an anomaly of another form")
    must(strength(level) >= strong, f"{level} allows {anomaly}")
    must(wrong(x, *found), f"there is no {anomaly} there")
def check_choices(x, level, anomaly, transactions):
    """In each order of their snapshots and commits, one of them does not read from its snapshot, or two overlap that append to the same key."""
    must(anomaly == "G-SI" and level in SNAPSHOTS and numbers(transactions) and x.happened.issuperset(transactions), "an anomaly of another form")
    micros = {n: [(n, p, *s) for p, s in enumerate(x.ops[n].steps)] for n in transactions}
    ended, begun, apart = {}, {}, {}  # what has to have ended, and must not be open, when a transaction takes its snapshot; and have begun when it commits
    for m in micros:
        before = lambda kinds: {n for n in micros if any(holds(x, kind, a, b) for kind in kinds for a in micros[n] for b in micros[m])}
        session = {n for n in micros if level == SNAPSHOTS[0] and x.ops[n].process == x.ops[m].process and x.ops[n].ret < x.ops[m].inv}
        ended[m], begun[m] = before(("ww", "wr", "first")) | session, before(("rw",))
        apart[m] = {n for n in micros if n != m and any(x.writes(n, k) for f, k, _ in x.ops[m].steps if f == "w")}
    todo = [(frozenset(), frozenset())]  # those that have begun, and ended
    seen = set(todo)
    while todo:
        if len(seen) > MANY: raise TooHard("there are too many choices")
        some, done = todo.pop()
        must(len(done) < len(micros), "these transactions have an order")
        for n in micros.keys() - done:
            may = begun[n] <= some if n in some else ended[n] <= done and not apart[n] & (some - done)
            then = (some, done | {n}) if n in some else (some | {n}, done)
            if may and then not in seen:
                seen.add(then)
                todo.append(then)

def of_level(head, parts, lines):
    level, model = head["consistency"], head["model"]
    must(level in STEPS and not head["independent"] and (model == "list-append" or model == "multi-register" and head["valid"] and strength(level) > 1), "a level of which no certificate proves this")
    x = (Lists if model == "list-append" else Registers)(parts[None][1], head["parameters"])
    sections = [json.loads(line, object_pairs_hook=check.once) for line in lines]
    must(len(sections) == 1 and isinstance(sections[0], dict) and sections[0].pop("key", 0) is None and sections[0].pop("valid", None) is head["valid"], "a certificate of another form")
    s, holding = sections[0], {"points": check_points} if level in SNAPSHOTS else {"order": check_serial if strength(level) > 1 else check_graph}
    failing = {"cycle": check_cycle, "at": check_anomaly, "transactions": check_choices} if model == "list-append" else {}
    must(head["valid"] or all(isinstance(s.pop(word, ""), str) for word in ("analyzer", "explanation")), "what is said of the failure is of another form")
    way = next((check_way for name, check_way in (holding if head["valid"] else failing).items() if s.keys() == ({name} if head["valid"] else {name, "anomaly"})), None)
    must(way, "a certificate of another form")
    must(way in (check_points, check_serial) or not x.twice, "a value was appended twice to a key")
    way(x, level, **s)
    why = f"does not hold ({s['anomaly']})" if not head["valid"] else "holds"
    return f"proved: {level} {why} as {model} {head['parameters']}, independent: False, clients: {head['clients']}"
check.of_level = of_level

if __name__ == "__main__":
    sys.exit(check.main())
