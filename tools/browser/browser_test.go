// Package browser opens pages in a real browser, and uses them as people do.
package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"clew"
	"clew/internal/gen"
	"clew/internal/page"
	"clew/internal/pagetest"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// browserVariable names the browser that the tests drive. If it is not set they look
// for Chromium, and are skipped if they do not find it.
const browserVariable = "CLEW_CHROMIUM"

// browser is a tab of a browser without a window.
type browser struct {
	t   *testing.T
	ctx context.Context

	buttons int64 // of the mouse, that are pressed

	mu     sync.Mutex
	errors []string // what the console and the page's policy complained of
}

func startBrowser(t *testing.T) *browser {
	path := os.Getenv(browserVariable)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		t.Skip("no Chromium was found; " + browserVariable + " says where one is")
	}
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Minute) // for a hang: it takes one alone
	t.Cleanup(stop)
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 1000), chromedp.WSURLReadTimeout(time.Minute),
	}
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx}
	// Elements get the focus as in a window in front.
	b.do(call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	b.do(call(cdplog.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{}), chromedp.Func(func(_ context.Context, tab *chromedp.Target) error {
		go listen(b, tab, cdplog.EntryAdded, func(e cdplog.EventEntryAdded) string { return fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text) })
		go listen(b, tab, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) string { return "console: " + string(e.Type) })
		go listen(b, tab, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) string {
			if x := e.ExceptionDetails.Exception; x != nil {
				return e.ExceptionDetails.Text + " " + x.Description
			}
			return e.ExceptionDetails.Text
		})
		go listen(b, tab, cdppage.JavascriptDialogOpening, func(e cdppage.EventJavascriptDialogOpening) string { return "dialog: " + e.Message })
		return nil
	}))
	return b
}

// call returns a command of the DevTools protocol as an action.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	})
}

// listen records what should not happen.
func listen[E any](b *browser, tab *chromedp.Target, kind cdp.Event[E], say func(E) string) {
	for e, err := range cdp.Events(b.ctx, tab, kind) {
		if err != nil {
			return
		}
		b.mu.Lock()
		b.errors = append(b.errors, say(e))
		b.mu.Unlock()
	}
}

// complaints returns the complaints since the last call.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.errors
	b.errors = nil
	return all
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// in lets a subtest drive the browser. It fails if the browser complains.
func (b *browser) in(name string, f func(t *testing.T)) {
	whole := b.t
	defer func() { b.t = whole }()
	whole.Run(name, func(t *testing.T) {
		b.t = t
		f(t)
		for _, c := range b.complaints() {
			t.Error(c)
		}
	})
}

// open opens a page in the light scheme.
func (b *browser) open(html []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.do(media("", "light"), chromedp.Navigate("file://"+file))
}

// media emulates a medium, "" for the screen, and a color scheme.
func media(medium, scheme string) chromedp.Action[chromedp.Void] {
	return call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// js returns the value of an expression as JSON, or a string as it is.
func (b *browser) js(expression string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return s
}

// is fails unless an expression has a value.
func (b *browser) is(expression, want string) {
	b.t.Helper()
	if got := b.js(expression); got != want {
		b.t.Errorf("%s is %s, want %s", expression, got, want)
	}
}

// holds fails unless an expression is true.
func (b *browser) holds(expression string) {
	b.t.Helper()
	b.is(expression, "true")
}

// find types into the field of the first part that finds operations.
func (b *browser) find(query string) {
	b.t.Helper()
	b.js(`(e => { e.focus(); e.select() })(document.querySelector(".find input"))`)
	b.press(query)
}

func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// middle scrolls to the first element of a selector, and returns where its middle is.
func (b *browser) middle(selector string) []float64 {
	b.t.Helper()
	b.js(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center"})`, selector))
	return b.where(selector)
}

// where returns where the middle of the first element of a selector is.
func (b *browser) where(selector string) []float64 {
	b.t.Helper()
	at, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(`(r => [r.x + r.width/2, r.y + r.height/2])(document.querySelector(%q).getBoundingClientRect())`, selector)))
	if err != nil {
		b.t.Fatal(err)
	}
	return at
}

// mouse moves to the middle of the first element of a selector, and does there
// what kinds say.
func (b *browser) mouse(selector string, dx float64, kinds ...input.DispatchMouseEventType) {
	b.t.Helper()
	at := b.middle(selector)
	for _, kind := range kinds {
		p := input.DispatchMouseEventParams{Type: kind, X: at[0] + dx, Y: at[1]}
		switch kind {
		case chromedp.MouseMoved:
			p.Buttons = b.buttons
		case chromedp.MousePressed:
			b.buttons = 1
		case chromedp.MouseReleased:
			b.buttons = 0
		}
		if kind != chromedp.MouseMoved {
			p.Button, p.ClickCount = input.MouseButtonLeft, 1
		}
		b.do(call(input.DispatchMouseEvent, p))
	}
}

