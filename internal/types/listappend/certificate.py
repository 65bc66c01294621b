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
