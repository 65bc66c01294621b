package porcupine

import (
	"reflect"
	"slices"
	"unsafe"

	theirs "github.com/anishathalye/porcupine"
)

// # What a Verbose check hands over
//
// A LinearizationInfo holds the history in a field that only the library sets, while it checks. Its check of a history under
// a model in which nothing can happen does that, but takes up to eight times as long as our own check of a small history.
// So the field is set here if it is laid out as in the version that we know. In another version the library does it.

// element is laid out as an entry of the library.
type element struct {
	kind     EventKind
	value    any
	id       int
	time     int64
	clientId int
	metadata any
}

// known says where the fields of a LinearizationInfo are that are set here.
var known = func() (at struct {
	history, orders uintptr
	ok              bool
}) {
	info := reflect.TypeFor[LinearizationInfo]()
	history, ok := info.FieldByName("history")
	orders, too := info.FieldByName("partialLinearizations")
	if ok && too && orders.Type == reflect.TypeFor[[][][]int]() && isLikeElements(history.Type) {
		at.history, at.orders, at.ok = history.Offset, orders.Offset, true
	}
	return at
}()

// isLikeElements says whether a type is laid out as [][]element.
func isLikeElements(t reflect.Type) bool {
	ours := reflect.TypeFor[element]()
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Slice || t.Elem().Elem().Kind() != reflect.Struct {
		return false
	}
	t = t.Elem().Elem()
	same := t.NumField() == ours.NumField() && t.Size() == ours.Size()
	for i := range ours.NumField() {
		if same {
			a, b := t.Field(i), ours.Field(i)
			same = a.Name == b.Name && a.Offset == b.Offset && a.Type.Kind() == b.Type.Kind() && (a.Type.Kind() != reflect.Interface || a.Type == b.Type)
		}
	}
	return same
}

// informed returns what a check has found of each partition of a history, with the history.
func informed(history [][]element, found [][][]int) (info LinearizationInfo) {
	if len(history) > 0 {
		*(*[][]element)(unsafe.Add(unsafe.Pointer(&info), known.history)) = history
		*(*[][][]int)(unsafe.Add(unsafe.Pointer(&info), known.orders)) = found
	}
	return info
}

// operationsInfo returns what a check has found of each partition of operations, which it numbers by their places.
func operationsInfo(parts [][]Operation, events [][]Event, found [][][]int) LinearizationInfo {
	if !known.ok {
		shown := showing()
		shown.Partition = func([]Operation) [][]Operation { return parts }
		_, info := theirs.CheckOperationsVerbose(shown, nil, 0)
		copy(info.PartialLinearizations(), found)
		return info
	}
	history := make([][]element, len(parts))
	for i, ops := range parts {
		history[i] = slices.Grow([]element(nil), len(events[i]))
		for _, e := range events[i] {
			o := &ops[e.Id]
			at := o.Call
			if e.Kind == ReturnEvent {
				at = o.Return
			}
			history[i] = append(history[i], element{e.Kind, e.Value, e.Id, at, o.ClientId, o.Metadata})
		}
	}
	return informed(history, found)
}

// eventsInfo returns what a check has found of each partition of events. It numbers operations in the order in which they
// occur.
func eventsInfo(parts [][]Event, found [][][]int) LinearizationInfo {
	if !known.ok {
		shown := showing()
		shown.PartitionEvent = func([]Event) [][]Event { return parts }
		_, info := theirs.CheckEventsVerbose(shown, nil, 0)
		copy(info.PartialLinearizations(), found)
		return info
	}
	history := make([][]element, len(parts))
	for i, events := range parts {
		history[i] = slices.Grow([]element(nil), len(events))
		rows, next := newPlaces(events), int32(0)
		for k, e := range events {
			row, met := rows.get(e.Id)
			if !met {
				row = next
				rows.set(e.Id, row)
				next++
			}
			history[i] = append(history[i], element{e.Kind, e.Value, int(row), int64(k), e.ClientId, e.Metadata})
		}
	}
	return informed(history, found)
}

// showing returns a model under which nothing can happen: it shows a history, and finds nothing.
func showing() Model {
	return Model{Init: func() any { return nil }, Step: func(_, _, _ any) (bool, any) { return false, nil }}
}
