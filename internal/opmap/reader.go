package opmap

import (
	"io"
	"slices"

	"clew/edn"
	"clew/internal/layouts"
)

// Fields is a set of the keys of an op map.
type Fields uint8

// The keys that a Reader takes from an op map.
const (
	HasType Fields = 1 << iota
	HasProcess
	HasF
	HasValue
	HasIndex // an integer that fits in an int64
	HasKey
	hasOtherIndex // an :index that is not such an integer
)

// Event is one op map of a history.
type Event struct {
	Type, Process, F, Value, Key edn.ID    // Nil if missing
	Index                        int64     // not interned, because all differ
	Has                          Fields    // which keys are present
	NullOutput                   bool      // of an interval record: it was null, and Value repeats the invocation's
	Text                         []byte    // the op map as spelled in the input, valid until the next one is read
	Line, Col                    int       // of its opening brace, from 1
	End                          int64     // the offset after it
	Misnamed                     *Misnamed // a key that may stand for a missing one, or nil

	layout *step  // how it is printed, if known
	others []byte // if layout is known, the values of the other keys, each with a newline
	other  int64  // if there is one other key and others is empty, its value
}

// Reader reads the op maps of a history: bare ones one after another, or
// those in one vector or list. It streams and keeps one block of the input
// in memory, or the current op map if that is longer.
type Reader struct {
	maps   edn.Maps // not a pointer, which would cost a few percent of the time
	values *edn.Values

	tree     layouts.Tree[about]  // how op maps are printed
	like     *layouts.Tree[about] // how they are written: &tree, unless there is a syntax
	syntax   Syntax               // nil: EDN
	opening  byte                 // of a word
	around   int                  // how many bytes it has besides its name
	entries  []extent
	twice    bool           // a key occurs twice in the current op map
	places   map[string]int // keys of the current op map and their entries, if there are many
	placed   int            // how many entries have been added to places
	others   []byte
	forgiven error // what is wrong with the :value of the current op map
	suspects suspects
	odd      []suspicion // about the keys of the current op map

	in     io.Reader
	ahead  *ahead // reads ahead of it, unless nil
	rows   Rows
	atOnce int // how many Rows may return
	scouting
}

// NewReader returns a reader of the history in r. Error messages call the
// history file. The values of the events are interned in v.
func NewReader(r io.Reader, file string, v *edn.Values) *Reader {
	reader := &Reader{maps: *edn.NewMaps(r, file, "an op map", v), values: v, in: r, atOnce: 1, opening: ':', around: 1}
	reader.like = &reader.tree
	return reader
}

// First sets how many bytes of the text are read at first; see Maps.Blocks
// for the default. It must be called before Next.
func (r *Reader) First(bytes int) { r.maps.First(bytes) }

// From says that the text begins in a line after an op map, and within a bracket unless that is 0. It must be called before Next.
func (r *Reader) From(line int, opened byte) { r.maps.From(line, opened) }

// Opened returns the bracket around the op maps, 0 if there is none.
func (r *Reader) Opened() byte { return r.maps.Opened() }

// Next reads the next op map into ev. It returns io.EOF at the end, and an
// *edn.Error if the input is not a history. It returns an error of the underlying
// reader with the name of the file. Calls after an error return the same error.
func (r *Reader) Next(ev *Event) error {
	if r.ahead != nil {
		if i, rec := r.chained(); rec != nil {
			r.ahead.found++
			if end := r.take(rec, i, ev); r.maps.Done(end) {
				ev.End = r.maps.Offset(end)
				return nil
			}
		}
	}
	for {
		i, err := r.maps.Next()
		if err != nil {
			return err
		}
		if end := r.op(i, ev); r.maps.Done(end) {
			ev.End = r.maps.Offset(end)
			return nil
		}
	}
}

func (r *Reader) op(i int, ev *Event) int {
	if r.ahead != nil && r.ahead.now != nil {
		if rec := r.recorded(i); rec != nil {
			return r.take(rec, i, ev)
		}
	}
	if r.tree.Root.First != nil {
		if end := r.quick(i, ev); end >= 0 || r.maps.More() {
			return end
		}
	}
	if r.block != nil {
		ev = new(Event)
	}
	return r.general(i, ev)
}

