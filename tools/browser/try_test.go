package browser

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"clew/internal/effort"
	"clew/internal/pagetest"
)

// builtPage builds the page of docs/try, and returns its address.
func builtPage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "wasm"), "./wasm")
	build.Dir = ".."
	page := exec.Command(filepath.Join(dir, "wasm"), "-page", "-o", filepath.Join(dir, "bin", "try"))
	page.Dir = filepath.Join("..", "..")
	for _, c := range []*exec.Cmd{build, page} {
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, said)
		}
	}
	return "file://" + filepath.Join(dir, "bin", "try", "index.html")
}

// tryPage opens the page, and waits until clew has started.
func (b *browser) tryPage(url string) {
	b.t.Helper()
	b.do(media("", "light"), chromedp.Navigate("about:blank"), chromedp.Navigate(url))
	b.until(`!document.getElementById("check").disabled || !document.getElementById("result").hidden`)
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for range 600 {
		if b.js(expression) == "true" {
			return
		}
		b.do(chromedp.Sleep(50 * time.Millisecond))
	}
	b.t.Fatalf("%s is not true after 30 s; the status is %q", expression, b.js(`document.getElementById("status").textContent`))
}

// verdict waits for a verdict.
func (b *browser) verdict(want string) {
	b.t.Helper()
	b.until(`!document.getElementById("result").hidden`)
	if said := b.js(verdict); !strings.HasPrefix(said, want) {
		b.t.Errorf("the verdict is %s: %s, want %s", said, b.js(`document.getElementById("explanation").textContent`), want)
	}
}

const verdict = `document.getElementById("verdict").textContent`

// fillIn writes into a field.
func (b *browser) fillIn(id, value string) {
	b.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		b.t.Fatal(err)
	}
	b.js(fmt.Sprintf(`(e => { e.value = %s; e.dispatchEvent(new Event("change", {bubbles: true})) })(document.getElementById(%q))`, text, id))
}

// dropped drops a file on the page.
func (b *browser) dropped(file string) {
	b.t.Helper()
	b.js(`scrollTo(0, 0)`)
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		b.do(call(input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 300, Y: 300,
			Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{file}, DragOperationsMask: 1}}))
	}
	b.until(fmt.Sprintf(`!document.getElementById("chosen").hidden && document.getElementById("name").textContent.startsWith(%q)`, filepath.Base(file)))
}

// written writes a file, and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// The page of docs/try is used as it is built: as a file, without a server.
func TestThePageThatChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds clew for WebAssembly")
	}
	b := startBrowser(t)
	url := builtPage(t)
	requests := requestsOf(b)
	b.in("by keyboard", func(t *testing.T) { testTryKeyboard(b, url) })
	b.in("a file is dropped", func(t *testing.T) { testTryDrop(b, url) })
	b.in("the evidence and its replay", func(t *testing.T) { testTryEvidence(b, url) })
	b.in("cancel", func(t *testing.T) { testTryCancel(b, url) })
	b.in("errors are marked in their place", func(t *testing.T) { testTryErrors(b, url) })
	b.in("flags are as on the command line", func(t *testing.T) { testTryFlags(b, url) })
	b.in("a link carries a history, its model and its flags", func(t *testing.T) { testTryLink(b, url) })
	b.in("every example of the documentation", func(t *testing.T) { testTryExamples(b, url) })
	b.in("small screens, and colors", func(t *testing.T) { testTryScreens(b, url) })
	b.in("the source says that it lacks clew", func(t *testing.T) { testTrySource(b, url) })
	b.in("nothing leaves the page", func(t *testing.T) { testTryPolicy(b, url, requests) })
}

// requestsOf returns what returns the addresses that pages have asked for.
func requestsOf(b *browser) func() []string {
	var all []string
	b.do(call(network.Enable, network.EnableParams{}), chromedp.Func(func(_ context.Context, tab *chromedp.Target) error {
		go func() {
			for e, err := range cdp.Events(b.ctx, tab, network.RequestWillBeSent) {
				if err != nil {
					return
				}
				b.mu.Lock()
				all = append(all, e.Request.URL)
				b.mu.Unlock()
			}
		}()
		return nil
	}))
	return func() []string {
		b.mu.Lock()
		defer b.mu.Unlock()
		return all
	}
}

