package edn

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"clew/internal/text"
)

func (s *scanner) tagged(i int) (ID, int) {
	end := s.token(i + 1)
	if end < 0 {
		return Nil, -1
	}
	if end == i+1 {
		if end == len(s.data) {
			return Nil, s.unfinished("a tag after #")
		}
		return Nil, s.fail(i, "expected a tag after #, found "+strconv.QuoteRune(rune(s.data[end])))
	}
	if r, _ := utf8.DecodeRune(s.data[i+1:]); !unicode.IsLetter(r) {
		return Nil, s.noValue(i, "expected a tag, which begins with a letter, found "+clip(s.data[i:end]))
	}
	if s.tooDeep(i) {
		return Nil, -1
	}
	s.tags++
	at := s.required(end, "a value after "+clip(s.data[i:end]))
	if at < 0 {
		return Nil, -1
	}
	id, at := s.value(at)
	if at < 0 {
		return Nil, -1
	}
	s.tags--
	if expected := s.v.untagged(s.data[i+1:end], id); expected != "" {
		return Nil, s.noValue(i, "expected "+expected+", found "+clip(s.data[i:at]))
	}
	s.items = append(s.items, s.v.InternStringBytes(s.data[i+1:end]), id)
	id, _ = s.collect(KindTagged, s.items[len(s.items)-2:], i, at)
	s.items = s.items[:len(s.items)-2]
	return id, at
}

// untagged returns what was expected if a tag does not admit a form, and "" if it does.
func (v *Values) untagged(tag []byte, form ID) string {
	ok, expected := true, ""
	switch string(tag) {
	case "inst":
		_, ok = parseInstant(v.Str(form))
		expected = `an instant such as #inst "2020-01-31T23:59:59.999-00:00"`
	case "uuid":
		_, ok = parseUUID(v.Str(form))
		expected = `a UUID such as #uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`
	default:
		return ""
	}
	if ok && v.Kind(form) == KindString {
		return ""
	}
	return expected
}

// namespaced reads #:ns{:a 1}, whose # is at i, as {:ns/a 1}.
func (s *scanner) namespaced(i int) (ID, int) {
	end := s.token(i + 1)
	if end < 0 {
		return Nil, -1
	}
	ns := string(s.data[i+2 : end])
	if !isNamespace(ns) {
		return Nil, s.noValue(i, "expected the namespace of a map, such as #:ns, found "+clip(s.data[i:end]))
	}
	at := end
	for at < len(s.data) && bytesOf[s.data[at]]&blankByte != 0 {
		at++
	}
	switch {
	case at == len(s.data):
		return Nil, s.unfinished("a map after " + clip(s.data[i:end]))
	case s.data[at] != '{':
		return Nil, s.noValue(i, "expected a map after "+clip(s.data[i:end])+", found "+s.found(at))
	}
	id, last := s.collection(KindMap, at)
	if last < 0 {
		return Nil, -1
	}
	base := len(s.items)
	for k, item := range s.v.items(id) {
		if k%2 == 0 {
			item = s.v.inNamespace(ns, item)
		}
		s.items = append(s.items, item)
	}
	id, ok := s.collect(KindMap, s.items[base:], i, i) // its items do not stand there as they are
	s.items = s.items[:base]
	if !ok {
		return Nil, -1
	}
	return id, last
}

// isNamespace reports whether a token is a symbol without a namespace.
func isNamespace(token string) bool {
	switch token {
	case "", "nil", "true", "false":
		return false
	}
	return token[0] != '#' && !strings.ContainsAny(token, "/:^@`~") && !startsNumber([]byte(token)) && !hasSpace(token)
}

// inNamespace returns a key of a map that has a namespace. It qualifies keywords and symbols
// that have no namespace of their own, and removes the namespace _ from those that have it.
func (v *Values) inNamespace(ns string, key ID) ID {
	name, intern := v.Str(key), v.InternKeyword
	switch v.Kind(key) {
	case KindKeyword:
	case KindSymbol:
		intern = v.InternSymbol
	default:
		return key
	}
	if bare, ok := strings.CutPrefix(name, "_/"); ok && bare != "" {
		return intern(bare)
	}
	if name != "/" && strings.Contains(name, "/") {
		return key
	}
	return intern(ns + "/" + name)
}