// Of the drawing: its width on the screen, and how far it is scrolled.
const (
	width    = `document.querySelector(".canvas svg").getBoundingClientRect().width`
	scrolled = `document.querySelector(".canvas").scrollLeft`
)

// tip is what the tooltip shows.
const tip = `(t => t.hidden ? "" : t.textContent)(document.getElementById("tip"))`

func TestPagesInABrowser(t *testing.T) {
	b := startBrowser(t)
	small := pagetest.Written(t, pagetest.Check(t, pagetest.StaleRead, ""))
	b.in("a page opens without a complaint, and shows the failure", func(t *testing.T) {
		b.open(small)
		b.holds(`document.querySelector(".verdict").textContent === "INVALID"`)
		b.holds(`document.querySelector(".canvas .failing[data-op]") !== null`)
		b.holds(`document.documentElement.scrollWidth <= innerWidth`)
	})
	b.in("an operation under the pointer shows its op maps", func(t *testing.T) {
		b.open(small)
		b.is(tip, "")
		b.mouse(".canvas [data-op] rect", 0, chromedp.MouseMoved)
		for _, want := range []string{":type :invoke", ":type :ok", ":time 100"} {
			if got := b.js(tip); !strings.Contains(got, want) {
				t.Errorf("the tooltip says %s, want %s", got, want)
			}
		}
		b.mouse("h1", 0, chromedp.MouseMoved)
		b.is(tip, "")
	})
	b.in("the keyboard gets to every operation", func(t *testing.T) { testKeyboard(b, small) })
	b.in("who sees nothing hears the same", func(t *testing.T) { testHeard(b, small) })
	b.in("texts are copied", func(t *testing.T) { testCopy(b, small) })
	b.in("zoom and pan", func(t *testing.T) { testZoom(b, small) })
	b.in("every order of a core can be tried", func(t *testing.T) { testReplay(b) })
	b.in("every order is counted", func(t *testing.T) { testReplayEarly(b) })
	b.in("a crashed operation need not happen", func(t *testing.T) { testReplayCrashed(b) })
	b.in("time is respected at every scale", func(t *testing.T) { testReplayByTime(b) })
	b.in("small and large screens", func(t *testing.T) { testPhone(b) })
	long := pagetest.Written(t, pagetest.Check(t, pagetest.LongHistory(3000, 0.5), ""))
	b.in("find", func(t *testing.T) { testFind(b, long) })
	b.in("the strip goes to any place", func(t *testing.T) { testStrip(b, long) })
	b.in("what a page does not hold it says", func(t *testing.T) { testTooLong(b) })
	b.in("colors follow the system, and a switch", func(t *testing.T) { testColors(b, small) })
	b.in("print", func(t *testing.T) { testPrint(b, small) })
	b.in("hostile values run nothing", func(t *testing.T) { testHostile(b) })
	b.in("the policy holds", func(t *testing.T) { testPolicy(b, small) })
	b.in("keys have an index, and each a part of its own", func(t *testing.T) { testKeys(b) })
	b.in("the index of a store", func(t *testing.T) { testStore(b) })
	b.in("the levels and anomalies of transactions", func(t *testing.T) { testLevels(b) })
	b.in("the page of a pass", func(t *testing.T) { testMonitored(b) })
	b.in("the page of passes over a store", func(t *testing.T) { testMonitoredRuns(b) })
}

// testLevels looks at the part of a page about levels, on every screen, with a drawing of each anomaly that can be scrolled and is heard.
func testLevels(b *browser) {
	defer b.do(call(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
	html := pagetest.Written(b.t, pagetest.CheckAs(b.t, pagetest.Transactions(3, "7"), models.Spec{Name: "list-append"}, clew.Options{}))
	const drawings = `Array.from(document.querySelectorAll("#levels .canvas"))`
	for _, width := range []int64{400, 800, 1400} {
		b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width == 400}))
		b.open(html)
		b.js(`document.querySelectorAll("details").forEach(d => { d.open = true })`)
		b.holds(`document.documentElement.scrollWidth <= innerWidth`)
		b.holds(drawings + `.length >= 4`)
		b.holds(drawings + `.every((e) => e.tabIndex === 0 && e.getAttribute("aria-label").startsWith("Drawing of ") && e.clientWidth > 250)`)
		b.holds(drawings + `.every((e) => parseFloat(getComputedStyle(e.querySelector("text")).fontSize) >= 11)`)
	}
	b.js(`document.querySelector("#levels a").click()`)
	b.holds(`(r => r.bottom > 0 && r.top < innerHeight)(document.querySelector(location.hash).getBoundingClientRect())`)
	fill := `getComputedStyle(document.querySelector("#levels .core")).fill`
	light := b.js(fill)
	b.do(media("", "dark"))
	b.holds(fill + ` !== "` + light + `"`)
}