// testTryKeyboard types a history and checks it, without a mouse.
func testTryKeyboard(b *browser, url string) {
	b.tryPage(url)
	tabTo := func(id string) {
		for range 30 {
			if b.press(kb.Tab); b.js(`document.activeElement.id`) == id {
				b.is(`getComputedStyle(document.activeElement).outlineStyle`, "solid")
				return
			}
		}
		b.t.Fatalf("tabs do not get to %s", id)
	}
	tabTo("history")
	b.press("0 :invoke :write 1\n0 :ok :write 1\n1 :invoke :read nil\n1 :ok :read 7\n")
	tabTo("init")
	b.press("0")
	tabTo("check")
	b.press(kb.Enter)
	b.verdict("INVALID")
	b.holds(`document.getElementById("model-said").textContent.startsWith("register from 0")`)
	b.holds(`document.getElementById("explanation").textContent.startsWith("value 7 was read by process 1")`)
	b.holds(`document.getElementById("text").textContent.includes("Never written: ")`)
	b.holds(`document.getElementById("status").textContent.startsWith("INVALID")`)
	// Every field has a name that is heard.
	b.holds(`[...document.querySelectorAll("input, select, textarea")].every(e => e.labels.length === 1)`)
}

func testTryDrop(b *browser, url string) {
	b.tryPage(url)
	b.dropped(written(b.t, "dropped.edn", pagetest.StaleRead))
	b.verdict("INVALID")
	b.is(`document.getElementById("name").textContent`, fmt.Sprintf("dropped.edn, %d bytes", len(pagetest.StaleRead)))
	b.holds(`document.getElementById("text").textContent.includes("dropped.edn: INVALID")`)
	b.holds(`document.getElementById("typed").hidden`)
	b.holds(`document.getElementById("story").children.length > 0`)
	// Back to what is typed.
	b.js(`document.getElementById("drop").click()`)
	b.is(`document.activeElement.id`, "history")
	// A file that is not a history says so. So does an archive.
	b.dropped(written(b.t, "broken.edn", "{:process 0,\n :type"))
	b.verdict("Not checked")
	b.holds(`document.getElementById("explanation").textContent.startsWith("broken.edn:")`)
	b.dropped(written(b.t, "runs.zip", "PK\x03\x04"))
	b.verdict("Not checked")
	b.holds(`document.getElementById("explanation").textContent.endsWith("a zip archive in place of one history; unpack it first")`)
}

func testTryEvidence(b *browser, url string) {
	b.tryPage(url + "#register-2")
	b.verdict("INVALID")
	b.holds(`document.getElementById("evidence").srcdoc.includes("Content-Security-Policy")`)
	b.is(`document.getElementById("evidence").sandbox.value`, "allow-scripts")
	b.holds(`document.querySelector("#save a").href.startsWith("blob:")`)
	// The frame is not to be reached, so the test opens it.
	b.js(`document.getElementById("evidence").sandbox.add("allow-same-origin")`)
	b.js(`document.getElementById("check").click()`)
	inside := `document.getElementById("evidence").contentDocument`
	b.until(inside + ` && ` + inside + `.querySelector(".verdict") !== null`)
	b.is(inside+`.querySelector(".verdict").textContent`, "INVALID")
	b.holds(inside + `.querySelector(".canvas .failing[data-op]") !== null`)
	b.until(inside + `.querySelector(".replay button") !== null`) // its script has made it
	for _, c := range b.complaints() {
		if !strings.Contains(c, "can escape its sandboxing") { // since the test opened it
			b.t.Error(c)
		}
	}
}

func testTryCancel(b *browser, url string) {
	b.tryPage(url)
	file := written(b.t, "long.edn", pagetest.LongHistory(200_000, 0.9))
	for _, way := range []string{`document.getElementById("cancel").click()`, `document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}))`} {
		b.dropped(file)
		b.until(`document.getElementById("progress").hasAttribute("value")`) // it reads
		b.js(way)
		b.is(`document.getElementById("status").textContent`, "Cancelled.")
		b.holds(`document.getElementById("cancel").disabled`)
		b.holds(`document.getElementById("result").hidden`)
	}
	b.js(`location.hash = "stack-2"`)
	b.verdict("INVALID")
}

