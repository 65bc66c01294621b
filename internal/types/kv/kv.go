package kv

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// Kinds of kv: those of registers, and two more. Before Finish, A is the class of the key.
// B is the class of the value (edn.Nil if there is none), or for CAS a place in the list of
// expected and new values.
const (
	Append      models.Kind = iota + models.FailedCAS + 1 // appends B to the current string
	deleteFound                                           // a value was there, and is gone now
)

// kv reads the operations of a map, each on one key. Its contents decide its model: strings
// that are appended to (kvText), or any values (kvMap), where each key is a register.
type kv struct {
	*kvText // until finish knows more
	values  *kvMap

	fGet, fPut, fAppend, fDelete, fCAS, fPutIfAbsent edn.ID
	rest                                             *edn.ID   // the initial value of a key that is given none, or nil
	fields                                           [7]edn.ID // the keywords of kvFields, in order
	cases                                            [][2]int32
	odd                                              edn.ID // a value that is not a string, Nil if there is none
	likeAnswer, answer                               edn.ID // a value that reads as an answer, and an answer of a get
	appends                                          bool
	keys                                             string // where they are, as Spec.KVKeys says
	sawNil, sawEmpty                                 bool   // by completed gets
	reading                                          models.Traits
}

// Places in fields.
const (
	kvKeyField = iota
	kvValueField
	kvExpectedField
	kvNewField
	kvSucceededField
	kvFoundField
	kvOldField
)

var kvDefinition = models.Definition{
	LooksAhead: true, // a later operation may show whether an absent key reads as the empty string
	Settles:    sawNothing,
	ReadsKeys:  true,
	Name:       "kv", Pairs: true, Fs: ":get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]", About: "values by key",
	Notes:  ":delete -> true if something was there, false if not, nil if that is not told",
	Called: []string{"map", "dict"},

	NilOutputs: []string{"get"},
	Repeating:  []string{"put", "append", "cas", "put-if-absent"},

	Params:  []models.Param{models.ParamFailedCAS, models.ParamKVKeys},
	Default: "{}",
	Record:  "clew.model.KV",
	Infer:   func(s *models.Seen) models.Fit { return models.FitsIf(s.Any(":get", ":put")) },
	New:     newKV,
}

func newKV(b *models.Binding) (models.Reader, error) {
	v, init := b.Values, b.InitID
	m := &kv{
		kvText:       newKVText(b),
		fGet:         v.InternKeyword("get"),
		fPut:         v.InternKeyword("put"),
		fAppend:      v.InternKeyword("append"),
		fDelete:      v.InternKeyword("delete"),
		fCAS:         v.InternKeyword("cas"),
		fPutIfAbsent: v.InternKeyword("put-if-absent"),
		keys:         b.Spec.KVKeys,
	}
	for i, name := range [...]string{"key", "value", "expected", "new", "succeeded", "found", "old"} {
		m.fields[i] = v.InternKeyword(name)
	}
	m.reading = models.Traits{Survey: m.survey, Finish: m.finish, Settle: m.settle, Opening: m.opening, Refused: m.refused}
	if init == nil {
		return m, nil
	}
	each, rest, ok := b.PerKey()
	if !ok {
		return nil, home.BadInit(b, `a map such as {"k" "v"}, or {:default "v"}`)
	}
	if rest != nil {
		m.note(*rest)
		m.rest = rest
	}
	for kvs := each; len(kvs) > 0; kvs = kvs[2:] {
		m.note(kvs[1])
		m.Initial = home.Set1(m.Initial, m.Class(kvs[0]), m.Class(kvs[1]))
	}
	return m, nil
}

// Traits implements Model. Once it is settled, its model has others.
func (m *kv) Traits() *models.Traits { return &m.reading }

func (m *kv) knows(f edn.ID) bool {
	return f == m.fGet || f == m.fPut || f == m.fAppend || f == m.fDelete || f == m.fCAS || f == m.fPutIfAbsent
}

// kvFields are the parts of an operation, in whichever form it was written.
type kvFields struct {
	key, value, old, new edn.ID
	pair                 bool   // old and new were told
	refused              bool   // :succeeded is false
	answer               edn.ID // whether it succeeded, or found something: True, False, or Nil if it is not told
}

