package opmap

import (
	"encoding/binary"
	"math"
	"slices"

	"clew/edn"
	"clew/internal/digits"
)

// A Row is an op map that is like others, has a :type, :process, :f and :value and none of the keys
// that need a closer look, and stands on lines of its own. Its process is an integer.
type Row struct {
	Type, Process, F, Value edn.ID
	HasIndex                bool
	layout                  uint8
	size                    uint16 // of the other values in text; 0: there is none, or other is it
	Index                   int64
	other                   int64 // where the text begins, or the value of the only other key
}

// Rows are op maps on the lines from one on. They are valid until the next call of a method of their Reader.
type Rows struct {
	All    []Row
	Line   int   // of the first
	Begin  int64 // its offset in the text
	steps  []*step
	others []byte
	of     *Reader
	end    int
}

// First returns the first n rows, or all if there are fewer.
func (r *Rows) First(n int) *Rows {
	first := *r
	first.All = r.All[:min(n, len(r.All))]
	return &first
}

// End returns the offset after the first n rows, of which there must be one.
func (r *Rows) End(n int) int64 { return r.of.maps.Offset(r.of.after(n)) }

// after returns where the first n rows end.
func (r *Reader) after(n int) int {
	if n < len(r.rows.All) {
		return r.ahead.base + int(r.ahead.now.records[r.ahead.next+n].begin)
	}
	return r.rows.end
}

// mostRows is how many op maps there are at once: they should stay in a core's cache.
const mostRows = 256

// Rows returns the next op maps, as long as they can be rows. Those taken by Take are read then; Next
// reads the others, and everything that cannot be a row.
func (r *Reader) Rows() *Rows {
	rows := &r.rows
	rows.All, rows.of = rows.All[:0], r
	if r.ahead == nil {
		return rows
	}
	if cap(rows.All) == 0 {
		rows.All = make([]Row, 0, mostRows)
	}
	i, rec := r.chained()
	if line, col := r.maps.Place(); rec != nil && col == 1 {
		rows.Line, rows.Begin = line, r.maps.Offset(i)
		r.found(rows, i)
	}
	return rows
}

// found fills rows with the op maps from the one at i on.
func (r *Reader) found(rows *Rows, at int) {
	a, maps, values := r.ahead, &r.maps, r.values
	b, raws := a.now, &a.now.raws
	raws.In(values)
	others := a.others
	records := b.records[a.next:min(a.next+r.atOnce, len(b.records))]
	var last, own *step
	for k := range records {
		rec := &records[k]
		if next := b.steps[rec.last]; next != last {
			last, own = next, b.scout.own(next, &r.tree)
		}
		about, typ, f := &last.About, raws.Known(edn.ID(rec.typ)), raws.Known(edn.ID(rec.f))
		if a.base+int(rec.begin) != at || rec.lines != lineEndBehind || !about.row || own == nil || typ == edn.Nil || f == edn.Nil {
			break
		}
		rows.All = rows.All[:k+1]
		row := &rows.All[k]
		row.Type, row.F, row.HasIndex, row.Index = typ, f, about.all&HasIndex != 0, rec.index
		row.layout, row.size, row.other = uint8(own.Number), rec.others, rec.other
		if rec.others > 0 {
			row.other = int64(others)
			others += int(rec.others)
		}
		if about.plain == processFirst {
			row.Process = values.InternInt(rec.process)
		}
		if n, is := rec.value.Int(); is {
			row.Value = values.InternInt(n)
		} else if row.Value, is = maps.Intern(rec.value, raws, a.base); !is {
			rows.All = rows.All[:k]
			break
		}
		if about.plain == valueFirst {
			row.Process = values.InternInt(rec.process)
		}
		at += int(rec.size) + 1
	}
	rows.end, rows.steps, rows.others = at, r.tree.All, b.others
}