func testTryErrors(b *browser, url string) {
	selected := func(id string) string {
		return fmt.Sprintf(`(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.getElementById(%q))`, id)
	}
	b.tryPage(url + "#own")
	b.verdict("INVALID")
	b.holds(`document.getElementById("model-said").textContent.startsWith("model.star")`)
	good := b.js(`document.getElementById("star").value`)
	for _, x := range []struct{ name, model, at, line string }{
		{"syntax", strings.Replace(good, "return state +", "return state + +* ", 1), "*  op.value", "5: "},
		{"an unknown name", strings.Replace(good, "return state +", "return sate +", 1), "sate + op.value", "5: "},
		{"a step", strings.Replace(good, "return state +", "return [] +", 1), "+ op.value", "5: "},
	} {
		b.fillIn("star", x.model)
		b.js(`document.getElementById("check").click()`)
		b.verdict("Not checked")
		line, _, _ := strings.Cut(strings.SplitN(x.model, "\n", 6)[4], "\n")
		if got := b.js(selected("star")); got == "" || !strings.HasSuffix(line, got) {
			b.t.Errorf("%s: the selection is %q", x.name, got)
		} else if got != x.at {
			b.t.Errorf("%s: the selection is %q, want %q", x.name, got, x.at)
		}
		b.is(`document.activeElement.id`, "star")
		b.is(`document.getElementById("star").getAttribute("aria-invalid")`, "true")
		b.holds(`document.getElementById("star-wrong").querySelector("pre").textContent.startsWith("` + x.line + `")`)
		b.holds(`/^(history: )?model\.star:5:/.test(document.getElementById("star-wrong").textContent)`)
	}
	b.fillIn("star", good)
	b.js(`document.getElementById("check").click()`)
	b.verdict("INVALID")
	b.holds(`document.getElementById("star-wrong").hidden && !document.getElementById("star").hasAttribute("aria-invalid")`)

	b.fillIn("model", "")
	b.fillIn("history", "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value ]}\n")
	b.js(`document.getElementById("check").click()`)
	b.verdict("Not checked")
	b.is(selected("history"), "]}")
}

func testTryFlags(b *browser, url string) {
	b.tryPage(url)
	b.fillIn("history", "0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :read nil\n0 :ok :read nil\n")
	for _, x := range [][2]string{
		{"", "Valid"}, {"--nil-reads exact", "INVALID"}, {"--nil-reads=exact --time-limit 10s", "INVALID"},
		{"--model register --init [0 nil] --how-far", "Valid"}, {"--frob", "Not checked"}, {"frob", "Not checked"},
		{"--nil-reads 'exact' --time-limit \"10s\"", "INVALID"}, {"--model register --init '1'", "Valid"}, {"--model register --init='\"a\"' --nil-reads exact", "INVALID"},
	} {
		b.fillIn("options", x[0])
		b.js(`document.getElementById("check").click()`)
		b.verdict(x[1])
	}
	b.holds(`document.getElementById("model-said").textContent.startsWith("register from \"a\"")`)
	b.fillIn("options", "--witness --core --svg --output json")
	b.js(`document.getElementById("check").click()`)
	b.verdict("Valid")
	b.is(`[...document.querySelectorAll("#save a")].map(a => a.textContent + ": " + a.download).join(", ")`, "Save the page of evidence: clew.html, Save the witness: witness.edn")
	b.is(`[...document.querySelectorAll("#warnings li")].map(li => li.textContent).join("; ")`, "1 nil read was taken to say nothing; if it saw nil, the completion at index 3 cannot happen (--nil-reads exact); this verdict is vacuous: every answer is nil; no core: the history is linearizable; no drawing: the history is linearizable")
	b.holds(`document.querySelector("#text pre").textContent.includes("\"valid\":true")`)
	b.fillIn("options", "--init nil")
	b.fillIn("history", "0 :invoke :write [:a 1]\n0 :ok :write [:a 1]\n0 :invoke :read [:b nil]\n0 :ok :read [:b 1]\n")
	b.js(`document.getElementById("independent").click()`)
	b.js(`document.getElementById("check").click()`)
	b.verdict("INVALID")
	b.holds(`document.getElementById("explanation").textContent.includes("value 1 was read")`)
}