func (r *Reader) general(i int, ev *Event) int {
	r.entries, r.forgiven, r.twice = r.entries[:0], nil, false
	if r.placed > 0 {
		r.places, r.placed = nil, 0
	}
	*ev = Event{}
	ev.Line, ev.Col = r.maps.Place()
	closing := r.maps.Open(i)
	for {
		key, end := r.maps.Key(closing)
		if key == end {
			closing = key
			break
		}
		closing = r.entry(key, end, ev)
	}
	if closing >= 0 && r.twice && r.block == nil && !r.agree() {
		return -1
	}
	end := r.maps.Close(closing)
	if end < 0 {
		return -1
	}
	if isClient := ev.Has&HasProcess == 0 || r.values.Kind(ev.Process) == edn.KindInt; isClient && r.forgiven != nil {
		return r.maps.Refuse(r.forgiven)
	}
	if r.forgiven == nil && r.tree.Known < layouts.Max && !r.twice {
		r.learn(i, closing)
	}
	data := r.maps.Data()
	ev.Text = data[i:end:end]
	if r.twice {
		ev.Text = r.once(i, end)
	}
	r.odd = r.odd[:0]
	for _, e := range r.entries {
		s := suspicion(0)
		if e.has == 0 {
			s = r.suspects.of(data[e.key:e.keyEnd])
		}
		r.odd = append(r.odd, s)
	}
	ev.Misnamed = misnamed(ev.Has, r.odd, func(i int) string { return string(data[r.entries[i].key:r.entries[i].keyEnd]) })
	return end
}

// entry reads the key from key to end in an op map, and its value.
func (r *Reader) entry(key, end int, ev *Event) int {
	if end < 0 {
		return -1
	}
	data := r.maps.Data()
	var dst *edn.ID
	var has Fields
	if data[key] == ':' {
		dst, has = ev.field(data[key+1 : end])
	}
	begin := r.maps.Item(key, end)
	if begin < 0 {
		return -1
	}
	at := begin
	twice := ev.Has&has != 0 || has == 0 && r.first(data[key:end]) >= 0
	switch {
	case twice:
		r.twice = true
		at = r.maps.Skip(at)
	case has == 0 || r.block != nil:
		at = r.maps.Skip(at)
		ev.Has |= has
	case has == HasIndex|hasOtherIndex:
		at = r.index(at, ev)
	case has == HasValue:
		// The nemesis's :value need not be EDN and does not matter.
		ev.Value, at, r.forgiven = r.maps.Lenient(at)
		ev.Has |= has
	default:
		*dst, at = r.maps.Value(at)
		ev.Has |= has
	}
	r.entries = append(r.entries, extent{key, end, begin, at, has, twice})
	return at
}

// first returns the index of the entry of a key in the current op map, or
// -1 if it has not occurred yet.
func (r *Reader) first(key []byte) int {
	data := r.maps.Data()
	if len(r.entries) < manyKeys {
		return slices.IndexFunc(r.entries, func(e extent) bool {
			return e.keyEnd-e.key == len(key) && string(data[e.key:e.keyEnd]) == string(key)
		})
	}
	if len(r.places) == 0 {
		r.places = map[string]int{}
	}
	for ; r.placed < len(r.entries); r.placed++ {
		if e := r.entries[r.placed]; !e.twice {
			r.places[string(data[e.key:e.keyEnd])] = r.placed
		}
	}
	if n, found := r.places[string(key)]; found {
		return n
	}
	return -1
}

// manyKeys is how many keys an op map must have before they are looked up in a map.
const manyKeys = 32

// agree reports whether the duplicate keys of the current op map have equal
// values, and fails if not. Layouts of such op maps are never learned.
func (r *Reader) agree() bool {
	for _, e := range r.entries {
		if !e.twice {
			continue
		}
		key := r.maps.Data()[e.key:e.keyEnd]
		old, at, _ := r.maps.Lenient(r.entries[r.first(key)].value)
		if at < 0 {
			return false
		}
		value, at, _ := r.maps.Lenient(e.value)
		if at >= 0 && r.values.Same(old) != r.values.Same(value) {
			at = r.maps.Fail(e.key, "duplicate key "+string(key))
		}
		if at < 0 {
			return false
		}
	}
	return true
}

// once returns the text of the op map from i to end with each key once, and forgets the
// other entries.
func (r *Reader) once(i, end int) (text []byte) {
	data, from, before := r.maps.Data(), i, i
	for _, e := range r.entries {
		if e.twice {
			text = append(text, data[from:before]...)
			from = e.valueEnd
		}
		before = e.valueEnd
	}
	r.entries = slices.DeleteFunc(r.entries, func(e extent) bool { return e.twice })
	return append(text, data[from:end]...)
}

func (r *Reader) index(i int, ev *Event) int {
	if n, end := r.maps.QuickInt(i); end >= 0 {
		ev.Index, ev.Has = n, ev.Has|HasIndex
		return end
	}
	id, end := r.maps.Value(i)
	if end < 0 {
		return -1
	}
	if n, ok := r.values.Int(id); ok {
		ev.Index, ev.Has = n, ev.Has|HasIndex
	} else {
		ev.Has |= hasOtherIndex
	}
	return end
}

func (ev *Event) field(name []byte) (*edn.ID, Fields) {
	switch string(name) {
	case "type":
		return &ev.Type, HasType
	case "process":
		return &ev.Process, HasProcess
	case "f":
		return &ev.F, HasF
	case "value":
		return &ev.Value, HasValue
	case "index":
		return nil, HasIndex | hasOtherIndex
	case "key":
		return &ev.Key, HasKey
	}
	return nil, 0
}