// Take says that the first n rows have been read. If these are not all, the next ones will be fewer.
func (r *Reader) Take(n int) {
	a := r.ahead
	r.atOnce = min(2*r.atOnce, mostRows)
	if n < len(r.rows.All) {
		r.atOnce = min(2*n+1, mostRows)
	}
	if n == 0 {
		return
	}
	a.found += n
	a.taken += n
	end := r.after(n)
	a.pass(n)
	r.maps.Passed(end, n)
}

// alike scans the op map at i and those after it, each on a line of its own, as long as they
// are like others and hold only what is quick to read. It returns where it stopped.
func (r *Reader) alike(i int) int {
	for b := r.block; ; {
		n := len(b.records)
		if n == cap(b.records) {
			b.records = slices.Grow(b.records, max(n, enoughFound))
		}
		rec := &b.records[:n+1][n]
		end := r.line(i, rec)
		if end < 0 {
			return i
		}
		b.records = b.records[:n+1]
		if r.tree.All[rec.last].About.all&HasKey != 0 {
			b.keys = append(b.keys, r.key)
		}
		i = end
	}
}

// line scans the op map at i, and the line end after it. It returns -1 if the op map is not like
// others, or if scout must look at it. It finds the same as quick. No function is called for the
// most common values: the call would take as long as the rest.
func (r *Reader) line(i int, rec *record) int {
	maps, data, at, step, f := &r.maps, r.block.text, i, &r.like.Root, edn.Nil
	for {
		if at+32 > len(data) {
			return -1
		}
		if next := step.First; next != nil && next.Is(word(data, at), word(data, at+8)) {
			step = next
		} else if step = step.After(data, at); step == nil {
			return -1
		}
		at += step.Size
		if at+16 > len(data) {
			return -1
		}
		w := word(data, at)
		if step.About.hole >= typeHole {
			if step.About.hole == noHole {
				break
			}
			id, k := maps.Glance(w>>8 | uint64(data[at+8])<<56)
			if k > 0 && byte(w) == r.opening {
				at += k + r.around
			} else if id, at = r.keyword(at); at < 0 {
				return -1
			}
			if id > math.MaxUint16 {
				return -1
			}
			if step.About.hole == typeHole {
				rec.typ = uint16(id)
			} else {
				rec.f, f = uint16(id), id
			}
			continue
		}
		k := digits.Leading(w)
		if byte(w) == '0' && k != 1 {
			return -1
		}
		number := int64(digits.Value(w, k))
		if k == 8 {
			w = word(data, at+8)
			more := digits.Leading(w)
			if more == 8 {
				return -1
			}
			number = number*digits.Powers[more] + int64(digits.Value(w, more))
			k += more
		}
		at += k
		switch hole := step.About.hole; {
		case hole == valueHole || hole == keyHole:
			raw := edn.RawInt(number)
			if k == 0 {
				if raw, at = r.value(at, f); at < 0 {
					return -1
				}
			}
			if hole == valueHole {
				rec.value = raw
			} else {
				r.key = raw
			}
		case k == 0:
			return -1
		case hole == indexHole:
			rec.index = number
		case hole == processHole:
			rec.process = number
		default:
			rec.other = number
		}
	}
	if data[at] != '\n' || at-i > math.MaxUint16 || step.About.others > 1 {
		return -1
	}
	rec.begin, rec.size, rec.others, rec.last, rec.lines = int32(i), uint16(at-i), 0, uint8(step.About.last), lineEndBehind
	return at + 1
}

// value scans a value that is not an integer, of an op with the :f f. It must not have a line end within.
func (r *Reader) value(i int, f edn.ID) (edn.Raw, int) {
	if r.syntax != nil {
		return r.syntax.Value(&r.maps, i, f)
	}
	raw, end, simple := r.maps.QuickScan(i)
	if !simple {
		return 0, -1
	}
	return raw, end
}

// word returns the 8 bytes from i on, in little-endian order.
func word(data []byte, i int) uint64 { return binary.LittleEndian.Uint64(data[i : i+8 : i+8]) }