func (m *kv) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if !m.knows(o.FID) {
		return op, false, models.ErrUnknownF
	}
	failed, crashed := o.Status == jepsen.Failed, o.Status == jepsen.Crashed
	if failed && o.FID != m.fCAS {
		return op, false, nil
	}
	x, err := m.parts(o)
	if err != nil {
		return op, false, err
	}
	op.A = m.Class(x.key)
	switch o.FID {
	case m.fGet:
		op.Kind = models.Read
		return m.readGet(op, x, crashed)
	case m.fDelete:
		op.Kind, op.B = models.Write, int32(edn.Nil)
		switch x.answer {
		case edn.False:
			op.Kind = models.Read
		case edn.True:
			op.Kind = deleteFound
		}
		return op, !crashed || op.Kind == models.Write, nil
	case m.fCAS, m.fPutIfAbsent:
		if o.FID == m.fPutIfAbsent {
			x.old, x.new, x.pair = edn.Nil, x.value, true
		}
		if !x.pair {
			return op, false, fmt.Errorf("expected [old new], found %s", m.V.Text(x.value))
		}
		return m.readCAS(op, x, failed || x.refused || x.answer == edn.False)
	case m.fAppend:
		op.Kind = Append
		if m.V.Kind(x.value) != edn.KindString {
			return op, false, fmt.Errorf("expected a string, found %s", m.V.Text(x.value))
		}
		m.appends = true
		if m.odd != edn.Nil {
			return op, false, fmt.Errorf("only strings can be appended to, and the value is %s", m.V.Text(m.odd))
		}
	default:
		op.Kind = models.Write
	}
	op.B, err = m.class(x.value)
	return op, true, err
}

// sawNothing says whether an operation is a get that returned nil. Then an absent key does not read as the empty
// string, unless something is appended later. So what has to do with that string is open.
func sawNothing(o models.Operation) (settles, open bool) {
	v := o.Values
	if open = holdsEmpty(v, o.ValueID) || holdsEmpty(v, o.GivenID); open || o.F() != "get" || o.Status != jepsen.Succeeded {
		return false, open
	}
	if kind := v.Kind(o.ValueID); kind == edn.KindVector || kind == edn.KindList {
		given, items := v.Items(o.GivenID), v.Items(o.ValueID)
		return len(items) == 2 && len(given) == 2 && v.Same(items[0]) == v.Same(given[0]) && items[1] == edn.Nil, false
	}
	return o.ValueID == edn.Nil, false
}

// holdsEmpty says whether a value is or holds the empty string.
func holdsEmpty(v *edn.Values, value edn.ID) bool {
	if v.Kind(value) == edn.KindString {
		return v.Str(value) == ""
	}
	return slices.ContainsFunc(v.Items(value), func(item edn.ID) bool { return holdsEmpty(v, item) })
}

func (m *kv) readGet(op models.Op, x kvFields, crashed bool) (models.Op, bool, error) {
	if crashed {
		return op, false, nil
	}
	switch {
	case x.answer == edn.False:
		x.value = edn.Nil
	case x.answer == edn.True && x.value == edn.Nil:
		return op, false, fmt.Errorf("expected the value that was found, found nil")
	}
	class, err := m.class(x.value)
	op.B = class
	if m.answer != edn.Nil && m.likeAnswer != edn.Nil && err == nil {
		err = fmt.Errorf("expected values that do not read as answers such as %s, found the value %s", m.V.Text(m.answer), m.V.Text(m.likeAnswer))
	}
	m.sawNil = m.sawNil || x.answer != edn.Nil || x.value == edn.Nil
	m.sawEmpty = m.sawEmpty || m.V.Kind(x.value) == edn.KindString && m.V.Str(x.value) == ""
	return op, true, err
}

// readCAS reads a cas from old to new. If it was refused, it saw another value than old.
func (m *kv) readCAS(op models.Op, x kvFields, refused bool) (models.Op, bool, error) {
	from, err := m.class(x.old)
	if err != nil {
		return op, false, err
	}
	to, err := m.class(x.new)
	if refused {
		op.Kind, op.B = models.FailedCAS, from
		return op, true, err
	}
	if last := len(m.cases) - 1; last < 0 || m.cases[last] != [2]int32{from, to} {
		m.cases = append(m.cases, [2]int32{from, to})
	}
	op.Kind, op.B = models.CAS, int32(len(m.cases)-1)
	return op, true, err
}

// note remembers a value that is not a string, and one that may be an answer.
func (m *kv) note(value edn.ID) {
	k := m.V.Kind(value)
	if k != edn.KindString && k != edn.KindNil && m.odd == edn.Nil {
		m.odd = value
	}
	if k == edn.KindMap && m.isAnswer(m.fGet, value) {
		m.likeAnswer = value
	}
}