// testMonitored follows the bars of a pass over a history to their drawings and lines.
func testMonitored(b *browser) {
	defer b.do(call(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
	html := pagetest.Monitored(b.t, pagetest.ManyAnomalies(2000), clew.Options{})
	for _, width := range []int64{400, 1400} {
		b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width == 400}))
		b.open(html)
		b.holds(`document.documentElement.scrollWidth <= innerWidth`)
		b.holds(`Array.from(document.querySelectorAll(".lane svg")).every((e) => e.getBoundingClientRect().width > 150)`)
	}
	b.holds(`document.querySelector(".canvas .failing[data-op]") !== null`)
	for _, way := range []string{"first", "last"} {
		b.js(`document.querySelector(".lane a:` + way + `-of-type").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`)
		b.holds(`location.hash !== "" && (r => r.bottom > 0 && r.top < innerHeight)(document.querySelector(":target").getBoundingClientRect())`)
	}
	b.holds(`document.querySelector("tr:target").textContent.includes("clew render --around")`)
	b.holds(`getComputedStyle(document.querySelector(".lane .m0")).fill !== "rgb(0, 0, 0)"`)
	light := b.js(`getComputedStyle(document.querySelector(".lane .m0")).fill`)
	b.do(media("", "dark"))
	b.holds(`getComputedStyle(document.querySelector(".lane .m0")).fill !== "` + light + `"`)
}

// testMonitoredRuns sorts and filters the runs of a store.
func testMonitoredRuns(b *browser) {
	defer b.do(call(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
	runs := []clew.MonitoredRun{{Name: "good", Time: "20260101T000000.000Z"}, {Name: "cut", Err: errors.New("the disk was full")}}
	for i, history := range []string{pagetest.ManyAnomalies(40), pagetest.ManyAnomalies(400)} {
		m, err := clew.NewMonitor(b.t.Context(), models.Spec{Name: "register"}, clew.Options{})
		if err != nil {
			b.t.Fatal(err)
		}
		m.Draws = true
		if err := m.Read(strings.NewReader(history), "h", jepsen.Options{}); err != nil {
			b.t.Fatal(err)
		}
		r := clew.MonitoredRun{Name: fmt.Sprint("stale-", i), Time: "20260102T000000.000Z", Link: fmt.Sprintf("%d.html", i)}
		r.Monitored(m)
		runs = append(runs, r)
	}
	var html bytes.Buffer
	if err := clew.WriteMonitoredRuns(&html, "store", runs); err != nil {
		b.t.Fatal(err)
	}
	for _, width := range []int64{400, 1400} {
		b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width == 400}))
		b.open(html.Bytes())
		b.holds(`document.documentElement.scrollWidth <= innerWidth`)
		b.holds(`document.querySelectorAll(".lane svg").length === 2 && Array.from(document.querySelectorAll(".lane svg")).every((e) => e.getBoundingClientRect().width > 150)`)
	}
	first := `document.querySelector("#runs tbody th").textContent`
	b.holds(first + ` === "stale-1"`)
	b.holds(`document.querySelector("#runs td a").getAttribute("href") === "1.html#kind-stale-read"`)
	b.js(`document.querySelectorAll("#runs thead button")[4].click()`) // the number of anomalies
	b.holds(first + ` !== "stale-1"`)
}

func testKeyboard(b *browser, html []byte) {
	b.open(html)
	for range 10 {
		b.press(kb.Tab)
		if b.js(`document.activeElement.hasAttribute("data-op")`) == "true" {
			break
		}
	}
	b.holds(`document.activeElement.hasAttribute("data-op")`)
	b.holds(`document.activeElement.getAttribute("aria-label").includes("process")`)
	b.holds(tip + `.includes(":type :ok")`)
	b.holds(`document.activeElement.getAttribute("aria-describedby") === "tip"`)
	seen := map[string]bool{}
	b.press(kb.Home)
	for range 20 {
		seen[b.js(`document.activeElement.getAttribute("data-op")`)] = true
		b.press(kb.ArrowRight)
	}
	if got := b.js(`document.querySelectorAll(".canvas [data-op]").length`); got != fmt.Sprint(len(seen)) {
		b.t.Errorf("the arrow went to %d of %s operations", len(seen), got)
	}
	row := `document.activeElement.querySelector("rect").getBoundingClientRect().top`
	before := b.js(row)
	b.press(kb.ArrowUp)
	b.press(kb.ArrowUp)
	b.press(kb.ArrowDown)
	if b.js(row) == before {
		b.t.Error("the arrows do not go to other rows")
	}
	b.press(kb.Escape)
	b.is(tip, "")
	b.press(kb.Tab) // on to the strip
	b.is(`document.activeElement.getAttribute("role")`, "slider")
}