// canonicalTagged makes equal instants and equal UUIDs one value. It turns
// an instant into its milliseconds, an integer, which no text spells.
func (v *Values) canonicalTagged(tag string, form ID) ID {
	if v.forms[form].kind != KindString {
		return form
	}
	switch s := v.Str(form); tag {
	case "inst":
		if ms, ok := parseInstant(s); ok {
			return v.InternInt(ms)
		}
	case "uuid":
		if u, ok := parseUUID(s); ok {
			h := hex.EncodeToString(u[:])
			return v.InternString(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
		}
	}
	return form
}

// Instant returns an #inst in milliseconds since 1970.
func (v *Values) Instant(id ID) (ms int64, ok bool) {
	text, ok := v.taggedText(id, "inst")
	if !ok {
		return 0, false
	}
	return parseInstant(text)
}

// UUID returns the two halves of a #uuid, signed, as Java compares them.
func (v *Values) UUID(id ID) (high, low int64, ok bool) {
	text, ok := v.taggedText(id, "uuid")
	if !ok {
		return 0, 0, false
	}
	u, ok := parseUUID(text)
	return int64(binary.BigEndian.Uint64(u[:8])), int64(binary.BigEndian.Uint64(u[8:])), ok
}

func (v *Values) taggedText(id ID, tag string) (text string, ok bool) {
	if v.Kind(id) != KindTagged || v.Str(id) != tag || v.Kind(v.items(id)[1]) != KindString {
		return "", false
	}
	return v.Str(v.items(id)[1]), true
}

// instant matches what clojure.instant reads: trailing parts after the year
// may be missing, and an offset may follow any part.
var instant = text.Pattern(`^([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]+))?)?)?)?)?)?` +
	`(?:Z|([-+])([0-9]{2}):([0-9]{2}))?$`)

// parseInstant reads an instant as Clojure does and returns milliseconds
// since 1970. Dates before October 15, 1582 are Julian, as in Java.
func parseInstant(s string) (ms int64, ok bool) {
	m := instant().FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	part := func(i, missing int) int {
		if m[i] == "" {
			return missing
		}
		n, _ := strconv.Atoi(m[i])
		return n
	}
	year, month, day := part(1, 0), part(2, 1), part(3, 1)
	hour, minute, second := part(4, 0), part(5, 0), part(6, 0)
	offsetHour, offsetMinute := part(9, 0), part(10, 0)
	lastSecond := 59
	if minute == 59 {
		lastSecond = 60 // Clojure accepts a leap second in every hour.
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if month < 1 || month > 12 || date.Day() != day || hour > 23 || minute > 59 || second > lastSecond || offsetHour > 23 || offsetMinute > 59 {
		return 0, false
	}
	days := date.Unix() / 86400
	if days < gregorian {
		days = julianDay(year, month, day)
	}
	milli, _ := strconv.Atoi((m[7] + "000")[:3])
	offset := 60*offsetHour + offsetMinute
	if m[8] == "-" {
		offset = -offset
	}
	return 1000*(86400*days+int64(3600*hour+60*(minute-offset)+second)) + int64(milli), true
}

// gregorian is the day, counted from 1970, on which Java changes its calendar: October 15, 1582.
const gregorian = -141427

// julianDay returns a Julian date in days since 1970.
func julianDay(year, month, day int) int64 {
	if month < 3 {
		year, month = year-1, month+12 // Years begin in March, so that they end with the leap day.
	}
	return int64(365*year + (year+4)/4 - 1 + (153*(month-3)+2)/5 + day - 719471)
}

// parseUUID reads a UUID as Java does: five hexadecimal numbers, each cut to its last bits.
func parseUUID(s string) (u [16]byte, ok bool) {
	parts := strings.Split(s, "-")
	if len(parts) != 5 || len(s) > 36 {
		return u, false
	}
	var n [5]uint64
	for i, part := range parts {
		x, err := strconv.ParseUint(strings.TrimPrefix(part, "+"), 16, 63)
		if err != nil {
			return u, false
		}
		n[i] = x
	}
	binary.BigEndian.PutUint64(u[:], n[0]<<32|n[1]&0xffff<<16|n[2]&0xffff)
	binary.BigEndian.PutUint64(u[8:], n[3]<<48|n[4]&0xffffffffffff)
	return u, true
}