// class returns the class of a value. If strings are appended, all values must be strings.
func (m *kv) class(value edn.ID) (int32, error) {
	if m.note(value); m.appends && m.odd != edn.Nil {
		return 0, fmt.Errorf("expected a string, found %s", m.V.Text(value))
	}
	return m.Class(value), nil
}

// parts splits an operation: the key is its :key, the first of [key value], or the :key of
// a map. If there is none, the key is nil, and all operations are about it. It is an error
// if a value can only be a key but is not given as one, or if the completion has another
// key.
func (m *kv) parts(o models.Operation) (kvFields, error) {
	given, value, key := o.GivenID, o.ValueID, o.KeyID
	switch items := m.V.Items(given); {
	case m.keys != "" && m.isNamed(o):
		return kvFields{}, fmt.Errorf("expected no :key, found %s", m.V.Text(cmp.Or(key, given)))
	case key != edn.Nil:
	case m.isNamed(o):
		key, _ = m.V.Get(given, m.fields[kvKeyField])
	case m.several(o.FID, given) && !(m.keys == models.KVKeysNone && m.V.Same(given) == m.V.Same(value)):
		return kvFields{}, fmt.Errorf("expected one key, found %s; for several keys at once use multi-register", m.V.Text(given))
	case m.isPair(given) && m.keys != models.KVKeysNone:
		key = items[0]
		if m.isPair(value) && m.V.Same(m.V.Items(value)[0]) == m.V.Same(key) {
			value = m.V.Items(value)[1]
		} else if value != edn.True && value != edn.False {
			return kvFields{}, fmt.Errorf("expected [%s value], found %s", m.V.Text(key), m.V.Text(value))
		}
		given = items[1]
	case m.mayBeKey(o):
		return kvFields{}, fmt.Errorf("expected a :key or [key value], found %s", m.V.Text(given))
	case m.keys == models.KVKeysPairs:
		return kvFields{}, fmt.Errorf("expected [key value], found %s", m.V.Text(given))
	}
	if completed := o.CompletedKey(); completed != edn.Nil && m.V.Same(completed) != m.V.Same(key) {
		return kvFields{}, fmt.Errorf("expected the key of its invocation, %s, found %s", m.V.Text(key), m.V.Text(completed))
	}
	x := kvFields{key: key}
	inMap := o.KeyID == edn.Nil && m.isMap(o.GivenID) && m.has(o.GivenID, m.fields[kvKeyField])
	if err := m.take(&x, o.FID, given, inMap, o.FID == m.fCAS); err != nil {
		return x, err
	}
	if inMap && (o.FID == m.fPut || o.FID == m.fPutIfAbsent || o.FID == m.fAppend) && !m.has(given, m.fields[kvValueField]) {
		return x, m.needsValue(given)
	}
	if o.Status != jepsen.Succeeded {
		return x, nil
	}
	if m.V.Same(value) != m.V.Same(given) {
		x.answer, x.refused = edn.Nil, false // the completion says what came of it
	}
	if (value == edn.True || value == edn.False) && given != value && o.FID != m.fGet && o.FID != m.fPut {
		x.answer = value // of a delete, a cas or a put-if-absent
		return x, nil
	}
	asked := x.value
	if o.FID == m.fGet {
		x.value = edn.Nil // its argument is not what it found
	}
	if o.FID == m.fGet || m.V.Same(value) != m.V.Same(given) {
		if err := m.take(&x, o.FID, value, inMap, true); err != nil {
			return x, err
		}
	}
	if other, told := m.V.Get(value, m.fields[kvKeyField]); inMap && m.isMap(value) && told && m.V.Same(other) != m.V.Same(key) {
		return x, fmt.Errorf("expected the key of its invocation, %s, found %s", m.V.Text(key), m.V.Text(other))
	}
	if inMap && o.FID == m.fGet && m.isMap(value) && x.answer == edn.Nil && !m.has(value, m.fields[kvValueField]) {
		return x, m.needsValue(value)
	}
	return x, m.contradiction(o.FID, asked, value, x)
}

func (m *kv) needsValue(id edn.ID) error {
	return fmt.Errorf("expected {:key k :value v}, found no :value in %s", m.V.Text(id))
}