// testHeard looks at what screen readers get.
func testHeard(b *browser, html []byte) {
	b.open(html)
	b.js(`document.querySelectorAll("details").forEach(d => { d.open = true })`)
	var heard strings.Builder
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		tree, err := cdp.Call(ctx, tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		for _, n := range tree.Nodes {
			if !n.Ignored && n.Role != nil && n.Name != nil {
				fmt.Fprintf(&heard, "%s %s\n", n.Role.Value, n.Name.Value)
			}
		}
		return err
	}))
	for _, want := range []string{
		`"heading" "history.edn"`, `value 1 was read by process 0 (index 10)`, `"image" "process 0's :read 1 (index 10)"`,
		`"rowheader" "read 1"`, `"cell" "cannot happen: expected 2`, `"columnheader" "ends at index"`, `"slider" "Place in the history"`, `"searchbox" "Find"`,
		`"image" "The whole history, 1\u00b5s: 4 operations succeeded, 0 failed, 1 crashed`,
	} {
		if !strings.Contains(heard.String(), want) {
			b.t.Errorf("nobody hears %s", want)
		}
	}
	if b.t.Failed() {
		b.t.Log(heard.String())
	}
}

func testCopy(b *browser, html []byte) {
	b.open(html)
	b.js(`document.querySelectorAll("details").forEach(d => { d.open = true })`)
	b.mouse(".copy", 0, chromedp.MousePressed, chromedp.MouseReleased)
	b.do(chromedp.Sleep(100 * time.Millisecond))
	b.is(`document.querySelector(".copy").textContent`, "Copied")
}

func testZoom(b *browser, html []byte) {
	b.open(html)
	b.js(`document.querySelector('[data-do="fit"]').click()`)
	whole := b.js(width)
	for range 4 {
		b.mouse(`[data-do="in"]`, 0, chromedp.MousePressed, chromedp.MouseReleased)
	}
	b.holds(width + " > 3 * " + whole)
	was := b.js(scrolled)
	b.mouse(".canvas", 60, chromedp.MouseMoved, chromedp.MousePressed)
	b.mouse(".canvas", -20, chromedp.MouseMoved, chromedp.MouseReleased)
	if b.js(scrolled) == was {
		b.t.Error("the mouse does not pan")
	}
	b.mouse(`[data-do="fit"]`, 0, chromedp.MousePressed, chromedp.MouseReleased)
	b.is(width, whole)
	b.holds(width + ` <= document.querySelector(".canvas").clientWidth`)
	b.js(`document.querySelector(".canvas [data-op]").focus()`)
	b.press("+", "+", "+", "+")
	b.holds(width + " > 2 * " + whole)
	was = b.js(scrolled)
	b.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	if b.js(scrolled) == was {
		b.t.Error("the keyboard does not pan")
	}
	b.press("-", "0")
	b.is(width, whole)
	wheel := `document.querySelector(".canvas").dispatchEvent(new WheelEvent("wheel", {deltaY: -100, clientX: 300, clientY: 300, cancelable: true}))`
	b.is(wheel, "false") // the drawing uses it
	b.holds(width + " > 1.1 * " + whole)
	b.js(`document.activeElement.blur()`)
	b.is(wheel, "true") // the page scrolls
}

// Of the replay: what it says, and its lists.
const (
	status = `document.querySelector(".replay .status").textContent`
	said   = `document.querySelector(".replay .said").textContent`
	steps  = `Array.from(document.querySelectorAll(".replay .steps li"), li => li.className + "|" + li.firstChild.textContent).join("; ")`
)

// events returns a history of events: each is its process, type, :f and value.
func events(all ...string) string {
	var b strings.Builder
	for i, e := range all {
		x := strings.SplitN(e, " ", 4)
		pagetest.Event(&b, i, x[0], x[1], x[2], x[3])
	}
	return b.String()
}

// point returns the selector of a point of an operation of a core, by its row.
func point(row int) string { return fmt.Sprintf(`.point[data-point="%d"] .hold`, row) }

// twoWrites has a core of four: two writes at the same time, of which the second read's was overwritten by either. Its
// rows are write 1, write 2, read 2 and read 1.
var twoWrites = events(
	"0 invoke write 1",
	"1 invoke write 2",
	"0 ok write 1",
	"1 ok write 2",
	"2 invoke read nil",
	"2 ok read 2",
	"2 invoke read nil",
	"2 ok read 1",
)

