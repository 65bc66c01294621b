package peers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/anishathalye/porcupine"
)

// The models here do what those of etcd's robustness tests do, as far as a checker can tell. A state holds maps. It has no Hash,
// and reflect.DeepEqual compares it. A request whose answer was lost may have happened or not, so a state of EtcdAnyOf is a
// set of states. It grows with each lost answer, and answers that come later make it smaller. Every answer has the revision of
// the whole store: it counts the requests that have changed something.

// EtcdRequest is a transaction, a range or something about a lease.
type EtcdRequest struct {
	Txn    *EtcdTxn
	Range  *EtcdRange
	Grant  int64 // the lease, unless 0
	Revoke int64 // the lease, unless 0
}

// EtcdTxn does Then if each of the keys of If has its revision, or else Else.
type EtcdTxn struct {
	If         map[string]int64
	Then, Else []EtcdWrite
}

// EtcdWrite puts a value, or deletes the key.
type EtcdWrite struct {
	Key, Value string
	Delete     bool
	Lease      int64
}

// EtcdRange reads the keys from Start until End, or Start alone. Limit, unless 0, is how many it shows.
type EtcdRange struct {
	Start, End string
	Limit      int
}

// EtcdAnswer answers a request.
type EtcdAnswer struct {
	Revision  int64
	Failed    bool // the transaction did Else
	Deleted   []int
	Keys      []EtcdKey
	Count     int
	Lost      bool // nobody knows whether the request happened, ..
	Persisted bool // .. or it is known that it did, at the Revision unless that is 0
}

// EtcdKey is what a range shows of a key.
type EtcdKey struct {
	Key string
	EtcdValue
}

// EtcdValue is what the store holds of a key.
type EtcdValue struct {
	Value             string
	Modified, Version int64
}

type etcdState struct {
	Revision int64
	Values   map[string]EtcdValue
	LeaseOf  map[string]int64
	Leases   map[int64]map[string]bool
}

func newEtcd() etcdState {
	return etcdState{1, map[string]EtcdValue{}, map[string]int64{}, map[int64]map[string]bool{}}
}

// step returns the state after a request, and the answer.
func (s etcdState) step(r EtcdRequest) (etcdState, EtcdAnswer) {
	s.Values, s.LeaseOf, s.Leases = maps.Clone(s.Values), maps.Clone(s.LeaseOf), maps.Clone(s.Leases)
	for lease, keys := range s.Leases {
		s.Leases[lease] = maps.Clone(keys)
	}
	var a EtcdAnswer
	changed := false
	switch {
	case r.Range != nil:
		for _, k := range slices.Sorted(maps.Keys(s.Values)) {
			if k != r.Range.Start && (k < r.Range.Start || k >= r.Range.End) {
				continue
			}
			if a.Count++; r.Range.Limit == 0 || a.Count <= r.Range.Limit {
				a.Keys = append(a.Keys, EtcdKey{k, s.Values[k]})
			}
		}
	case r.Txn != nil:
		writes := r.Txn.Then
		for k, revision := range r.Txn.If {
			if s.Values[k].Modified != revision {
				writes, a.Failed = r.Txn.Else, true
			}
		}
		for _, w := range writes {
			did := s.write(w)
			changed = changed || did
			if deleted := 0; w.Delete {
				if did {
					deleted = 1
				}
				a.Deleted = append(a.Deleted, deleted)
			}
		}
	case r.Grant != 0:
		s.Leases[r.Grant] = map[string]bool{}
	case r.Revoke != 0:
		for k := range s.Leases[r.Revoke] {
			delete(s.Values, k)
			delete(s.LeaseOf, k)
			changed = true
		}
		delete(s.Leases, r.Revoke)
	}
	if changed {
		s.Revision++
	}
	a.Revision = s.Revision
	return s, a
}

// write changes the maps, which must not be those of another state, and says whether anything changed.
func (s etcdState) write(w EtcdWrite) bool {
	if _, granted := s.Leases[w.Lease]; w.Lease != 0 && !granted {
		return false
	}
	now, there := s.Values[w.Key]
	if w.Delete && !there {
		return false
	}
	delete(s.Leases[s.LeaseOf[w.Key]], w.Key)
	delete(s.LeaseOf, w.Key)
	if w.Delete {
		delete(s.Values, w.Key)
		return true
	}
	s.Values[w.Key] = EtcdValue{w.Value, s.Revision + 1, now.Version + 1}
	if w.Lease != 0 {
		s.LeaseOf[w.Key] = w.Lease
		s.Leases[w.Lease][w.Key] = true
	}
	return true
}

// EtcdOne is the model for histories without lost answers. A state is one state.
var EtcdOne = porcupine.Model{
	Init: func() any { return newEtcd() },
	Step: func(state, input, output any) (bool, any) {
		next, answer := state.(etcdState).step(input.(EtcdRequest))
		return reflect.DeepEqual(answer, output), next
	},
	Equal:             reflectDeepEqual,
	DescribeOperation: describeEtcd,
}

