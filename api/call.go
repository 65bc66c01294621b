package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/option"
	"clew/internal/outputs"
	"clew/internal/requests"
	"clew/internal/text"
	"clew/internal/watchdog"
)

// Version is the version of the protocol. A request names it. It changes if programs must.
const Version = 1

// Messages name options as flags are written, which have the same names.
func init() { option.AsFlags() }

// calls are what a request may ask for.
var calls = map[string]func(*call) (any, error){
	"version":           about,
	"check":             check,
	"recorder.open":     openRecorder,
	"recorder.invoke":   recorderInvoke,
	"recorder.complete": recorderComplete,
	"recorder.history":  recorderHistory,
	"recorder.check":    recorderCheck,
	"monitor.open":      openMonitor,
	"monitor.feed":      monitorFeed,
	"monitor.close":     monitorClose,
	"close":             closeHandle,
}

// texts are the keys of the texts that requests bring.
var texts = map[string]string{"check": "history", "monitor.feed": "text"}

// call is a request. A long text is not copied, nor looked at before the options are known.
type call struct {
	size     int    // in bytes
	json     []byte // all of it but for a text's value
	text     []byte // the text's value, nil if it has none
	after    []byte // the bytes after its line
	progress func(Progress)
}

// head is what every request has.
type head struct {
	API  int    `json:"api"`
	Call string `json:"call"`
}

// Progress says how far a call has come.
type Progress struct {
	Read       int64 `json:"read"`       // bytes of the history
	Of         int64 `json:"of"`         // so many
	Operations int   `json:"operations"` // 0 until all has been read
}

// Call answers a request. A request is an object of JSON. A history may follow it as it is, after a line feed: then
// "bytes" says how long that is. The response is an object of JSON with the "result" or the "error". Call is safe for
// concurrent use.
func Call(request []byte) []byte { return CallWith(request, nil) }

// CallWith does what Call does, and calls progress now and then, unless it is nil.
func CallWith(request []byte, progress func(Progress)) (response []byte) {
	var result any
	var err error
	if bug := watchdog.Guarded(func() { result, err = answer(request, progress) }); bug != "" {
		err = &failure{Kind: kindBug, Message: bug}
	}
	if err != nil {
		return encoded(map[string]any{"api": Version, "error": failureOf(err)})
	}
	return encoded(map[string]any{"api": Version, "result": result})
}

func answer(request []byte, progress func(Progress)) (any, error) {
	object, after := requests.Parted(request)
	if err := json.Unmarshal(object, &struct{}{}); errors.As(err, new(*json.SyntaxError)) {
		return nil, refused("expected an object of JSON: %w", err)
	}
	c := &call{size: len(request), json: object, after: bytes.TrimPrefix(after, []byte("\n")), progress: progress}
	if err := distinct(c.json); err != nil {
		return nil, err
	}
	var h head
	if err := json.Unmarshal(c.json, &h); err != nil {
		return nil, refused("expected an object of JSON with \"api\" and \"call\": %w", err)
	}
	do, known := calls[h.Call]
	name, takesText := texts[h.Call]
	switch {
	case h.API != Version:
		return nil, refused("expected \"api\": %d, the version of the protocol, found %d", Version, h.API)
	case !known:
		names := slices.Sorted(maps.Keys(calls))
		return nil, refused("unknown call %q; %sexpected %s", h.Call, text.DidYouMean(h.Call, names), text.OneOf(names))
	case !takesText && len(bytes.TrimSpace(c.after)) > 0:
		return nil, refused("expected nothing after the request, found %d bytes", len(c.after))
	}
	if takesText {
		c.takeOut(name)
	}
	return do(c)
}

// takeOut takes the value of a key out of the request's JSON.
func (c *call) takeOut(name string) {
	for m := range requests.Members(c.json) {
		if strings.EqualFold(m.Name(), name) {
			c.text = m.Value
			c.json = slices.Concat(c.json[:m.From], []byte("null"), c.json[m.From+len(m.Value):])
			return
		}
	}
}

// distinct returns an error unless the keys of a request are different and its texts are in Unicode: otherwise something of it
// would be lost.
func distinct(request []byte) error {
	if !utf8.Valid(request) {
		return refused("expected UTF-8; other bytes may follow the request, which says then how many (\"bytes\")")
	}
	if isHalved(request) {
		return refused("the request has half of a pair of surrogates, which is not a text")
	}
	if name, is := requests.Twice(request); is {
		return refused("the request has %q twice", name)
	}
	return nil
}

