package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"clew/fallback"
	"clew/internal/batch"
	"clew/internal/effort"
	"clew/internal/enginetest"
)

func TestMain(m *testing.M) {
	testscript.Main(patientTests{effort.Roomy{M: m}}, map[string]func(){"clew": main, "wrongclew": func() {
		os.Exit(runWith(context.Background(), wrong, os.Args, os.Stdin, os.Stdout, os.Stderr))
	}, "patientclew": func() {
		bePatient()
		main()
	}, "unhurriedclew": func() { // whose work ends on its own after a signal
		batch.BePatient(100)
		main()
	}})
}

// patientTests runs tests whose clew is patient where it runs in their process.
type patientTests struct{ effort.Roomy }

func (m patientTests) Run() int {
	bePatient()
	return m.Roomy.Run()
}

// bePatient gives what a limit or a signal ends ten times as long as clew does, since a machine may be busy.
func bePatient() {
	batch.BePatient(10)
}

// wrong is an engine that is wrong about every witness.
var wrong = enginetest.Wrong["takes the last operation first"]

// The scripts are conversations with clew. In addition to testscript's own commands they know:
//
//	status N clew ARG...      run clew in this process, which costs a tenth of a process of its own; it ends with status N.
//	                          A last argument <FILE is its standard input, and otherwise that is empty
//	status N wrongclew ARG... the same for clew whose engine is wrong about every witness
//	status N exec COMMAND ARG...
//	                          run a process, which exits with status N: clew itself where a process, its memory, its
//	                          environment or its descriptors matter
//	patient N PATTERN clew ARG...
//	                          what status does, with exec too, but with a --time-limit that is longer each time, until clew ends with
//	                          status N and prints what the pattern matches: a busy machine may need longer to begin
//	said FILE                 standard output is the file, but for times (N ms),
//	                          engines (ENGINE) and explanations in JSON (WHY)
//	pack FORM FILE PACKED     compress a file with gzip or zstd
//	archive DIR ARCHIVE       put a directory into a .tar, .tar.gz or .zip
//	hard N FILE               write a history that takes time to decide
//	many N FILE               write a history with a failure of N open operations
//	huge N FILE               write a history with a value of N megabytes
//	trim FILE                 take the last newline off a file
//	cut N FILE                keep the first N bytes of a file
//
// The example histories are in $HISTORIES, and files as Jepsen stores tests in $TESTFILES.
func TestScripts(t *testing.T) {
	testdata, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testFiles, err := filepath.Abs(filepath.Join("..", "..", "internal", "testfile", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(testdata, "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HISTORIES", filepath.Join(testdata, "histories"))
			env.Setenv("TESTFILES", testFiles)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's clew would sleep at every end
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":  status,
			"patient": patient,
			"said":    said,
			"pack":    pack,
			"archive": archive,
			"huge":    huge,
			"cut": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.ParseInt(args[0], 10, 64)
				ts.Check(err)
				ts.Check(os.Truncate(ts.MkAbs(args[1]), n))
			},
			"trim": func(ts *testscript.TestScript, _ bool, args []string) {
				text := strings.TrimSuffix(ts.ReadFile(args[0]), "\n")
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
			},
			"many": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(many(n)), 0o666))
			},
			"hard": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				history := hard(n)
				for _, file := range args[2:] {
					history += ts.ReadFile(file)
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(history), 0o666))
			},
		},
	})
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := ran(ts, args[1], args[2:])
	got.print(ts)
	if got.status != want {
		ts.Fatalf("status %d, want %d", got.status, want)
	}
}

var timeLimit = regexp.MustCompile(`--time-limit (\w+)`)

func patient(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: patient N PATTERN COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	line := strings.Join(args[2:], "\x00")
	found := timeLimit.FindStringSubmatchIndex(strings.ReplaceAll(line, "\x00", " "))
	if found == nil {
		ts.Fatalf("there is no --time-limit")
	}
	before, after := line[:found[2]], line[found[3]:]
	limit, err := time.ParseDuration(line[found[2]:found[3]])
	ts.Check(err)
	for ; ; limit *= 3 {
		args := strings.Split(before+limit.String()+after, "\x00")
		got := ran(ts, args[0], args[1:])
		done := got.status == want && pattern.MatchString(got.stdout+got.stderr)
		if done || limit > effort.Hang/6 {
			got.print(ts)
		}
		switch {
		case done:
			return
		case limit > effort.Hang/6:
			ts.Fatalf("status %d, want %d and %s, even with a time limit of %v", got.status, want, pattern, limit)
		}
	}
}

// ending is what a command printed, and its status.
type ending struct {
	status         int
	stdout, stderr string
	printed        bool // the script knows it already
}

// print makes what was printed the standard output and error of the script's command.
func (e ending) print(ts *testscript.TestScript) {
	if !e.printed {
		io.WriteString(ts.Stdout(), e.stdout)
		io.WriteString(ts.Stderr(), e.stderr)
	}
}