// contradiction returns an error if a completion contradicts its own operation. Then an
// update without another outcome did not happen, a put put nothing, or a get found nothing
// and a value. It is also an error if the completion of a delete or a cas cannot be read.
func (m *kv) contradiction(f, asked, value edn.ID, x kvFields) error {
	puts := f == m.fPut || f == m.fPutIfAbsent
	other := x.value != edn.Nil && m.V.Same(x.value) != m.V.Same(asked)
	switch {
	case x.answer != edn.Nil && x.answer != edn.True && x.answer != edn.False:
		return fmt.Errorf("expected true or false for :succeeded and :found, found %s", m.V.Text(value))
	case x.refused && (f == m.fPut || f == m.fAppend || f == m.fDelete):
		return fmt.Errorf("expected an update that succeeded, found %s; a failed one must end in :fail", m.V.Text(value))
	case puts && asked != edn.Nil && x.value == edn.Nil:
		return fmt.Errorf("expected %s, as its invocation says, found %s", m.V.Text(asked), m.V.Text(value))
	case f == m.fGet && x.answer == edn.False && x.value != edn.Nil && !(m.V.Kind(x.value) == edn.KindString && m.V.Str(x.value) == ""):
		return fmt.Errorf("expected no value with :found false, found %s", m.V.Text(value))
	case other && f == m.fDelete:
		return fmt.Errorf("expected true or false, whether something was there, or nil, found %s", m.V.Text(value))
	case other && f == m.fCAS && !m.isPair(x.value):
		return fmt.Errorf("expected true, false or [old new], found %s", m.V.Text(value))
	case other && f != m.fGet && x.value == value && m.isMap(value) && (m.has(value, m.fields[kvSucceededField]) || m.has(value, m.fields[kvFoundField])):
		return fmt.Errorf("expected :found, :succeeded and :value alone, true or false, found %s", m.V.Text(value))
	}
	return nil
}

// take reads a value, or the fields of a map. In a history whose keys are in maps (inMap),
// every map has fields. Elsewhere a map is a value, except that a completion (or a cas) may
// be a map of answers and nothing else.
func (m *kv) take(x *kvFields, f, id edn.ID, inMap, answers bool) error {
	switch {
	case !m.isMap(id), !inMap && !(answers && m.isAnswer(f, id)):
		x.value = id
		m.takePair(x, id)
		return nil
	case inMap:
		if err := m.misnamed(f, id); err != nil {
			return err
		}
	case f == m.fGet:
		m.answer = id
	}
	for i, to := range []*edn.ID{nil, &x.value, &x.old, &x.new, &x.answer, &x.answer, &x.old} {
		if value, ok := m.V.Get(id, m.fields[i]); ok && to != nil {
			*to = value
			x.pair = x.pair || to == &x.old
		}
	}
	if has := func(field int) bool { return m.has(id, m.fields[field]) }; has(kvExpectedField) && has(kvOldField) || has(kvNewField) != (has(kvExpectedField) || has(kvOldField)) {
		return fmt.Errorf("expected :expected and :new, found %s", m.V.Text(id))
	}
	if succeeded, told := m.V.Get(id, m.fields[kvSucceededField]); told {
		x.refused = succeeded == edn.False
		if f == m.fCAS || f == m.fPutIfAbsent || succeeded != edn.True && !x.refused {
			x.answer = succeeded // whatever it found; contradiction refuses what is neither true nor false
		}
	}
	if !x.pair {
		m.takePair(x, x.value)
	}
	return nil
}

func (m *kv) takePair(x *kvFields, id edn.ID) {
	if m.isPair(id) {
		items := m.V.Items(id)
		x.old, x.new, x.pair = items[0], items[1], true
	}
}

// field returns the place of a map's key in m.fields, or -1.
func (m *kv) field(key edn.ID) int { return slices.Index(m.fields[:], m.V.Same(key)) }

// ofCAS says whether only a cas has a field.
func ofCAS(field int) bool {
	return field == kvExpectedField || field == kvOldField || field == kvNewField
}

// misnamed returns an error if a map has a key that its operation does not know.
func (m *kv) misnamed(f, id edn.ID) error {
	for kvs := m.V.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		if i := m.field(kvs[0]); i < 0 || ofCAS(i) && f != m.fCAS {
			return fmt.Errorf("expected {:key k :value v}, perhaps with :found or :succeeded, found %s in %s", m.V.Text(kvs[0]), m.V.Text(id))
		}
	}
	return nil
}

