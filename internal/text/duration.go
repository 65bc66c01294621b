package text

import "time"

// Rounded returns how long something took as people say it. Jepsen's times are in nanoseconds.
func Rounded(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(10 * time.Microsecond)
	case d >= time.Microsecond:
		d = d.Round(10)
	}
	return d.String()
}