// ran runs a command of a script.
func ran(ts *testscript.TestScript, command string, args []string) (got ending) {
	switch command {
	case "clew":
		got = runHere(ts, nil, args)
	case "wrongclew":
		got = runHere(ts, wrong, args)
	case "exec":
		err := ts.Exec(args[0], args[1:]...)
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got.status = exit.ExitCode()
		} else {
			ts.Check(err)
		}
		got.stdout, got.stderr, got.printed = ts.ReadFile("stdout"), ts.ReadFile("stderr"), true
	default:
		ts.Fatalf("expected clew, wrongclew or exec, not %s", command)
	}
	return got
}

// here is held by what runs in the script's folder: a process has one. No other test runs while scripts do.
var here sync.Mutex

// runHere runs clew in this process, but in the script's folder.
func runHere(ts *testscript.TestScript, engine fallback.Engine, args []string) ending {
	stdin := ""
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		stdin, args = ts.ReadFile(args[last][1:]), args[:last]
	}
	here.Lock()
	defer here.Unlock()
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(before)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	var stdout, stderr heard
	status := runWith(ctx, engine, append([]string{"clew"}, args...), strings.NewReader(stdin), &stdout, &stderr)
	return ending{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

// heard is what clew wrote. Work that clew left behind may still write.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

var variable = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b[0-9.]+ ms\b`), "N ms"},
	{regexp.MustCompile(`:ms [0-9.E-]+`), ":ms N"},
	{regexp.MustCompile(`"ms":[0-9.e-]+`), `"ms":N`},
	{regexp.MustCompile(`clew/[a-z-]+`), "ENGINE"},
	{regexp.MustCompile(`(?m)(ENGINE) +[0-9.]+$`), "$1      N"},
	{regexp.MustCompile(`held \d+ configurations`), "held N configurations"},
	{regexp.MustCompile(`"(explanation|hard)":"[^"]+"`), `"$1":"WHY"`},
}

func said(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: said FILE")
	}
	got, want := ts.ReadFile("stdout"), ts.ReadFile(args[0])
	for _, v := range variable {
		got = v.re.ReplaceAllString(got, v.with)
	}
	if got != want {
		ts.Fatalf("clew said\n%s\nwant\n%s", got, want)
	}
}

func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pack gzip|zstd FILE PACKED")
	}
	form := map[string]func(string) string{"gzip": gzipped, "zstd": zstandard}[args[0]]
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[2])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(form(ts.ReadFile(args[1]))), 0o666))
}

func archive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: archive DIR ARCHIVE")
	}
	text, err := archived(args[1], os.DirFS(ts.MkAbs(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// archived returns an archive of files, of the kind that its name says.
func archived(name string, files fs.FS) (string, error) {
	var b bytes.Buffer
	var err error
	if strings.HasSuffix(name, ".zip") {
		z := zip.NewWriter(&b)
		err = errors.Join(z.AddFS(files), z.Close())
	} else {
		t := tar.NewWriter(&b)
		err = errors.Join(t.AddFS(files), t.Close())
	}
	if strings.HasSuffix(name, ".gz") {
		return gzipped(b.String()), err
	}
	return b.String(), err
}

// clewReading starts clew as a process and returns once clew has read the history from its standard input.
// The input stays open if open is true.
func clewReading(t *testing.T, history string, open bool, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	return reading(t, exec.Command("unhurriedclew", args...), history, open)
}

// reading does the same for any command.
func reading(t *testing.T, cmd *exec.Cmd, history string, open bool) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	// More than a pipe holds: writing ends once clew has read the history. The search need not have begun.
	blanks := strings.Repeat(" ", 1<<20)
	if _, err := io.WriteString(in, history+blanks); err != nil && !errors.Is(err, syscall.EPIPE) { // it may have ended
		t.Fatal(err)
	}
	if !open {
		in.Close()
	}
	return cmd, &out
}

// ends waits for a process, which must end with a status.
func ends(t *testing.T, cmd *exec.Cmd, status int) {
	t.Helper()
	ended(t, cmd)
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("status %d, want %d (%s)", got, status, cmd.ProcessState)
	}
}

// ended waits for a process. It ends some tenths of a second after a limit or a signal, but ended does not say so: it fails
// only if the process hangs.
func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(effort.Hang):
		cmd.Process.Kill()
		<-done
		t.Fatalf("still running after %v", effort.Hang)
	}
}

// signals end clew with the answer that it has.
var signals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func TestASignalEndsALongSearch(t *testing.T) {
	for _, signal := range signals {
		cmd, out := clewReading(t, hard(60), false, "check", "--output", "edn", "-")
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		ends(t, cmd, exitUnknown)
		if s := out.String(); !strings.Contains(s, ":valid? :unknown") || !strings.Contains(s, ":cause :interrupted") || strings.Count(s, "\n") != 1 {
			t.Errorf("%s: %s", signal, s)
		}
	}
}