func testTryLink(b *browser, url string) {
	b.tryPage(url)
	model := "init = 0\ndef look(state, op):\n    return state if op.out == state else inconsistent(\"ü\")\nops = {\"look\": look}\n"
	b.fillIn("history", "0 :invoke :look nil\n0 :ok :look 8\n")
	b.fillIn("model", "own")
	b.fillIn("star", model)
	b.fillIn("init", "7")
	b.js(`document.getElementById("share").click()`)
	b.until(`document.getElementById("link").value !== ""`)
	link := b.js(`document.getElementById("link").value`)
	if len(link) > len(url)+400 {
		b.t.Errorf("the link has %d characters", len(link))
	}
	b.tryPage(link)
	b.verdict("INVALID")
	b.is(`document.getElementById("star").value`, model)
	b.is(`document.getElementById("init").value`, "7")
	b.holds(`document.getElementById("explanation").textContent.includes("ü")`)

	// A file goes into a link if it is a small text.
	b.dropped(written(b.t, "h.edn", pagetest.StaleRead))
	b.fillIn("model", "")
	b.until(`!document.getElementById("check").disabled`)
	b.js(`document.getElementById("share").click()`)
	b.until(`document.getElementById("link").value !== ""`)
	b.tryPage(b.js(`document.getElementById("link").value`))
	b.until(`!document.getElementById("result").hidden`)
	b.is(`document.getElementById("history").value`, pagetest.StaleRead)

	b.dropped(written(b.t, "binary", "\x1f\x8b\x00"))
	b.until(`!document.getElementById("check").disabled`)
	b.js(`document.getElementById("share").click()`)
	b.until(`document.getElementById("status").textContent.startsWith("a link carries small texts only")`)
	b.tryPage(url)
	// What the form says no longer stands in a link.
	b.js(`document.getElementById("share").click()`)
	b.js(`(e => { e.value = "register"; e.dispatchEvent(new Event("input", {bubbles: true})) })(document.getElementById("model"))`)
	b.holds(`document.getElementById("shared").hidden && location.hash === ""`)
	b.js(`location.hash = "100%"`)
	b.until(`document.getElementById("status").textContent === "There is no example 100%."`)
	b.js(`location.hash = "h=AAAA"`)
	b.until(`document.getElementById("status").textContent === "The link is damaged."`)

	// A short link that unpacks to much is not unpacked.
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		b.t.Fatal(err)
	}
	fmt.Fprintf(w, `{"history":"%s"}`, strings.Repeat(" ", 16<<20))
	w.Close()
	b.js(fmt.Sprintf("location.hash = %q", "h="+base64.RawURLEncoding.EncodeToString(packed.Bytes())))
	b.until(`document.getElementById("status").textContent === "The link carries more than 4194304 bytes."`)
}

// testTryExamples follows every link of docs/models.md. Each data type has some.
func testTryExamples(b *browser, url string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "models.md"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.tryPage(url)
	verdicts := map[string]string{"Linearizable": "Valid", "Not linearizable": "INVALID"}
	links := regexp.MustCompile(`(?ms)^([A-Z][a-z ]+)(?:, with [^\n]+)?:\n\n`+"```\n[^`]+```"+`\n\n\[Try it\]\(try/index\.html#([a-z0-9-]+)\)$`).FindAllStringSubmatch(string(text), -1)
	for _, x := range links {
		b.js(`document.getElementById("result").hidden = true`)
		b.js(fmt.Sprintf(`location.hash = %q`, x[2]))
		b.until(`!document.getElementById("result").hidden`)
		got := b.js(verdict)
		if want, is := verdicts[x[1]]; is && !strings.HasPrefix(got, want) || strings.HasPrefix(got, "Not checked") {
			b.t.Errorf("%s, %s: %s: %s", x[2], x[1], got, b.js(`document.getElementById("explanation").textContent`))
		}
		b.is(`document.getElementById("example").value`, x[2])
	}
	b.is(`clew.examples.length`, fmt.Sprint(len(links)+1)) // and the model of docs/own-models.md
	b.holds(`clew.models.every(m => clew.examples.some(x => x.model === m.name))`)
	b.js(`location.hash = "nothing-1"`)
	b.until(`document.getElementById("status").textContent === "There is no example nothing-1."`)
}

