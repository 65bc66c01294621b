package diagnosis

import (
	"slices"
	"time"
)

// Arrivals remembers by the clock when events came, so as to tell how old the oldest is that has not been judged. It
// remembers a few: the answer is too early by as much as passes between two calls of Note.
type Arrivals struct{ came []arrival }

type arrival struct {
	place int64
	at    time.Time
}

// mostArrivals bounds what is remembered: if there is more, half of it is forgotten.
const mostArrivals = 1024

// Note notes that an event came now. Places ascend.
func (a *Arrivals) Note(place int64, now time.Time) {
	if len(a.came) == mostArrivals {
		for i := range mostArrivals / 2 {
			a.came[i] = a.came[2*i]
		}
		a.came = a.came[:mostArrivals/2]
	}
	a.came = append(a.came, arrival{place, now})
}

// Since returns about when an event came, and forgets what was earlier. It returns the zero time if that is not known.
func (a *Arrivals) Since(place int64) time.Time {
	i, found := slices.BinarySearchFunc(a.came, place, func(x arrival, place int64) int { return int(x.place - place) })
	if !found {
		i--
	}
	if i < 0 {
		return time.Time{}
	}
	a.came = slices.Delete(a.came, 0, i)
	return a.came[0].at
}
