package register

import "clew/models"

// # What is certain of a versioned register
//
// Decides which operations stand before all others just before an event, at which nothing has failed. Cost: linear in
// the operations, and times the operations that have not returned for gaps.
//
// Precondition: everything that has returned says its version.
//
// Let t be the first invocation of those that will return, and V a version that an operation says that returned before t.
// So whatever returns later has V or a later version. Let what made each version up to V be known: an update that has
// returned, or the only one that can have left the value that is known of it. Then these updates and the reads of
// versions up to V that have returned are the first ones in each linearization of what comes later, as versions order
// them, and all others come after them, except later reads of V. Those may come after them, too.

// VersionsBefore returns the operations that stand before all others just before an event, at which nothing has failed,
// and the version and value that they lead to. It returns false if that is not known.
func VersionsBefore(c *models.Columns, shape models.VersionsShape, event int32) (done []bool, version, value int32, ok bool) {
	s := versionsPast{Columns: c, VersionsShape: shape, event: event}
	if !s.read() {
		return nil, 0, 0, false
	}
	version, value = s.First, s.Value
	for v := s.First + 1; v <= s.latest; v++ {
		next, known := s.update(v)
		if !known {
			break
		}
		version, value = v, next
	}
	done = make([]bool, c.Len())
	for row, res := range c.Res {
		done[row] = res < event && c.A[row]-1 <= version
	}
	for _, row := range s.fill[:version-s.First] {
		done[row] = true
	}
	return done, version, value, true
}

// versionsPast is what is known of a versioned register just before an event.
type versionsPast struct {
	*models.Columns
	models.VersionsShape
	event  int32
	latest int32 // V
	// By version, from First+1 on: what made it, or -1; and a returned operation that saw its value, or -1.
	fill, saw []models.Row
}

// read notes what the operations say. It returns false if the precondition fails.
func (s *versionsPast) read() bool {
	t := s.event
	for row, res := range s.Res {
		if res >= s.event && res != models.Open {
			t = min(t, s.Inv[row])
		}
	}
	s.latest = s.First
	for row, res := range s.Res {
		if kind := s.Kind[row]; kind > models.CAS || res < s.event && s.A[row] == 0 {
			return false
		}
		if res < t {
			s.latest = max(s.latest, s.A[row]-1)
		}
	}
	n := s.latest - s.First
	s.fill, s.saw = make([]models.Row, n), make([]models.Row, n)
	for v := range n {
		s.fill[v], s.saw[v] = -1, -1
	}
	for row, res := range s.Res {
		row, v := models.Row(row), s.A[row]-1-s.First-1
		if res >= s.event {
			continue
		}
		if s.Kind[row] != models.Read {
			if v >= 0 && v < n {
				s.fill[v] = row
			}
			v-- // a cas saw the version before
		}
		if s.Kind[row] != models.Write && v >= 0 && v < n && s.Args[s.B[row]][0] != s.Nil {
			s.saw[v] = row
		}
	}
	return true
}

// update finds what made a version, and returns the value that it left.
func (s *versionsPast) update(version int32) (value int32, known bool) {
	v := version - s.First - 1
	if s.fill[v] >= 0 {
		return s.leaves(s.fill[v]), true
	}
	if s.saw[v] < 0 {
		return 0, false
	}
	value = s.Args[s.B[s.saw[v]]][0]
	for row, res := range s.Res {
		row := models.Row(row)
		if res < s.event || s.Inv[row] >= s.event || s.Kind[row] == models.Read || s.leaves(row) != value || res != models.Open && s.A[row]-1 != version {
			continue
		}
		if s.fill[v] >= 0 {
			return 0, false
		}
		s.fill[v] = row
	}
	return value, s.fill[v] >= 0
}

// leaves returns the value after an update.
func (s *versionsPast) leaves(row models.Row) int32 {
	args := s.Args[s.B[row]]
	if s.Kind[row] == models.CAS {
		return args[1]
	}
	return args[0]
}