func testReplay(b *browser) {
	b.open(pagetest.Written(b.t, pagetest.Check(b.t, twoWrites, "")))
	b.is(said, "All 2 orders break. Each is shown up to where it does.")
	b.is(status, "Step 4 of 4: read 1 of process 2 cannot happen here: the value is 2, not 1")
	b.is(steps, "|write 1 of process 0; |write 2 of process 1; |read 2 of process 2; broken|read 1 of process 2")

	// The slider goes through the steps.
	b.js(`document.querySelector(".replay input").focus()`)
	b.press(kb.ArrowLeft)
	b.is(status, "Step 3 of 4: read 2 of process 2 happens; the state is 2")
	b.press(kb.Home)
	b.is(status, "Nothing has happened yet; the state is nil")
	b.press(kb.ArrowRight)
	b.is(status, "Step 1 of 4: write 1 of process 0 happens; the state is 1")

	// The other order.
	b.js(`document.querySelector(".replay [aria-label='The next order']").click()`)
	b.is(status, "Step 3 of 3: read 2 of process 2 cannot happen here: the value is 1, not 2")
	b.is(steps, "|write 2 of process 1; |write 1 of process 0; broken|read 2 of process 2; off|read 1 of process 2")
	b.js(`document.querySelector(".replay [aria-label='The next order']").click()`)

	// A point is dragged to the other side of the other one.
	b.mouse(point(1), 0, chromedp.MouseMoved, chromedp.MousePressed)
	b.mouse(point(0), -10, chromedp.MouseMoved, chromedp.MouseReleased)
	b.is(status, "Step 3 of 3: read 2 of process 2 cannot happen here: the value is 1, not 2")
	b.is(`document.querySelector(".replay .which").textContent`, "your order")

	// It stays in its bar.
	b.mouse(point(3), 0, chromedp.MouseMoved, chromedp.MousePressed)
	b.mouse(point(1), 0, chromedp.MouseMoved, chromedp.MouseReleased)
	b.is(steps, "|write 2 of process 1; |write 1 of process 0; broken|read 2 of process 2; off|read 1 of process 2")
	b.holds(`(c => (p => c.left + c.width / 2 >= p.left)(document.querySelector(".canvas .failing rect").getBoundingClientRect()))(document.querySelector('` + point(3) + `').getBoundingClientRect())`)

	// The keyboard does the same.
	b.js(`document.querySelector('.point[data-point="1"]').focus()`)
	b.press(kb.ArrowRight)
	b.is(status, "Step 4 of 4: read 1 of process 2 cannot happen here: the value is 2, not 1")
	b.is(`document.activeElement.getAttribute("data-point")`, "1")
	b.press(kb.ArrowRight) // it had returned by then
	b.is(status, "Step 4 of 4: read 1 of process 2 cannot happen here: the value is 2, not 1")

	// Without any one of them, the others can happen.
	for _, name := range []string{"write 2 of process 1", "read 2 of process 2", "read 1 of process 2"} {
		b.js(`document.querySelector(".replay [aria-label='Leave out ` + name + `']").click()`)
		if name == "write 2 of process 1" {
			b.is(said, "Without "+name+", it fails too.") // nothing else had written 2
		} else {
			b.is(said, "Without "+name+", the others can happen in this order.")
		}
		b.is(`document.activeElement.getAttribute("aria-label")`, "Put back "+name)
		b.press(kb.Enter)
		b.is(said, "All 2 orders break. Each is shown up to where it does.")
	}
}

// An operation that cannot happen early breaks an order, although others could come first.
func testReplayEarly(b *browser) {
	h := events(
		"0 invoke read nil",
		"0 ok read {:a 10 :b 10}",
		"1 invoke transfer {:from :a :to :b :amount 5}",
		"0 invoke read nil",
		"0 ok read {:a 5 :b 10}",
		"1 ok transfer {:from :a :to :b :amount 5}",
	)
	b.open(pagetest.Written(b.t, pagetest.CheckAs(b.t, h, models.Spec{Name: "bank", Init: "{:a 10 :b 10}"}, clew.Options{})))
	b.is(said, "All 2 orders break. Each is shown up to where it does.")
	var breaks []string
	for range 2 {
		breaks = append(breaks, b.js(status))
		b.js(`document.querySelector(".replay [aria-label='The next order']").click()`)
	}
	slices.Sort(breaks)
	if want := []string{"Step 1 of 1: read {:a 5, :b 10} of process 0 cannot happen here: :a has 10, not 5", "Step 2 of 2: read {:a 5, :b 10} of process 0 cannot happen here: :b has 15, not 10"}; !slices.Equal(breaks, want) {
		b.t.Errorf("the orders break as in %q", breaks)
	}
}

// A crashed operation does not happen until it is dragged into the history, although its thread has gone on.
func testReplayCrashed(b *browser) {
	h := events(
		"1 invoke add 1",
		"2 invoke add 2",
		"0 invoke add 4",
		"0 info add 4",
		"1 ok add 1",
		"2 ok add 2",
		"1 invoke read nil",
		"1 ok read 9",
	)
	b.open(pagetest.Written(b.t, pagetest.CheckAs(b.t, h, models.Spec{Name: "counter", Init: "0"}, clew.Options{})))
	all := b.js(`document.querySelector(".replay .which").textContent.split(" of ")[1]`)
	seen := map[string]bool{}
	n := 0
	for ; fmt.Sprint(n) != all && n < 50; n++ {
		seen[b.js(steps)] = true
		b.js(`document.querySelector(".replay [aria-label='The next order']").click()`)
	}
	if len(seen) != n || n < 3 {
		b.t.Errorf("%d of %s orders are different", len(seen), all)
	}
	b.holds(`Array.from(document.querySelectorAll(".point.off")).length >= 1`)
	b.js(`document.querySelector(".replay [aria-label='Leave out read 9 of process 1']").click()`)
	b.is(said, "Without read 9 of process 1, the others can happen in this order.")
}