func testTryScreens(b *browser, url string) {
	defer b.do(call(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
	for _, width := range []int64{360, 800, 1400} {
		b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width == 360}))
		b.tryPage(url + "#register-2")
		b.verdict("INVALID")
		b.fillIn("model", "own")
		b.holds(`document.documentElement.scrollWidth <= innerWidth`)
	}
	ink := `getComputedStyle(document.body).color`
	light := b.js(ink)
	b.do(media("", "dark"))
	b.holds(ink + ` !== "` + light + `"`)
}

// testTrySource opens the source of the page. It finds what has been built, and says so if nothing was.
func testTrySource(b *browser, url string) {
	built := strings.TrimSuffix(strings.TrimPrefix(url, "file://"), filepath.Join("bin", "try", "index.html"))
	for _, root := range []string{b.t.TempDir(), built} {
		source := filepath.Join(root, "docs", "try")
		if err := os.CopyFS(source, os.DirFS(filepath.Join("..", "..", "docs", "try"))); err != nil {
			b.t.Fatal(err)
		}
		b.do(chromedp.Navigate("file://" + filepath.Join(source, "index.html#register-2")))
		if root == built {
			b.verdict("INVALID")
		} else {
			b.until(`!document.getElementById("missing").hidden`)
		}
	}
	for _, c := range b.complaints() {
		if !strings.Contains(c, "ERR_FILE_NOT_FOUND") {
			b.t.Error(c)
		}
	}
}

// testTryPolicy tries to get something out, from the page and from a worker as its own, and looks at all that has been asked for.
func testTryPolicy(b *browser, url string, requests func() []string) {
	seen := requests()
	for _, r := range seen {
		if !strings.HasPrefix(r, "file:") && !strings.HasPrefix(r, "blob:") && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "about:") {
			b.t.Errorf("a page asked for %s", r)
		}
	}
	if len(seen) < 20 {
		b.t.Errorf("only %d requests were seen", len(seen))
	}
	b.tryPage(url)
	b.js(`(() => {
		fetch("http://127.0.0.1:9/").catch(() => {});
		new Image().src = "http://127.0.0.1:9/x.png";
		window.said = "";
		const w = new Worker(URL.createObjectURL(new Blob(['fetch("http://127.0.0.1:9/").then(() => postMessage("out"), () => postMessage("held"))'])));
		w.onmessage = (e) => { window.said = e.data };
	})()`)
	b.until(`window.said !== ""`)
	b.is(`window.said`, "held")
	b.do(chromedp.Sleep(100 * time.Millisecond))
	blocked := 0
	for _, c := range b.complaints() {
		if strings.Contains(c, "Content Security Policy") {
			blocked++
		}
	}
	if blocked < 2 {
		b.t.Errorf("the policy stopped %d things of at least 2", blocked)
	}
}

// A file of 100 MB is read as bytes.
func TestThePageChecksLargeFiles(t *testing.T) {
	if !effort.Long() {
		t.Skip("CLEW_LONG is not set")
	}
	b := startBrowser(t)
	b.tryPage(builtPage(t))
	text := pagetest.LongHistory(800_000, 0.9)
	if len(text) < 100e6 {
		t.Fatalf("the history has %d bytes", len(text))
	}
	b.dropped(written(t, "large.edn", text))
	b.do(chromedp.Sleep(time.Second))
	for b.js(`document.getElementById("result").hidden`) == "true" {
		b.do(chromedp.Sleep(time.Second))
	}
	b.verdict("INVALID")
	t.Log(b.js(`document.getElementById("model-said").textContent`))
}
