package forget

import (
	"context"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// Behind returns the greatest number of versions that a read of a register was behind, and that read. It counts the updates
// that began after the value that was read had certainly been there, and that had certainly happened before the read began.
// An update has certainly happened once it has returned, or an operation has that saw its value. The initial value was
// there before everything. A cas is also a read of the value that it replaced.
//
// Ages.Of says the same in one pass, of what it remembers, but for updates that never returned.
//
// It returns false if the operations are not those of a register, or if a value that was seen was left more than once. It
// also does if the context ends early. It takes O(n log n) time.
func Behind(ctx context.Context, part *models.Operations) (versions int, read jepsen.Operation, known bool) {
	update := updates(part.Model)
	if update == nil || !part.Model.Traits().IsRegister {
		return 0, jepsen.None, false
	}
	b := behind{Operations: part, ctx: ctx, update: update, happened: map[int32]int32{part.Model.Init()[0]: -1}}
	if !b.look() {
		return 0, jepsen.None, false
	}
	versions, row := b.most()
	if row < 0 {
		return 0, jepsen.None, true
	}
	return versions, part.Of[row], true
}

type behind struct {
	*models.Operations
	ctx      context.Context
	update   func(op models.Op) (value int32, ok bool)
	happened map[int32]int32 // by value that was seen or there first: the event by which it certainly had been there
	reads    []models.Row    // that returned
	writes   []dated
}

// dated is an update that has certainly happened by an event.
type dated struct{ began, happened int32 }

// look finds when each update certainly had happened. It returns false if a value that was seen was left more than once.
func (b *behind) look() bool {
	seen := map[int32]int32{} // by value: the first return of an operation that saw it
	for row, res := range b.Res {
		if row%4096 == 0 && b.ctx.Err() != nil {
			return false
		}
		op := b.Op(models.Row(row))
		if res == models.Open || op.Kind == models.Write {
			continue
		}
		b.reads = append(b.reads, models.Row(row))
		if first, any := seen[op.A]; !any || res < first {
			seen[op.A] = res
		}
	}
	for row, res := range b.Res {
		if row%4096 == 0 && b.ctx.Err() != nil {
			return false
		}
		value, updates := b.update(b.Op(models.Row(row)))
		if !updates {
			continue
		}
		first, isSeen := seen[value]
		if _, again := b.happened[value]; again && isSeen {
			return false
		}
		if isSeen {
			res = min(res, first)
			b.happened[value] = res
		}
		if res != models.Open {
			b.writes = append(b.writes, dated{b.Inv[row], res})
		}
	}
	return true
}

// most returns the read that is the most versions behind. Updates are added in the order in which they happened, up to the
// beginning of each read, and those that began late enough are counted.
func (b *behind) most() (versions int, read models.Row) {
	slices.SortFunc(b.writes, func(x, y dated) int { return int(x.happened - y.happened) })
	slices.SortFunc(b.reads, func(x, y models.Row) int { return int(b.Inv[x] - b.Inv[y]) })
	began := make([]int32, len(b.writes))
	for i, w := range b.writes {
		began[i] = w.began
	}
	slices.Sort(began)
	late, next := make(sums, len(began)+1), 0
	read = -1
	for _, row := range b.reads {
		for ; next < len(b.writes) && b.writes[next].happened < b.Inv[row]; next++ {
			at, _ := slices.BinarySearch(began, b.writes[next].began)
			late.add(at)
		}
		there, known := b.happened[b.A[row]]
		if !known {
			continue // nothing wrote it
		}
		at, _ := slices.BinarySearch(began, there+1)
		if n := next - late.before(at); n > versions {
			versions, read = n, row
		}
	}
	return versions, read
}

// sums counts numbers below another one (a Fenwick tree).
type sums []int32

func (s sums) add(number int) {
	for i := number + 1; i < len(s); i += i & -i {
		s[i]++
	}
}

func (s sums) before(number int) (n int) {
	for i := number; i > 0; i -= i & -i {
		n += int(s[i])
	}
	return n
}