// Bars that are drawn by time may be too short for their points. The order respects what had returned all the same.
func testReplayByTime(b *browser) {
	var h strings.Builder
	for i, e := range []string{"0 0 invoke write 1", "2 0 ok write 1", "4 1 invoke write 2", "6 1 ok write 2", "8 2 invoke read nil", "5000 2 ok read 1"} {
		f := strings.Fields(e)
		fmt.Fprintf(&h, "{:index %d, :time %s000000, :process %s, :type :%s, :f :%s, :value %s}\n", i, f[0], f[1], f[2], f[3], f[4])
	}
	var html bytes.Buffer
	if err := page.Write(context.Background(), &html, pagetest.Check(b.t, h.String(), ""), report.WindowOptions{ByTime: true}); err != nil {
		b.t.Fatal(err)
	}
	b.open(html.Bytes())
	want := "Step 3 of 3: read 1 of process 2 cannot happen here: the value is 2, not 1"
	b.is(status, want)
	b.js(`document.querySelector('.point[data-point="2"]').focus()`)
	for range 3 {
		b.press(kb.ArrowLeft)
		b.is(status, want)
	}
}

// On a phone, the page opens on the failure, the text is legible, and a finger drags points.
func testPhone(b *browser) {
	defer b.do(call(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
	var pages [][]byte
	for _, history := range []string{pagetest.StaleRead, pagetest.LongHistory(3000, 0.5), twoWrites} {
		pages = append(pages, pagetest.Written(b.t, pagetest.Check(b.t, history, "")))
	}
	for _, model := range []string{"lease", "kv", "bank", "set", "list-append", "fenced-mutex"} { // their reasons are long
		var h strings.Builder
		if _, err := gen.Long(&h, gen.LongOptions{Model: model, Kind: gen.KindsOf(model)[0], Operations: 60, Processes: 5, Seed: 1, At: 0.8}); err != nil {
			b.t.Fatal(err)
		}
		pages = append(pages, pagetest.Written(b.t, pagetest.CheckAs(b.t, h.String(), models.Spec{Name: model}, clew.Options{})))
	}
	for _, width := range []int64{360, 400, 700, 1000, 1280, 1366, 1440, 1920} {
		b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width <= 400}))
		for i, html := range pages {
			b.open(html)
			b.holds(`document.documentElement.scrollWidth <= innerWidth`)
			b.holds(`(r => r.top >= 0 && r.bottom <= innerHeight && (r.left >= 0 || r.width > 0.8 * innerWidth && r.right > 0) && r.right <= innerWidth)(document.querySelector(".canvas .failing rect").getBoundingClientRect())`)
			b.holds(`document.querySelector(".sentence").getBoundingClientRect().bottom < innerHeight`)
			b.holds(`Array.from(document.querySelectorAll(".part:first-of-type figure .reason, .because")).filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect()).filter(r => r.left >= 0 && r.right <= innerWidth).length === 1`)
			if b.t.Failed() {
				b.t.Fatalf("page %d at %d pixels: %s", i, width, b.js(`JSON.stringify([document.querySelector(".canvas .failing rect").getBoundingClientRect(), document.querySelector(".sentence").getBoundingClientRect(), innerHeight])`))
			}
			b.is(`Math.min(...Array.from(document.querySelectorAll("body *")).filter(e => e.textContent.trim() && !e.children.length && e.getClientRects().length && !["SCRIPT", "STYLE"].includes(e.tagName)).map(e => parseFloat(getComputedStyle(e).fontSize) * (e.closest("svg") ? e.closest("svg").getBoundingClientRect().width / e.closest("svg").viewBox.baseVal.width : 1))) >= 11`, "true")
		}
	}
	b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 1, Mobile: true}))
	b.open(pages[2])
	touch := func(kind input.DispatchTouchEventType, at []float64) {
		p := input.DispatchTouchEventParams{Type: kind}
		if at != nil {
			p.TouchPoints = []*input.TouchPoint{{X: at[0], Y: at[1]}}
		} else {
			p.TouchPoints = []*input.TouchPoint{}
		}
		b.do(call(input.DispatchTouchEvent, p))
	}
	b.middle(point(0))
	from, to := b.where(point(1)), b.where(point(0))
	touch(input.DispatchTouchEventTypeTouchStart, from)
	touch(input.DispatchTouchEventTypeTouchMove, []float64{to[0] - 10, from[1]})
	touch(input.DispatchTouchEventTypeTouchEnd, nil)
	b.is(status, "Step 3 of 3: read 2 of process 2 cannot happen here: the value is 1, not 2")
}

