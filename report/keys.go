package report

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// KeyResult is the result of one independent key: its verdict, and on request everything else.
type KeyResult struct {
	Key     edn.Value
	Verdict jepsen.Verdict

	row  int32
	keys *Keys
}

// Result returns the whole result of the key. Its History is the key's own.
// There may be a million keys, so little is kept of a valid one. Every call
// builds its Result again, in time linear in the key's operations.
func (k KeyResult) Result() *Result {
	return resultsOf([]KeyResult{k}, []int{0})[0]
}

// Witness returns the witness of a valid key as operations of the whole history.
func (k KeyResult) Witness() []jepsen.Operation { return k.keys.WitnessOf(int(k.row)) }

// SelfCheckFailed says whether the evidence of the key's verdict turned out to be wrong.
func (k KeyResult) SelfCheckFailed() bool {
	r := k.keys.others[k.row]
	return r != nil && r.Cause == jepsen.SelfCheckFailed
}

// Vacuous returns why the verdict of the key is vacuous, or "".
func (k KeyResult) Vacuous() string {
	if k.Verdict != jepsen.Valid {
		return ""
	}
	if r := k.keys.others[k.row]; r != nil {
		return r.Vacuous
	}
	return k.keys.names[k.keys.valid[k.row].vacuous]
}

// Row returns the row of the key among all keys of the history.
func (k KeyResult) Row() int { return k.keys.keyed.Row(int(k.row)) }

// Keys gathers the results of independent keys. It keeps each result that is not valid. Of
// a valid one it keeps only what the history does not show: some 30 bytes and the witness.
type Keys struct {
	keyed   *jepsen.Keyed
	like    Result             // what all results of valid keys have in common
	valid   []validKey         // by row of the keys; empty for the others
	others  map[int32]*Result  // the results that are not valid, or have more to say
	names   []string           // the analyzers' names, and why verdicts are vacuous
	witness []jepsen.Operation // key by key; operations of the whole history
}

// validKey holds what is kept of a valid key.
type validKey struct {
	final    edn.ID
	witness  int32 // where its witness ends in that of all keys
	ms       float64
	analyzer int32 // an index into the names
	vacuous  int32 // the same
}

// NewKeys returns Keys without results. The result of a valid
// key is like the given one except for what its search found.
func NewKeys(keyed *jepsen.Keyed, like Result) *Keys {
	return &Keys{keyed: keyed, like: like, others: map[int32]*Result{},
		valid: make([]validKey, 0, len(keyed.Keys)), witness: make([]jepsen.Operation, 0, len(keyed.Unwrapped.Invocation))}
}

// Add adds the result of the next key in order. It copies what it
// needs of a valid one and keeps neither the result nor its History.
func (k *Keys) Add(own *jepsen.KeyHistory, r *Result) {
	row := int32(len(k.valid))
	kept := validKey{ms: r.Ms, final: r.Final.ID(), analyzer: k.name(r.Analyzer), vacuous: k.name(r.Vacuous)}
	for _, op := range r.Witness {
		k.witness = append(k.witness, own.WholeOp[op])
	}
	kept.witness = int32(len(k.witness))
	k.valid = append(k.valid, kept)
	if r.Verdict != jepsen.Valid || r.Depth > 0 || r.Missing != "" || r.Verified != k.like.Verified {
		r.History, r.Ops = k.keyed.History(int(row)).History, nil // the columns of own are parts of longer ones
		k.others[row] = r
	}
}

// name returns the index of a name, which it adds if it is new.
func (k *Keys) name(name string) int32 {
	i := slices.Index(k.names, name)
	if i < 0 {
		i = len(k.names)
		k.names = append(k.names, name)
	}
	return int32(i)
}

// List returns the results so far.
func (k *Keys) List() []KeyResult {
	list := make([]KeyResult, len(k.valid))
	for row := range list {
		list[row] = KeyResult{Key: k.like.History.Values.Value(k.keyed.Keys[row]), Verdict: jepsen.Valid, row: int32(row), keys: k}
	}
	for row, r := range k.others {
		list[row].Verdict = r.Verdict
	}
	return list
}

// WitnessOf returns the witness of a key as operations of the whole history.
func (k *Keys) WitnessOf(row int) []jepsen.Operation {
	from := int32(0)
	if row > 0 {
		from = k.valid[row-1].witness
	}
	return k.witness[from:k.valid[row].witness]
}

// results returns the results of some keys, given by their rows.
func (k *Keys) results(rows []int) []*Result {
	results := make([]*Result, len(rows))
	if k == nil { // no results were gathered
		for i := range results {
			results[i] = new(Result)
		}
		return results
	}
	for i, own := range k.keyed.Histories(rows) {
		row := rows[i]
		if r := k.others[int32(row)]; r != nil {
			results[i] = r
			continue
		}
		r, kept := k.like, k.valid[row]
		r.History, r.Final, r.Ms, r.Analyzer = own.History, r.History.Values.Value(kept.final), kept.ms, k.names[kept.analyzer]
		r.Witness = make([]jepsen.Operation, 0, own.Operations())
		for _, op := range k.WitnessOf(row) {
			at, _ := slices.BinarySearch(own.WholeOp, op)
			r.Witness = append(r.Witness, jepsen.Operation(at))
		}
		r.Vacuous = k.names[kept.vacuous]
		r.Explanation = Took(r.History, r.Witness)
		results[i] = &r
	}
	return results
}

// resultsOf returns the results of some keys, given by their
// places in a list of keys that were gathered together.
func resultsOf(list []KeyResult, places []int) []*Result {
	rows := make([]int, len(places))
	for i, at := range places {
		rows[i] = int(list[at].row)
	}
	return list[places[0]].keys.results(rows)
}