// EtcdAnyOf is the model for histories with lost answers. A state is a set of states.
var EtcdAnyOf = porcupine.Model{
	Init: func() any { return []etcdState{newEtcd()} },
	Step: func(state, input, output any) (bool, any) {
		request, answer := input.(EtcdRequest), output.(EtcdAnswer)
		var after []etcdState
		for _, s := range state.([]etcdState) {
			next, got := s.step(request)
			switch {
			case answer.Persisted:
				if answer.Revision == 0 || answer.Revision == got.Revision {
					after = append(after, next)
				}
			case answer.Lost:
				if after = append(after, s); !reflect.DeepEqual(s, next) {
					after = append(after, next)
				}
			case reflect.DeepEqual(answer, got):
				after = append(after, next)
			}
		}
		return len(after) > 0, after
	},
	// The order does not matter.
	Equal: func(a, b any) bool {
		x, y := a.([]etcdState), b.([]etcdState)
		return len(x) == len(y) && !slices.ContainsFunc(x, func(s etcdState) bool {
			return !slices.ContainsFunc(y, func(t etcdState) bool { return reflect.DeepEqual(s, t) })
		})
	},
	DescribeOperation: describeEtcd,
}

func reflectDeepEqual(a, b any) bool { return reflect.DeepEqual(a, b) }

func describeEtcd(input, output any) string {
	request, answer := input.(EtcdRequest), output.(EtcdAnswer)
	said := ""
	switch {
	case request.Range != nil:
		said = fmt.Sprintf("range(%s, %s) -> %v", request.Range.Start, request.Range.End, answer.Keys)
	case request.Txn != nil:
		said = fmt.Sprintf("txn(if %v then %v else %v), failed %t", request.Txn.If, request.Txn.Then, request.Txn.Else, answer.Failed)
	default:
		said = fmt.Sprintf("grant(%d) or revoke(%d)", request.Grant, request.Revoke)
	}
	if answer.Lost && !answer.Persisted {
		return said + ", answer lost"
	}
	return fmt.Sprintf("%s, revision %d", said, answer.Revision)
}

// EtcdTraffic says what histories of etcd to make.
type EtcdTraffic struct {
	Operations, Clients, Keys int
	Lost                      float64 // the share of answers that are lost
	Persisted                 float64 // the share of lost requests that happened and are known to have: a watch has shown their revision
	Stale                     bool    // one range shows an old value
}

// Make returns a history of a simulated etcd.
func (t EtcdTraffic) Make(seed uint64) []porcupine.Operation {
	r := rand.New(rand.NewPCG(seed, 39))
	free := make([]int64, t.Clients) // when each client may call again
	type effect struct {
		op int
		at int64
	}
	ops, effects := make([]porcupine.Operation, t.Operations), make([]effect, t.Operations)
	for i := range ops {
		c := 0
		for d := range free {
			if free[d] < free[c] {
				c = d
			}
		}
		call := free[c] + r.Int64N(200)
		at := call + 1 + r.Int64N(1000)
		ops[i] = porcupine.Operation{ClientId: c, Call: call, Return: at + 1 + r.Int64N(1000)}
		effects[i] = effect{i, at}
		free[c] = ops[i].Return + 1
	}
	slices.SortFunc(effects, func(a, b effect) int { return int(a.at - b.at) })
	state, end := newEtcd(), slices.Max(free)+10_000
	for n, e := range effects {
		o := &ops[e.op]
		request := t.request(r, state, e.op)
		next, answer := state.step(request)
		if t.Stale && request.Range != nil && len(answer.Keys) > 0 && n > t.Operations*3/4 {
			answer.Keys[0].Modified, t.Stale = 1, false
		}
		if request.Range == nil && r.Float64() < t.Lost {
			happened, shown := r.IntN(2) == 0, r.Float64() < t.Persisted
			if !happened {
				next = state
			}
			answer = EtcdAnswer{Lost: true}
			if happened && shown && next.Revision > state.Revision {
				answer.Persisted, answer.Revision = true, next.Revision
			} else {
				o.Return = end
			}
		}
		o.Input, o.Output, state = request, answer, next
	}
	return ops
}

func (t EtcdTraffic) request(r *rand.Rand, s etcdState, op int) EtcdRequest {
	key := func() string { return fmt.Sprintf("key%d", r.IntN(t.Keys)) }
	put := EtcdWrite{Key: key(), Value: fmt.Sprint("v", op)}
	switch x := r.IntN(100); {
	case x < 30:
		return EtcdRequest{Range: &EtcdRange{Start: "key", End: "kez", Limit: r.IntN(2) * 3}}
	case x < 40:
		return EtcdRequest{Range: &EtcdRange{Start: put.Key}}
	case x < 70:
		return EtcdRequest{Txn: &EtcdTxn{Then: []EtcdWrite{put}}}
	case x < 78:
		return EtcdRequest{Txn: &EtcdTxn{Then: []EtcdWrite{{Key: put.Key, Delete: true}}}}
	case x < 90: // a compare-and-swap, which often sees the current revision
		return EtcdRequest{Txn: &EtcdTxn{If: map[string]int64{put.Key: s.Values[put.Key].Modified + int64(r.IntN(4)/3)},
			Then: []EtcdWrite{put}, Else: []EtcdWrite{{Key: key(), Value: fmt.Sprint("w", op)}}}}
	case x < 93:
		return EtcdRequest{Grant: int64(1 + op)}
	}
	leases := slices.Sorted(maps.Keys(s.Leases))
	if len(leases) == 0 {
		return EtcdRequest{Grant: int64(1 + op)}
	}
	lease := leases[r.IntN(len(leases))]
	if len(leases) > 4 {
		return EtcdRequest{Revoke: lease}
	}
	put.Lease = lease
	return EtcdRequest{Txn: &EtcdTxn{Then: []EtcdWrite{put}}}
}