// isHalved says whether JSON has an escaped half of a pair of surrogates without the other half, which is not a text.
func isHalved(given []byte) bool {
	for {
		_, escape, is := bytes.Cut(given, []byte(`\`))
		if !is {
			return false
		}
		given = escape[1:] // of a backslash that is escaped, nothing is left
		unit := codeUnit(escape)
		if !utf16.IsSurrogate(unit) {
			continue
		}
		rest, is := bytes.CutPrefix(escape[5:], []byte(`\`))
		if !is || utf16.DecodeRune(unit, codeUnit(rest)) == utf8.RuneError {
			return true
		}
		given = rest[5:]
	}
}

// codeUnit returns the code unit of an escape such as u00e9, after its backslash. It returns 0 for other escapes.
func codeUnit(escape []byte) rune {
	if escape[0] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(escape[1:5]), 16, 16) // as JSON has it
	return rune(n)
}

// into reads the request, which has these fields and no others.
func (c *call) into(fields any) error {
	d := json.NewDecoder(bytes.NewReader(c.json))
	d.DisallowUnknownFields()
	if err := d.Decode(fields); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return refused("%q must be %s, not %s", wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], kindOf(wrong.Type), wrong.Value)
		}
		return refused("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// kindOf says what JSON stands for a type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.Bool:
		return "true or false"
	}
	return "a text"
}

// body returns the text of a request: a string, an array of op maps as it stands, or the bytes after the request.
func (c *call) body(name string, size *int64) ([]byte, error) {
	switch {
	case size == nil && len(bytes.TrimSpace(c.after)) > 0:
		return nil, refused("expected nothing after the request, which has no \"bytes\"")
	case size != nil && c.text != nil:
		return nil, refused("expected \"bytes\" or %q, found both", name)
	case size != nil && *size != int64(len(c.after)):
		return nil, refused("expected %d bytes after the request, as it says, found %d", *size, len(c.after))
	case size != nil:
		return c.after, nil
	case c.text == nil:
		return nil, refused("expected %q, a text, or \"bytes\" and the text after the request", name)
	case c.text[0] == '"':
		var s unquoted
		err := json.Unmarshal(c.text, &s)
		return s, err
	case name == "text" || c.text[0] != '[':
		return nil, refused("%q must be a text, not %s", name, text.Shorten(string(c.text), 40))
	}
	return c.text, nil
}

// unquoted is a text of JSON.
type unquoted []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *unquoted) UnmarshalText(s []byte) error {
	*u = bytes.Clone(s)
	return nil
}

// encoded returns a value as JSON. Pictures and pages are full of what JSON need not escape.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// The kinds of errors.
const (
	kindRequest    = "request"    // it is not one of this protocol
	kindOptions    = "options"    // they make no sense
	kindUnreadable = "unreadable" // the history cannot be read, or does not fit the model
	kindOrder      = "order"      // a client invokes or completes an operation out of turn
	kindHandle     = "handle"     // it is closed, or another thing
	kindStopped    = "stopped"    // a limit ended it
	kindBug        = "bug"        // in clew
)

// failure is an error as a response says it.
type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Offset  int64  `json:"offset,omitempty"` // of a test.jepsen, which has no lines
	Result  any    `json:"result,omitempty"` // what the command line prints all the same
}

func (f *failure) Error() string { return f.Message }

func refused(format string, args ...any) error {
	return &failure{Kind: kindRequest, Message: fmt.Errorf(format, args...).Error()}
}

// failureOf returns an error with its place.
func failureOf(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return failed(kindUnreadable, err)
}

// failed returns an error of a kind, with the place of the error.
func failed(kind string, err error) *failure {
	f := &failure{Kind: kind, Message: err.Error()}
	var at *edn.Error
	if errors.As(err, &at) {
		f.File, f.Line, f.Column, f.Offset = at.File, at.Line, at.Col, at.Offset
	}
	return f
}

func about(c *call) (any, error) {
	if err := c.into(&head{}); err != nil {
		return nil, err
	}
	return map[string]any{"version": outputs.Build()}, nil
}

// counted follows how much of a text has been read.
type counted struct {
	io.Reader
	read func(n int)
}

func (r counted) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.read(n)
	return n, err
}