func testFind(b *browser, html []byte) {
	b.open(html)
	find := func(query string) string {
		b.find(query)
		return b.js(`document.querySelector(".find output").textContent`)
	}
	op := `document.activeElement.getAttribute("data-op")`
	focused := `document.activeElement.getAttribute("aria-label")`
	if got := find("17"); !strings.Contains(got, "operations here") {
		b.t.Errorf("find says %s", got)
	}
	b.press(kb.Enter)
	b.holds(focused + `.includes("(index 17)")`)
	b.holds(`!document.querySelector('[data-do="home"]').hidden`)
	b.holds(tip + `.includes(":index 17")`)
	if got := find("process 2"); !strings.HasPrefix(got, "1000 of the 3000 operations here") {
		b.t.Errorf("of process 2 there are %s", got)
	}
	b.press(kb.Enter)
	b.holds(focused + `.startsWith("process 2's")`)
	find("nothing like this")
	b.is(`document.querySelector(".find output").textContent.split(" ")[0]`, "0")
	b.press(kb.Enter)
	b.mouse(`[data-do="home"]`, 0, chromedp.MousePressed, chromedp.MouseReleased)
	b.holds(`document.querySelector('[data-do="home"]').hidden`)
	failing := b.js(`document.querySelector(".part").dataset.failing`)
	find(":read")
	b.mouse(".found button", 0, chromedp.MousePressed, chromedp.MouseReleased)
	b.holds(op + " !== null")
	b.js(`document.querySelector('[data-do="home"]').click()`)
	b.holds(fmt.Sprintf(`document.querySelector('.canvas [data-op="%s"]') !== null`, failing))
}

func testStrip(b *browser, html []byte) {
	b.open(html)
	first := `document.querySelector(".canvas [data-op]").getAttribute("data-op") * 1`
	value := `document.querySelector(".slider").getAttribute("aria-valuetext")`
	b.js(`document.querySelector(".slider").focus()`)
	b.press(kb.Home)
	b.holds(first + " === 0")
	b.press(kb.End)
	b.holds(first + " > 2900")
	b.holds(value + `.startsWith("index 5")`)
	b.press(kb.PageDown)
	b.holds(first + " < 2900")
	b.mouse(".slider", 0, chromedp.MousePressed, chromedp.MouseReleased)
	b.holds(first + " > 1300 && " + first + " < 1600")
	b.is(`document.querySelector(".where").textContent.split(" ")[0]`, "around")
}

func testTooLong(b *browser) {
	b.open(pagetest.Written(b.t, pagetest.Check(b.t, pagetest.LongHistory(20_000, 0.5), "")))
	b.holds(`document.querySelector(".holds").textContent.includes("of 20000 operations, those from index")`)
	b.js(`document.querySelector(".slider").focus()`)
	was := b.js(`document.querySelector(".canvas").innerHTML`)
	b.press(kb.Home)
	b.holds(`document.querySelector(".where").textContent.startsWith("this page does not hold the operations around index 0")`)
	if b.js(`document.querySelector(".canvas").innerHTML`) != was {
		b.t.Error("it has drawn something all the same")
	}
}

func testColors(b *browser, html []byte) {
	b.open(html)
	const light, dark = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
	paper := `getComputedStyle(document.body).backgroundColor`
	bar := `getComputedStyle(document.querySelector(".canvas .core, .canvas .bar")).fill`
	b.is(paper, light)
	lightBar := b.js(bar)
	b.do(media("", "dark"))
	b.is(paper, dark)
	if b.js(bar) == lightBar {
		b.t.Error("the drawing is not dark")
	}
	click := `document.getElementById("theme").click()`
	b.js(click) // light
	b.is(paper, light)
	b.is(bar, lightBar)
	b.js(click) // dark
	b.is(paper, dark)
	b.do(media("", "light"))
	b.is(paper, dark)
	b.js(click) // as the system
	b.is(paper, light)
}

func testPrint(b *browser, html []byte) {
	b.open(html)
	b.do(media("print", "dark"))
	b.is(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
	b.is(`getComputedStyle(document.querySelector(".tools")).display`, "none")
	b.js(`document.querySelector("details").open = false`)
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		pdf, err := cdp.Call(ctx, tab, cdppage.PrintToPDF, cdppage.PrintToPDFParams{})
		if err == nil && !strings.HasPrefix(string(pdf.Data), "%PDF") {
			err = errors.New("no PDF was printed")
		}
		return err
	}))
	b.holds(`document.querySelector("details").open`)
}

