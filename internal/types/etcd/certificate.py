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