// isAnswer says whether a map tells only what came of an operation. That is :found or
// :succeeded, true or false, and the value. A cas may have its two values in a map.
func (m *kv) isAnswer(f, id edn.ID) bool {
	told := false
	for kvs := m.V.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		switch i := m.field(kvs[0]); {
		case (i == kvSucceededField || i == kvFoundField) && (kvs[1] == edn.True || kvs[1] == edn.False), ofCAS(i) && f == m.fCAS:
			told = true
		case i != kvValueField:
			return false
		}
	}
	return told
}

func (m *kv) isMap(id edn.ID) bool { return m.V.Kind(id) == edn.KindMap }

func (m *kv) has(id, key edn.ID) bool {
	_, ok := m.V.Get(id, key)
	return ok
}

// isPair says whether a value is a sequence of two.
func (m *kv) isPair(id edn.ID) bool {
	_, _, ok := m.Pair(id)
	return ok
}

// isNamed says whether an operation has a :key.
func (m *kv) isNamed(o models.Operation) bool {
	return o.KeyID != edn.Nil || m.isMap(o.GivenID) && m.has(o.GivenID, m.fields[kvKeyField])
}

// mayBeKey says whether a get or a delete without a key has an argument that can hardly be
// anything but a key. For a get, that is a value that it did not return. For a delete, it
// is any value but true and false.
func (m *kv) mayBeKey(o models.Operation) bool {
	if o.GivenID == edn.Nil || m.isMap(o.GivenID) && o.FID != m.fDelete {
		return false
	}
	if o.FID == m.fDelete {
		return o.GivenID != edn.True && o.GivenID != edn.False
	}
	return o.FID == m.fGet && o.Status == jepsen.Succeeded && m.V.Same(o.GivenID) != m.V.Same(o.ValueID)
}

// several says whether the invocation of a get holds several keys: a set, a sequence that
// is not a pair, or pairs.
func (m *kv) several(f, given edn.ID) bool {
	switch m.V.Kind(given) {
	case edn.KindSet, edn.KindMap:
		return f == m.fGet
	case edn.KindVector, edn.KindList:
		items := m.V.Items(given)
		return f == m.fGet && (len(items) != 2 || items[1] != edn.Nil)
	}
	return false
}

// begin gives the keys of the operations their initial value, where only that of all keys is given.
func (m *kv) begin(c *models.Columns) {
	if m.rest == nil {
		return
	}
	keys := slices.Clone(c.A)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var all models.State
	for _, key := range keys {
		all = append(all, key, home.At1(m.Initial, key, m.Class(*m.rest)))
	}
	for i := 0; i < len(m.Initial); i += 2 { // keys that no operation has
		if _, found := slices.BinarySearch(keys, m.Initial[i]); !found {
			all = home.Change1(all, m.Initial[i], m.Initial[i+1])
		}
	}
	m.Initial = all
}

// finish replaces the classes of the operations by the numbers of the model that the map
// turned out to be.
func (m *kv) finish(c *models.Columns) (models.Row, error) {
	m.appends = m.appends || slices.Contains(c.Kind, Append)
	absent := edn.Nil
	if m.sawEmpty && !m.sawNil {
		absent = m.V.InternString("")
	}
	number := m.numberIn
	m.begin(c)
	if !m.appends {
		m.values = newKVMap(m.Base, absent)
		m.values.deletes = slices.Contains(c.Kind, deleteFound)
	}
	for i := range c.Kind {
		switch key := c.A[i]; {
		case m.appends && c.Kind[i] == models.CAS:
			pair := m.cases[c.B[i]]
			m.args = append(m.args, [2]int32{number(pair[0]), number(pair[1])})
			c.B[i] = int32(len(m.args) - 1)
		case m.appends:
			c.B[i] = number(c.B[i])
		case c.Kind[i] == models.CAS:
			pair := m.cases[c.B[i]]
			c.A[i], c.B[i] = m.values.pair(key, pair[0]), m.values.pair(key, pair[1])
		default:
			c.A[i], c.B[i] = m.values.pair(key, c.B[i]), 0
		}
	}
	if m.appends {
		for i := 1; i < len(m.Initial); i += 2 {
			m.Initial[i] = number(m.Initial[i])
		}
		m.show(c)
	}
	return 0, nil
}

// refused says whether an operation is a cas or a put-if-absent that did nothing. Its answer
// does not replace its values.
func (m *kv) refused(op models.Op) bool { return op.Kind == models.FailedCAS }