func testHostile(b *browser) {
	for _, html := range [][]byte{pagetest.Written(b.t, pagetest.Check(b.t, pagetest.HostileHistory(), "")), pagetest.Written(b.t, pagetest.Check(b.t, pagetest.HostileKeys(), "independent"))} {
		b.open(html)
		b.js(`document.querySelectorAll("details").forEach(d => { d.open = true })`)
		for range 3 {
			b.mouse(".canvas [data-op] rect", 0, chromedp.MouseMoved)
		}
		b.js(`document.querySelector(".canvas [data-op]").focus()`)
		b.press(kb.End, kb.Home, kb.ArrowDown)
		b.find("script")
		b.press(kb.Enter)
		b.js(`document.querySelector(".slider").focus()`)
		b.press(kb.Home, kb.End)
		b.is(`typeof window.pwned`, "undefined")
		b.is(`document.querySelectorAll("script").length - document.querySelectorAll("script.held").length`, "1")
		b.is(`document.querySelectorAll("img, iframe, object, [onerror], [onload], [onclick]").length`, "0")
		b.holds(`document.body.textContent.includes("</script><script>")`)
	}
	var porcupines bytes.Buffer
	if err := page.WritePorcupine(context.Background(), &porcupines, pagetest.Check(b.t, pagetest.HostileHistory(), "")); err != nil {
		b.t.Fatal(err)
	}
	b.open(porcupines.Bytes())
	b.is(`[...document.querySelectorAll("#canvas *")].reduce((n, e) => {
		for (const kind of ["mouseover", "mousemove"]) e.dispatchEvent(new MouseEvent(kind, {bubbles: true}));
		return n + document.querySelectorAll("img, b, [onclick], style:not(head style)").length;
	}, 0)`, "0")
	b.is(`typeof window.pwned`, "undefined")
}

func testPolicy(b *browser, html []byte) {
	b.open(html)
	b.js(`(() => {
		const s = document.createElement("script"); s.textContent = "window.pwned = 1"; document.body.append(s);
		const d = document.createElement("div"); d.innerHTML = '<img src="x.png" onerror="window.pwned = 2"><style>body { color: red }</style>'; document.body.append(d);
		const f = document.createElement("script"); f.src = "other.js"; document.body.append(f);
		fetch("http://127.0.0.1:9/").catch(() => {});
	})()`)
	b.do(chromedp.Sleep(100 * time.Millisecond))
	b.is(`typeof window.pwned`, "undefined")
	blocked := 0
	for _, c := range b.complaints() {
		if strings.Contains(c, "Content Security Policy") {
			blocked++
		} else {
			b.t.Error(c)
		}
	}
	if blocked < 5 {
		b.t.Errorf("the policy stopped %d things of 5", blocked)
	}
}

func testKeys(b *browser) {
	b.open(pagetest.Written(b.t, pagetest.Check(b.t, pagetest.KeyedHistory(30, 11), "independent")))
	b.is(`document.querySelectorAll(".index tbody tr").length`, "30")
	b.is(`document.querySelectorAll("section.part[data-failing]").length`, "8")
	b.holds(`document.querySelector(".index a").hash === "#key-1"`)
	b.holds(`[...document.querySelectorAll(".index a")].every(a => document.querySelector(a.hash))`)
	b.holds(`document.querySelector(".index tbody tr td").textContent === "INVALID"`)
	b.js(`document.querySelector("#key-3 .canvas [data-op]").focus()`)
	b.holds(tip + `.includes(":type :ok")`)
	other := `document.querySelector("#key-4 .canvas svg").getBoundingClientRect().width`
	was := b.js(other)
	b.js(`document.querySelector("#key-3 .canvas [data-op]").dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true}))`)
	b.holds(`document.querySelector("#key-3 .canvas svg").getBoundingClientRect().width > 1.2 * ` + was)
	b.is(other, was)

	// The table is sorted and filtered.
	first := `document.querySelector(".index tbody tr:not([hidden]) th").textContent`
	for _, want := range []string{"0", "29"} {
		b.js(`document.querySelector(".index thead button").click()`)
		b.is(first, want)
	}
	b.is(`document.querySelector(".index thead th").getAttribute("aria-sort")`, "descending")
	b.js(`document.querySelector(".filter input").focus()`)
	b.press("invalid")
	b.is(`document.querySelector(".filter output").textContent`, "11 of 30")
	b.is(`document.querySelectorAll(".index tbody tr:not([hidden])").length`, "11")

	// The run as a whole has every failing key.
	b.is(`document.querySelectorAll(".run .chart:first-of-type .s-fail").length`, "11")
}

func testStore(b *browser) {
	b.open(pagetest.StoreIndex(b.t))
	b.is(`document.querySelector(".verdict").textContent`, "INVALID")
	b.is(`document.querySelectorAll(".index tbody tr").length`, "3")
	b.is(`document.querySelector(".index a").getAttribute("href")`, "a%20test/20240101/history.html")
	b.is(`document.querySelectorAll(".index a").length`, "1")
	defer b.do(call(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
	for _, width := range []int64{360, 400, 700} {
		b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1, Mobile: true}))
		for _, html := range [][]byte{pagetest.StoreIndex(b.t), pagetest.Written(b.t, pagetest.Check(b.t, pagetest.KeyedHistory(30, 11), "independent"))} {
			b.open(html)
			b.holds(`document.documentElement.scrollWidth <= innerWidth`)
			b.holds(`Array.from(document.querySelectorAll(".index tbody td")).filter(e => e.textContent).every(e => (r => r.left >= 0 && r.right <= innerWidth)(e.getBoundingClientRect()))`)
		}
	}
}
