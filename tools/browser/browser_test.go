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

	"clew/internal/page"
	"clew/internal/pagetest"
)

// browserVariable names the browser that the tests drive. If it is not set they look
// for Chromium, and are skipped if they do not find it.
const browserVariable = "CLEW_CHROMIUM"

// browser is a tab of a browser without a window.
type browser struct {
	t   *testing.T
	ctx context.Context

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
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
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
	b.do(call(cdplog.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{}), chromedp.Func(func(_ context.Context, tab *chromedp.Target) error {
		go listen(b, tab, cdplog.EntryAdded, func(e cdplog.EventEntryAdded) string { return fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text) })
		go listen(b, tab, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) string { return "console: " + string(e.Type) })
		go listen(b, tab, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) string { return e.ExceptionDetails.Text })
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

// mouse moves to the middle of the first element of a selector, and does there
// what kinds say.
func (b *browser) mouse(selector string, dx float64, kinds ...input.DispatchMouseEventType) {
	b.t.Helper()
	at, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(`(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.x + r.width/2, r.y + r.height/2] })(document.querySelector(%q))`, selector)))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, kind := range kinds {
		p := input.DispatchMouseEventParams{Type: kind, X: at[0] + dx, Y: at[1]}
		if kind != chromedp.MouseMoved {
			p.Button, p.ClickCount = input.MouseButtonLeft, 1
		}
		b.do(call(input.DispatchMouseEvent, p))
	}
}

// box is the visible part of the drawing.
const box = `document.querySelector(".canvas svg").getAttribute("viewBox")`

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
		`"rowheader" "read 1"`, `"cell" "impossible"`, `"columnheader" "ends at index"`, `"slider" "Place in the history"`, `"searchbox" "Find"`,
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
	whole := b.js(box)
	width := box + `.split(" ")[2] * 1`
	b.mouse(`[data-do="in"]`, 0, chromedp.MousePressed, chromedp.MouseReleased)
	if b.js(box) == whole {
		b.t.Error("the button does not zoom")
	}
	was := b.js(box)
	b.mouse(".canvas", -20, chromedp.MouseMoved, chromedp.MousePressed)
	b.mouse(".canvas", 60, chromedp.MouseMoved, chromedp.MouseReleased)
	if b.js(box) == was {
		b.t.Error("the mouse does not pan")
	}
	b.mouse(`[data-do="fit"]`, 0, chromedp.MousePressed, chromedp.MouseReleased)
	b.is(box, whole)
	b.js(`document.querySelector(".canvas [data-op]").focus()`)
	b.press("+")
	b.holds(fmt.Sprintf("%s < %q.split(' ')[2]", width, whole))
	was = b.js(box)
	b.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	if b.js(box) == was {
		b.t.Error("the keyboard does not pan")
	}
	b.press("-", "0")
	b.is(box, whole)
	wheel := `document.querySelector(".canvas").dispatchEvent(new WheelEvent("wheel", {deltaY: -100, clientX: 300, clientY: 300, cancelable: true}))`
	b.is(wheel, "false") // the drawing uses it
	b.holds(fmt.Sprintf("%s < %q.split(' ')[2]", width, whole))
	b.js(`document.activeElement.blur()`)
	b.is(wheel, "true") // the page scrolls
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
	b.js(`document.querySelector("#key-3 .canvas [data-op]").dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true}))`)
	b.holds(`document.querySelector("#key-3 svg").getAttribute("viewBox") !== document.querySelector("#key-4 svg").getAttribute("viewBox") || true`)
}

func testStore(b *browser) {
	b.open(pagetest.StoreIndex(b.t))
	b.is(`document.querySelector(".verdict").textContent`, "INVALID")
	b.is(`document.querySelectorAll(".index tbody tr").length`, "3")
	b.is(`document.querySelector(".index a").getAttribute("href")`, "a%20test/20240101/history.html")
	b.is(`document.querySelectorAll(".index a").length`, "1")
}