func (m *kv) settle() models.Model {
	if m.values != nil {
		return m.values
	}
	return m.kvText
}

// whyNot says why an operation with a value, or from one to another, cannot happen with the
// current value.
func whyNot(kind models.Kind, now, value, to string) string {
	absent := value == "nil" // as a :put-if-absent expects
	switch {
	case kind == models.CAS && absent:
		return "can't put " + to + " if absent: " + now + " is there"
	case kind == models.CAS:
		return "can't CAS " + now + " from " + value + " to " + to
	case kind == models.FailedCAS && absent:
		return "can't be refused: nothing is there"
	case kind == models.FailedCAS:
		return "CAS from " + value + " can't fail with " + now
	case kind == deleteFound:
		return "there is nothing to be deleted; a :delete that always returns true should complete with nil"
	}
	return now + "≠" + value
}

// kvOpening is the Opening of kv. A string may also be made from strings that were
// appended.
type kvOpening struct {
	*home.Places
	m            *kv
	puts, pieces map[int32][]string // by key: the strings that calls were to put, and to append
	work         int
}

// maxJoined bounds the work to find out whether strings are made from others.
const maxJoined = 1 << 22

// opening takes operations as Read returns them, before finish.
func (m *kv) opening() models.Opening {
	o := &kvOpening{m: m, puts: map[int32][]string{}, pieces: map[int32][]string{}}
	o.Places = home.NewPlaces(home.Places{Shows: o.shows, Leaves: o.leaves, Start: o.start, Before: o.joined})
	return o
}

func (o *kvOpening) shows(dst []models.Cell, op models.Op) []models.Cell {
	switch op.Kind {
	case models.Read:
		dst = append(dst, models.Cell{Place: op.A, Value: op.B})
	case models.CAS:
		dst = append(dst, models.Cell{Place: op.A, Value: o.m.cases[op.B][0]})
	}
	return dst
}

func (o *kvOpening) leaves(dst []models.Cell, op models.Op) []models.Cell {
	switch op.Kind {
	case models.Write, Append:
		dst = append(dst, models.Cell{Place: op.A, Value: op.B})
	case models.CAS:
		if x := o.m.cases[op.B]; x[0] != x[1] {
			dst = append(dst, models.Cell{Place: op.A, Value: x[1]})
		}
	}
	return dst
}

// Call implements Opening.
func (o *kvOpening) Call(i jepsen.Operation, op models.Op, status jepsen.Status) {
	o.Places.Call(i, op, status)
	for _, cell := range o.Scratch {
		if v := o.m.V; v.Kind(edn.ID(cell.Value)) != edn.KindString || v.Str(edn.ID(cell.Value)) == "" {
			continue
		}
		to := o.puts
		if op.Kind == Append {
			to = o.pieces
		}
		to[cell.Place] = append(to[cell.Place], o.m.V.Str(edn.ID(cell.Value)))
	}
}

// joined says whether a string may be one that was put, or nothing, followed by pieces that
// were appended. It says true if finding out takes too much work.
func (o *kvOpening) joined(cell models.Cell) bool {
	pieces := o.pieces[cell.Place]
	if len(pieces) == 0 || o.m.V.Kind(edn.ID(cell.Value)) != edn.KindString {
		return false
	}
	whole := o.m.V.Str(edn.ID(cell.Value))
	if o.work += (len(whole)+1)*len(pieces) + len(o.puts[cell.Place]); o.work > maxJoined {
		return true
	}
	made := make([]bool, len(whole)+1) // by length: whether that beginning may have been there
	made[0] = true
	for _, put := range o.puts[cell.Place] {
		if strings.HasPrefix(whole, put) {
			made[len(put)] = true
		}
	}
	for n, is := range made {
		for _, piece := range pieces {
			if is && strings.HasPrefix(whole[n:], piece) {
				made[n+len(piece)] = true
			}
		}
	}
	return made[len(whole)]
}

func (o *kvOpening) start(cells []models.Cell) []edn.ID {
	v := o.m.V
	if o.m.appends || o.m.sawEmpty && !o.m.sawNil { // then "" says that nothing is there
		cells = slices.DeleteFunc(slices.Clone(cells), func(cell models.Cell) bool {
			return v.Kind(edn.ID(cell.Value)) == edn.KindString && v.Str(edn.ID(cell.Value)) == ""
		})
	}
	return home.MapOf(v, cells, func(key int32) edn.ID { return edn.ID(key) })
}