func TestASignalLeavesNoTemporaryFiles(t *testing.T) {
	for _, signal := range signals {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		cmd, _ := clewReading(t, write, true, "convert", "--to", "json", "-")
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		ends(t, cmd, exitUsage)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %d files are left, %v", signal, len(left), err)
		}
	}
}

func TestASignalEndsOutputThatIsNotRead(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "h.edn", many(10))
	putFile(t, "many.edn", many(3000))
	if out, err := exec.Command("mkfifo", "fifo").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	unread, results, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	for _, signal := range signals {
		for args, stdout := range map[string]*os.File{"--core fifo h.edn": nil, "--output edn many.edn": results} {
			patiently(t, func(wait time.Duration) (string, bool) {
				cmd := exec.Command("patientclew", append([]string{"check"}, strings.Fields(args)...)...)
				var said strings.Builder
				if cmd.Stderr, cmd.Stdout = &said, &said; stdout != nil {
					cmd.Stdout = stdout
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { cmd.Process.Kill() })
				time.Sleep(wait) // The verdict should be found by then. Nothing reads it.
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				ended(t, cmd)
				s := said.String()
				return fmt.Sprintf("%s, %s: %s, want status %d\n%s", signal, args, cmd.ProcessState, exitInvalid, s), cmd.ProcessState.ExitCode() == exitInvalid &&
					strings.Contains(s, "not written to its end: interrupted\n") && (stdout != nil || strings.Contains(s, "INVALID"))
			})
		}
	}
}

func TestAnInterruptEndsAVerificationThatNeverEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "order.edn", write)
	cmd, out := clewReading(t, write, true, "verify", "-", "order.edn")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, exitUnknown)
	if s := out.String(); s != "order.edn: unknown: interrupted\n" {
		t.Error(s)
	}
}

func TestAnInterruptEndsReadingThatNeverEnds(t *testing.T) {
	cmd, out := clewReading(t, write, true, "check", "-")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, exitUnknown)
	if s := out.String(); s != "-: unknown: interrupted\n" {
		t.Error(s)
	}
}

func TestAnInterruptIsAnAnswerForEveryFile(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "1.edn", hard(60))
	putFile(t, "2.edn", write)
	cmd, out := clewReading(t, hard(60), false, "check", "--output", "json", "-", "1.edn", "1.edn", "1.edn", "1.edn", "1.edn", "2.edn")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, exitUnknown)
	if s := out.String(); strings.Count(s, "\n") != 7 || strings.Count(s, `"cause":"interrupted"`) < 6 {
		t.Error(s)
	}
}

func TestAnInterruptIsOneLineForAllThatWasNotChecked(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"check", "-"}
	for i := range 200 {
		args = append(args, strconv.Itoa(i)+".edn")
		putFile(t, strconv.Itoa(i)+".edn", hard(60))
	}
	cmd, out := clewReading(t, hard(60), false, args...)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, exitUnknown)
	said := regexp.MustCompile(`(?m)^interrupted: (1\d\d|20[01]) of 201 histories were not checked\n201 histories: 0 valid, 0 invalid, 201 unknown, 0 unreadable\n\z`)
	if s := out.String(); !said.MatchString(s) || strings.Count(s, "\n") > 50 {
		t.Error(s)
	}
}

// A report for pipelines is whole: one case covers all histories that were not begun.
func TestAnInterruptedReportIsWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"check", "--output", "junit", "-"}
	for i := range 20 {
		args = append(args, strconv.Itoa(i)+".edn")
		putFile(t, strconv.Itoa(i)+".edn", hard(60))
	}
	cmd, out := clewReading(t, hard(60), false, args...)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, exitUnknown)
	said := regexp.MustCompile(`<error message="unknown: interrupted: (1\d|20) more histories were not started" type="unknown-interrupted">[^<]*</error>\s*</testcase>\s*</testsuite>\s*</testsuites>\n\z`)
	if s := out.String(); !said.MatchString(s) {
		t.Error(s)
	}
}

func TestTheLifelineEndsALongSearch(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "h.edn", hard(60))
	cmd := exec.Command("patientclew", "check", "--stdin-is-lifeline", "h.edn")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if _, err := io.WriteString(in, strings.Repeat("what comes here does not matter\n", 1<<12)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	ends(t, cmd, exitUnknown)
	if s := out.String(); s != "clew: standard input closed; ending\n" {
		t.Error(s)
	}
}

// huge writes a history with a value of many megabytes, which take no room.
func huge(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	const before, after = `{:process 0, :type :invoke, :f :write, :value "`, "\"}\n"
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteString(before)
	ts.Check(err)
	_, err = f.WriteAt([]byte(after), int64(len(before))+n<<20)
	ts.Check(err)
}
