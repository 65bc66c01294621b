package certificates_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"clew"
	"clew/internal/archive"
	"clew/internal/campaign"
	"clew/internal/certificate"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// certified collects certificates for a program that shares nothing with clew to check.
type certified struct {
	t     *testing.T
	prove func(t testing.TB, pairs []string) string
	dir   string
	pairs []string // histories and certificates
	named map[string]string
}

func TestMain(m *testing.M) { kit.RunAndEndProver(m) }

// newCertified returns an empty collection. It skips the test if the program cannot run here.
func newCertified(t *testing.T) *certified {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3, which checks certificates, is not there")
	}
	return &certified{t: t, prove: kit.Prove, dir: t.TempDir(), named: map[string]string{}}
}

// add writes the certificate of a result of a file of EDN. It adds none if there is no verdict.
func (c *certified) add(name, file string, r *report.Result) (text string) {
	c.t.Helper()
	if r.Verdict == jepsen.Unknown {
		return ""
	}
	history, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := certificate.Write(context.Background(), &b, r, certificate.Options{SHA256: fmt.Sprintf("%x", sha256.Sum256(history))}); err != nil {
		c.t.Fatal(err)
	}
	c.put(name, file, b.String())
	return b.String()
}

// put adds a certificate.
func (c *certified) put(name, history, text string) {
	c.t.Helper()
	file := filepath.Join(c.dir, fmt.Sprintf("%d.certificate", len(c.pairs)))
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		c.t.Fatal(err)
	}
	c.pairs = append(c.pairs, history, file)
	c.named[file] = name
}

// file writes a history into a file of EDN.
func (c *certified) file(h *jepsen.History) string {
	c.t.Helper()
	var b bytes.Buffer
	if err := h.WriteEDN(&b); err != nil {
		c.t.Fatal(err)
	}
	file := filepath.Join(c.dir, fmt.Sprintf("%d.edn", len(c.pairs)))
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		c.t.Fatal(err)
	}
	return file
}

// text writes the text of a history into a file.
func (c *certified) text(history string) (file string) {
	c.t.Helper()
	file = filepath.Join(c.dir, fmt.Sprintf("%d.history", len(c.pairs)))
	if err := os.WriteFile(file, []byte(history), 0o666); err != nil {
		c.t.Fatal(err)
	}
	return file
}

// real returns the result of a real history, and a file of EDN that has it. A probe of errors has none.
func (c *certified) real(path string, spec models.Spec) (r *report.Result, file string) {
	c.t.Helper()
	r, err := kit.CheckFile(path, spec)
	if err != nil {
		return nil, ""
	}
	if filepath.Ext(path) == ".edn" {
		return r, path
	}
	file = c.file(r.History)
	if spec.Name == "" {
		spec.Name = r.Model
	}
	if r, err = kit.CheckAnew(file, spec); err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	return r, file
}

// expect makes the program check everything, and compares how its answers begin.
func (c *certified) expect(want map[string]string) {
	c.t.Helper()
	for name, said := range c.check() {
		if !strings.HasPrefix(said, want[name]) {
			c.t.Errorf("%s: %s; expected %s", name, said, want[name])
		}
	}
}

// check makes the program check all certificates, and returns its answer to each.
func (c *certified) check() map[string]string {
	c.t.Helper()
	said := map[string]string{}
	for line := range strings.Lines(c.prove(c.t, c.pairs)) {
		file, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		said[c.named[file]] = what
	}
	if len(said) != len(c.named) {
		c.t.Fatalf("%d answers about %d certificates", len(said), len(c.named))
	}
	return said
}

// realHistories returns all histories of the archive that can be read, with the spec to read each with.
func realHistories(t *testing.T) map[string]models.Spec {
	files := kit.InvalidHistories(t)
	for _, row := range archive.Table(t, archive.Path(t, "knossos", "verdicts.tsv"), true) {
		files[archive.Path(t, "knossos", row[0])] = kit.SpecOf(row[1])
	}
	for _, row := range archive.Table(t, archive.Path(t, "knossos-probes", "verdicts.tsv"), true) {
		spec := kit.SpecOf(row[1])
		files[archive.Path(t, "knossos-probes", row[0]+"."+spec.Name+".edn")] = spec
	}
	for _, row := range archive.Table(t, archive.Path(t, "porcupine", "etcd-expected.tsv"), false) {
		files[archive.Path(t, "porcupine", "etcd", row[0])] = models.Spec{Name: "cas-register", NilReadsExact: true, ObserveFailedCAS: true}
	}
	for _, name := range []string{"c01-ok.txt", "c10-ok.txt", "c50-ok.txt"} {
		files[archive.Path(t, "porcupine", "kv", name)] = models.Spec{Name: "kv"}
	}
	stores, err := filepath.Glob(filepath.Join(archive.Path(t, "redis-store"), "*", "*", "history.edn"))
	if err != nil || len(stores) != 4 {
		t.Fatalf("%d histories, expected 4 (%v)", len(stores), err)
	}
	for _, file := range stores {
		files[file] = models.Spec{Name: "register"}
	}
	for _, root := range []string{"linp", "limo"} {
		err := filepath.WalkDir(archive.Path(t, root), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files[path] = models.Spec{}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestAnotherProgramProvesTheVerdictsOnRealHistories(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	want, unread := map[string]string{}, 0
	all := realHistories(t)
	for i, path := range slices.Sorted(maps.Keys(all)) {
		if !effort.Takes(i) {
			continue
		}
		r, file := c.real(path, all[path])
		if r == nil {
			unread++
			continue
		}
		c.add(path, file, r)
		want[path] = "proved: " + map[jepsen.Verdict]string{jepsen.Valid: "linearizable as ", jepsen.Invalid: "not linearizable as "}[r.Verdict] + r.Model + " "
		if r.Verdict == jepsen.Invalid && r.Model == "list-append" {
			want[path] = "proved: strict-serializable does not hold ("
		}
	}
	said := c.check()
	proved := 0
	for path, what := range said {
		if strings.HasPrefix(what, want[path]) {
			proved++
		} else {
			t.Errorf("%s: %s; expected %s", path, what, want[path])
		}
	}
	t.Logf("%d of %d proved; %d files cannot be read", proved, len(said), unread)
	if len(said) < 170 || len(said) < 520 && !effort.Few() {
		t.Errorf("%d histories, expected more", len(said))
	}
}

// everyModel adds certificates of histories of every model and bug.
func (c *certified) everyModel() {
	c.t.Helper()
	n := 0
	for _, model := range models.All() {
		n++ // another seed of the same kinds
		for _, kind := range gen.LongKinds() {
			if kind != gen.Linearizable && !slices.Contains(gen.KindsOf(model.Name), kind) || model.Name == "java-queue" {
				continue
			}
			for seed := range uint64(3) {
				if n++; !effort.Takes(n) {
					continue
				}
				o := gen.LongOptions{Model: model.Name, Kind: kind, Operations: 120, Processes: 4, Crashes: 0.02, Fails: 0.1, At: 0.8, Seed: seed}
				switch seed {
				case 1: // values repeat, but a bug is certain all the same
					o.Operations, o.Processes, o.Values = 40, max(3, kind.Processes()), 4
				case 2:
					o.Independent, o.Processes = 3, 6
				}
				h, spec, independent := kit.LongHistory(c.t, o)
				r, err := clew.Check(context.Background(), h, spec, clew.Options{Independent: independent})
				if err != nil {
					c.t.Fatal(err)
				}
				if r.FailureKind() == models.BrokenGuarantee {
					continue // no step shows it
				}
				c.add(fmt.Sprintf("%s %s, seed %d: %s", model.Name, kind, seed, r.Verdict), c.file(h), r)
			}
		}
	}
}

func TestAnotherProgramProvesTheVerdictsOfEveryModel(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	c.everyModel()
	said := c.check()
	for name, what := range said {
		if !strings.HasPrefix(what, "proved: ") {
			t.Errorf("%s: %s", name, what)
		}
	}
	t.Logf("%d certificates", len(said))
}

// certifiedHistory returns a random history of a configuration, the spec that it has, and its result. Half of those of
// containers hold each value once.
func certifiedHistory(t *testing.T, r *rand.Rand, config models.Spec) (spec models.Spec, text string, result *report.Result) {
	t.Helper()
	spec = campaign.WithParameters(r, config)
	o := campaign.GenOptions(spec)
	o.Init = true
	if slices.Contains(campaign.Containers, spec.Name) && r.IntN(2) == 0 {
		o.Unique, o.Values = true, 8
	}
	g := gen.New(r, o)
	spec.Init = g.Init
	h, _, err := campaign.ReadText(spec, g.Text)
	if err != nil {
		t.Fatal(err)
	}
	if result, err = campaign.Checked(h, spec, "auto"); err != nil {
		t.Fatal(err)
	}
	return spec, g.Text, result
}

// TestAnotherProgramProvesTheVerdictsOnSmallHistories covers all ways to read each model, and all forms of its
// values.
func TestAnotherProgramProvesTheVerdictsOnSmallHistories(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	n := map[bool]int{true: 8, false: 40}[effort.Few()]
	if effort.Long() {
		n = 1000
	}
	texts := map[string]string{}
	for i, spec := range campaign.Configs() {
		if spec.Name == "java-queue" {
			continue
		}
		r := gen.Rand(uint64(90_000 + i))
		for range n {
			spec, text, result := certifiedHistory(t, r, spec)
			name := fmt.Sprintf("%s, %s %d", campaign.Name(spec), result.Verdict, len(c.pairs))
			texts[name] = text + c.add(name, c.text(text), result)
		}
	}
	said := c.check()
	wrong := 0
	for name, what := range said {
		if strings.HasPrefix(what, "proved: ") {
			continue
		}
		if wrong++; wrong <= 10 {
			t.Errorf("%s: %s\n%s", name, what, texts[name])
		}
	}
	t.Logf("%d certificates, %d of them not proved", len(said), wrong)
}

// A transaction that leaves a value which it has found did not bring that value. It need not be in the core of a
// transaction that saw it.
func TestAnotherProgramLeavesOutWhatBringsNoValue(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	h, err := clew.Read(strings.NewReader(`{:process 1, :type :invoke, :f :txn, :value [[:r :x nil] [:w :x 1]]}
{:process 2, :type :invoke, :f :txn, :value [[:r :x nil] [:w :x 1]]}
{:process 2, :type :ok, :f :txn, :value [[:r :x 1] [:w :x 1]]}
{:process 1, :type :ok, :f :txn, :value [[:r :x 1] [:w :x 1]]}
`), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "multi-register"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := c.add("both", c.file(h), r)
	if said := c.check()["both"]; !strings.HasPrefix(said, "proved: not linearizable") {
		t.Errorf("%s\n%s", said, text)
	}
}

const (
	certifiedRight = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 1, :type :invoke, :f :write, :value 2}
{:process 2, :type :invoke, :f :write, :value 3}
{:process 2, :type :fail, :f :write, :value 3}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 1}
{:process 1, :type :info, :f :write, :value 2}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 1}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 2}
`
	certifiedWrong = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 0, :type :invoke, :f :write, :value 2}
{:process 0, :type :ok, :f :write, :value 2}
{:process 1, :type :invoke, :f :write, :value 3}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 1}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 2}
`
	certifiedKeys = `{:process 0, :type :invoke, :f :write, :value [7 1]}
{:process 0, :type :ok, :f :write, :value [7 1]}
{:process 1, :type :invoke, :f :read, :value [8 nil]}
{:process 1, :type :ok, :f :read, :value [8 nil]}
`
)

// People who are to trust the program must be able to read it.
func TestTheProgramThatChecksCertificatesIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(kit.Path("docs", "certificate", "check.py"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(text, []byte("\n"))
	for _, file := range []string{kit.Path("README.md"), kit.Path("docs", "certificate.md")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said := regexp.MustCompile(`(?:a |is one, of )(\d+)(?:-line program| lines)`).FindSubmatch(text)
		if said == nil || string(said[1]) != strconv.Itoa((lines+9)/10*10) {
			t.Errorf("%s says %s of %d lines, to be rounded up to the next ten", file, said, lines)
		}
	}
	if lines > 400 {
		t.Errorf("%d lines, expected 400 at most", lines)
	}
	if regexp.MustCompile(`(?m)^(import|from) .*clew`).Match(text) {
		t.Error("it imports something of ours")
	}
}

// The program reads EDN, and tells users of other forms what to do.
func TestTheProgramThatChecksCertificatesSaysWhatItDoesNotRead(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	packed := func(text string) string {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		if err == nil {
			_, err = z.Write([]byte(text))
		}
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const other = "; clew convert --to edn -o h.edn HISTORY makes EDN of other forms"
	head := `{"clew-certificate":1,"operations":0,"model":"register","parameters":{},"independent":false,"clients":"integers","valid":true}` + "\n"
	want := map[string]string{}
	for _, x := range []struct{ name, history, certificate, says string }{
		{"nothing", "", head, "the sections do not add up to the verdict"},
		{"a comment", "; nothing\n", head, "the sections do not add up to the verdict"},
		{"a byte order mark", "\ufeff" + certifiedRight, head, "the history has another number of operations"},
		{"JSON", `[{"process":0,"type":"invoke","f":"write","value":1}]`, head, other},
		{"JSON lines", `{"process":0,"type":"invoke","f":"write","value":1}` + "\n", head, other},
		{"a log", "INFO  jepsen.util - 0 :invoke :write 1\n", head, other},
		{"lines of a log", "0 :invoke :write 1\n", head, other},
		{"fastlin", "# queue\nenq 1 0 2\n", head, other},
		{"LiMo", "[0] call enq(1)\n[0] return\n", head, other},
		{"zstd", packed(certifiedRight), head, other},
		{"what is no certificate", certifiedRight, certifiedRight, "rejected: this is no certificate"},
		{"an empty certificate", certifiedRight, "", "rejected: this is no certificate"},
	} {
		c.put(x.name, c.text(x.history), x.certificate)
		want[x.name] = x.says
	}
	c.put("a folder", c.dir, head)
	want["a folder"] = "not checked: [Errno 21] Is a directory"
	c.put("no file", filepath.Join(c.dir, "none"), head)
	want["no file"] = "not checked: [Errno 2] No such file or directory"
	for name, said := range c.check() {
		if !strings.Contains(said, want[name]) {
			t.Errorf("%s: %s; expected %s", name, said, want[name])
		}
	}
	const usage = "usage: check.py HISTORY CERTIFICATE"
	for _, args := range [][]string{{}, {"h.edn"}, {"h.edn", "proof.json", "h.edn"}} {
		if out := kit.Prove(t, args); !strings.HasPrefix(out, usage) {
			t.Errorf("%q: %s", args, out)
		}
	}
	if out, err := exec.Command("python3", "-B", kit.Path("docs", "certificate", "more.py")).CombinedOutput(); err == nil || !strings.HasPrefix(string(out), usage) {
		t.Errorf("%s (%v)", out, err)
	}
}

// Another reading of a value would be another verdict. So the program does not check values spelled in a way that it
// does not know for sure, nor anything that is not a history.
func TestTheProgramThatChecksCertificatesReadsAsClewDoes(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	const write, ok = `{:process 0, :type :invoke, :f :write, :value 1}` + "\n", `{:process 0, :type :ok, :f :write, :value 1}` + "\n"
	saw := func(written, read string) string {
		return `{:process 0, :type :invoke, :f :write, :value ` + written + `}
{:process 0, :type :ok, :f :write, :value ` + written + `}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value ` + read + `}
`
	}
	head := `{"clew-certificate":1,"operations":%d,"model":"register","parameters":{},"independent":false,"clients":"integers","valid":true}` + "\n"
	order := fmt.Sprintf(head, 2) + `{"key":null,"valid":true,"order":[0,1]}` + "\n"
	alone := fmt.Sprintf(head, 1) + `{"key":null,"valid":true,"order":[0]}` + "\n"
	none := fmt.Sprintf(head, 0) + `{"key":null,"valid":true,"order":[]}` + "\n"
	enqueued := strings.NewReplacer(":write", ":enqueue", ":read", ":dequeue").Replace
	priority := func(init string) string {
		return strings.NewReplacer("register", "priority-queue", "{}", `{"init":"`+init+`"}`).Replace(order)
	}
	const (
		equal   = "proved: linearizable as register {}, independent: False, clients: integers"
		unequal = "rejected: operation 1 cannot happen where it stands"
		unread  = "not checked: the history cannot be read: "
	)
	want := map[string]string{}
	for _, x := range []struct{ name, history, certificate, says string }{
		{"the same value", saw(`1`, `1`), order, equal},
		{"another value", saw(`1`, `2`), order, unequal},
		{"keys alone, of which there is none", saw(`1`, `2`), strings.Replace(fmt.Sprintf(head, 2), `"independent":false`, `"independent":true`, 1), "rejected: no operation has a key"},
		{"a list, which is not a key and value", saw(`(7 1)`, `(7 1)`), strings.Replace(fmt.Sprintf(head, 2), `"independent":false`, `"independent":true`, 1) + `{"key":"7","valid":true,"order":[0,1]}` + "\n", "rejected: no operation has a key"},
		{"a key that differs", strings.Replace(saw(`[7 1]`, `[7 1]`), `:read, :value nil`, `:read, :value [8 nil]`, 1), strings.Replace(fmt.Sprintf(head, 2), `"independent":false`, `"independent":true`, 1) + `{"key":"7","valid":true,"order":[0,1]}` + "\n" + `{"key":"8","valid":true,"order":[]}` + "\n", unread},
		{"a verdict that is neither", saw(`1`, `2`), strings.Replace(fmt.Sprintf(head, 2), `"valid":true`, `"valid":"no"`, 1) + `{"key":null,"valid":false,"fails":1,"core":[0,1]}` + "\n", "rejected: a certificate of another form"},
		{"a model whose name has lines", saw(`1`, `2`), strings.Replace(order, `"register"`, `"mine\nh: proved: linearizable"`, 1), "not checked: nothing is known of the model mine h: proved"},
		{"other clients", saw(`1`, `1`), strings.Replace(order, `"integers"`, `"some"`, 1), "rejected: a certificate of another form"},

		{"decimals", saw(`1.00000000000000000000000000001M`, `1.00000000000000000000000000002M`), order, unequal},
		{"one decimal", saw(`1.0M`, `100E-2M`), order, equal},
		{"a decimal of too large an exponent", saw(`1E99999M`, `10E99998M`), order, unread},
		{"a decimal and an integer", saw(`1M`, `1`), order, unequal},
		{"a float and an integer", saw(`1.0`, `1`), order, unequal},
		{"a big integer", saw(`1`, `+1N`), order, equal},
		{"a ratio", saw(`1/2`, `2/4`), order, equal},
		{"no ratio", saw(`2`, `4/2`), order, equal},
		{"a ratio of nothing", saw(`1/0`, `1/0`), order, unread},
		{"zeros", saw(`0.0`, `-0.0`), order, equal},
		{"infinity", saw(`##Inf`, `1e400`), order, equal},
		{"no number", saw(`##NaN`, `##NaN`), order, unequal},
		{"an octal", saw(`017`, `17`), order, unread},
		{"no octal", saw(`08`, `8`), order, unread},
		{"a hexadecimal", saw(`0x10`, `16`), order, unread},
		{"a radix", saw(`2r11`, `3`), order, unread},
		{"digits of another script", saw(`1`, "\u0661"), order, "not checked: the history cannot be read: it does not read ١"},
		{"an octal escape", saw(`"\101"`, `"101"`), order, unread},
		{"a Unicode escape", saw(`"\u0041\n"`, "\"A\n\""), order, equal},
		{"surrogates", saw(`"\ud83d\ude00"`, `"😀"`), order, unread},
		{"an escape of nothing", saw(`"\z"`, `"z"`), order, unread},
		{"a character by its name", saw(`\newline`, `\newline`), order, equal},
		{"a character that is white space", saw(`\newline`, "\\\n"), order, unread},
		{"an octal character", saw(`\o101`, `\A`), order, unread},
		{"a Unicode character", saw(`\u0041`, `\A`), order, unread},
		{"a character and brackets", saw(`[\( \a]`, `(\( \a)`), order, equal},
		{"lists in a set", saw(`#{[1] #{2 {:a 3, :b (4)}}}`, `#{#{{:b [4], :a 3N} 2} (1)}`), order, equal},
		{"a set with an element twice", saw(`#{1 1N}`, `#{1}`), order, unread},
		{"a map with a key twice", saw(`{1 2, 1N 3}`, `{1 3}`), order, unread},
		{"a map without a value", saw(`{1}`, `{}`), order, unread},
		{"an octal in a map", saw(`{:a [017]}`, `{:a [17]}`), order, unread},
		{"metadata", saw(`^:a [1]`, `^:a [2]`), order, unread},
		{"metadata of an op", write + "^:a " + ok, alone, unread},
		{"a comment", "; a\r\n" + saw(`1`, `1`) + "; b", order, equal},
		{"a comment that may end before its line", write + "; a\r" + ok, alone, unread},
		{"metadata after #", saw(`#^:a [1]`, `#^:a [2]`), order, unread},
		{"a quote", saw(`'(1)`, `'(1)`), order, unread},
		{"an instant", saw(`#inst "2020"`, `#inst "2020-01-01T00:00:00.0001Z"`), order, equal},
		{"another instant", saw(`#inst "2020-01-01"`, `#inst "2020-01-01T00:00:00.001"`), order, unequal},
		{"an instant elsewhere", saw(`#inst "2020-01-01T00:59:60-01:00"`, `#inst "2020-01-01T02Z"`), order, equal},
		{"an instant that is none", saw(`#inst "2021-02-29"`, `#inst "2021-02-29"`), order, unread},
		{"an instant of the Julian calendar", saw(`#inst "1582-10-05"`, `#inst "1582-10-15"`), order, unread},
		{"a UUID", saw(`#uuid "1-1-1-1-A"`, `#uuid "100000001-1-1-1-00a"`), order, equal},
		{"another UUID", saw(`#uuid "1-1-1-1-1"`, `#uuid "1-1-1-2-1"`), order, unequal},
		{"a UUID that is none", saw(`#uuid "A"`, `#uuid "a"`), order, unread},
		{"a record", saw(`#user.R{:a 1}`, `#user.R {:a 1}`), order, equal},
		{"a map with a namespace", saw(`#:a{:b 1, :_/c #:d{e [2]}, f/g 3}`, `{:a/b 1, :c {d/e (2)}, f/g 3}`), order, equal},
		{"another map with a namespace", saw(`#:a{:b 1}`, `{:b 1}`), order, unequal},
		{"a map with a namespace and a key twice", saw(`#:a{:b 1, :a/b 2}`, `{:a/b 2}`), order, unread},
		{"an op with a namespace", "#:a" + write, alone, unread},
		{"a tag of nothing", saw(`[1 #a]`, `[1]`), order, unread},
		{"an object", saw(`1 :error #<A b>`, `1`), order, unread},
		{"a regex", saw(`#"a"`, `#"a"`), order, unread},
		{"a regex that does not matter", saw(`1 :error #"a.*\"b{"`, `1 :error #"("`), order, equal},
		{"what does not matter", saw(`1 :error [017 \o101 #inst "2020" {1} 10.0.0.1]`, `1`) + "{:process :nemesis :type :info :f :stop :value [08 {1}]}\n", order, equal},
		{"what is discarded", saw(`#_ #_ 2 3 1`, `#a #_ #b 2 1`), order, unequal},
		{"a bracket that is not closed", write + `{:process 0, :value [1}`, alone, unread},
		{"a bracket too many", write + `}`, alone, unread},
		{"what is cut off", write + `{:process 0`, alone, unread},
		{"a string that is cut off", write + `{:process "0`, alone, unread},
		{"too deep", saw(strings.Repeat("[", 2000)+strings.Repeat("]", 2000), `1`), order, unread},
		{"too deep in tags", saw(strings.Repeat("#a ", 2000)+"1", `1`), order, unread},
		{"bytes that are no text", write + "\"\xff\"", alone, unread},
		{"an answer under another key", strings.Replace(saw(`1`, `7`), ":value 7", ":valu 7", 1), order, "not checked: the history cannot be read: it does not read an op that has no :value"},
		{"an answer beside a nil", strings.Replace(saw(`1`, `7`), ":value 7", ":value nil, :result 7", 1), order, "not checked: the history cannot be read: it does not read an op that has no :value"},
		{"a damaged gzip file", "\x1f\x8b\x08" + write, alone, "not checked: "},

		{"a client that is not an integer", strings.ReplaceAll(saw(`1`, `2`), ":process ", ":process :p"), none, "rejected: a process that is not an integer has an operation :"},
		{"a client that is not an integer, all being clients", strings.ReplaceAll(write+ok, ":process 0", `:process "a"`), strings.Replace(alone, `"integers"`, `"all"`, 1), "proved: linearizable as register {}, independent: False, clients: all"},
		{"no client of this model", saw(`1`, `1`) + "{:process :checker :type :okay :f :start}\n", order, equal},
		{"an op without a process", write + "{:type :ok, :f :write, :value 1}", alone, unread},
		{"no such :type", write + strings.Replace(ok, ":ok", ":okay", 1), alone, unread},
		{"a :type that is not a keyword", write + strings.Replace(ok, ":ok", `"ok"`, 1), alone, unread},
		{"an :f that is not a keyword", strings.ReplaceAll(write+ok, ":write", `"write"`), alone, unread},
		{"no such :f", strings.ReplaceAll(write+ok, ":write", `:swap`), alone, "rejected: the model register has no :swap"},
		{"a cas of a register", strings.ReplaceAll(saw(`[nil 1]`, `1`), ":write", `:cas`), order, "rejected: the model register has no :cas"},
		{"a cas of a register that failed", write + ok + strings.NewReplacer(":write", ":cas", ":ok", ":fail").Replace(write+ok), strings.Replace(fmt.Sprintf(head, 2), "\n", "\n"+`{"key":null,"valid":true,"order":[0]}`+"\n", 1), equal},
		{"another :f in the completion", write + strings.Replace(ok, ":write", ":read", 1), alone, unread},
		{"a completion of nothing", write + ok + strings.Replace(ok, "0", "1", 1), alone, unread},
		{"a failure of nothing", strings.Replace(ok, ":ok", ":fail", 1) + write + ok, alone, unread},
		{"a failure after it crashed", write + strings.Replace(ok, ":ok", ":info", 1) + strings.Replace(ok, ":ok", ":fail", 1), alone, equal},
		{"two operations at once", write + write, order, unread},
		{"a key twice in an op", saw(`1 :value 2`, `1`), order, unread},
		{"what is not an op", write + "[1]", alone, unread},
		{"an element that says that there is none", strings.ReplaceAll(strings.Replace(saw(`nil`, `nil`), ":f :read", ":f :dequeue", -1), ":write", ":enqueue"), strings.Replace(order, "register", "fifo-queue", 1), unread},
		{"a set that was not read", strings.ReplaceAll(saw(`1`, `nil`), ":write", ":add"), strings.Replace(order, "register", "set", 1), "proved: linearizable as set"},
		{"an answer that is neither", strings.NewReplacer(":write", ":insert", ":read", ":contains").Replace(saw(`1`, `2`)), strings.Replace(order, "register", "lookup-set", 1), unread},
		{"a transaction that is none", strings.NewReplacer(":write", ":txn", ":read", ":txn").Replace(saw(`{:a 1}`, `[[:s 1 2]]`)), strings.Replace(order, "register", "multi-register", 1), unread},
		{"a version that is none", saw(`[:a 1]`, `[1 1]`), strings.Replace(order, "register", "versioned-register", 1), unread},
		{"a count of what is not a number", strings.ReplaceAll(saw(`#{1}`, `1`), ":write", ":add"), strings.Replace(order, "register", "counter", 1), unread},
		{"a cas that is not a pair", strings.ReplaceAll(saw(`5`, `5`), ":write", ":cas"), strings.Replace(order, "register", "cas-register", 1), unread},
		{"an initial value of another spelling", saw(`1`, `1`), strings.Replace(order, `{}`, `{"init":"017"}`, 1), "not checked: "},
		{"a key of another spelling", saw(`[7 1]`, `[7 1]`), strings.Replace(fmt.Sprintf(head, 2), `"independent":false`, `"independent":true`, 1) + `{"key":"07","valid":true,"order":[0,1]}` + "\n", "not checked: "},
		{"what Java has for the greater string", enqueued(saw(`"～"`, `"～"`)), priority(`[\"😀\"]`), "proved: linearizable as priority-queue"},
		{"what Unicode has for the greater string", enqueued(saw(`"～"`, `"😀"`)), priority(`[\"😀\"]`), unequal},
		{"numbers that floats mistake", enqueued(saw(`9007199254740993`, `9007199254740993`)), priority(`[9007199254740992.0]`), unread},
		{"values of two types", enqueued(saw(`"a"`, `"a"`)), priority(`[:a]`), unread},
		{"a key that equals nothing", saw(`[##NaN 1]`, `[##NaN nil]`), strings.Replace(fmt.Sprintf(head, 2), `"independent":false`, `"independent":true`, 1) + `{"key":"##NaN","valid":true,"order":[0]}` + "\n", "not checked: "},
	} {
		c.put(x.name, c.text(x.history), x.certificate)
		want[x.name] = x.says
	}
	c.expect(want)
}

// A certificate proves nothing once it has been changed.
func TestAnotherProgramRejectsCertificatesThatWereTamperedWith(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	whole := map[string]string{}
	files := map[string]string{}
	for name, text := range map[string]string{"right": certifiedRight, "wrong": certifiedWrong, "keys": certifiedKeys} {
		files[name] = filepath.Join(c.dir, name+".edn")
		if err := os.WriteFile(files[name], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		h, err := clew.ReadFile(files[name], jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Independent: name == "keys"})
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = c.add(name, files[name], r)
	}
	want := map[string]string{"right": "proved: linearizable", "wrong": "proved: not linearizable", "keys": "proved: linearizable"}
	for _, x := range []struct{ name, of, old, new, says string }{
		{"another order", "right", `[0,3,4,1,5]`, `[0,1,3,4,5]`, "operation 3 cannot happen where it stands"},
		{"out of time", "right", `[0,3,4,1,5]`, `[0,4,3,1,5]`, "operation 3 had returned before one began that stands before it"},
		{"an operation less", "right", `[0,3,4,1,5]`, `[0,3,4,1]`, "operations are missing, such as [5]"},
		{"no crashed operation", "right", `[0,3,4,1,5]`, `[0,3,4,5]`, "operation 5 cannot happen where it stands"},
		{"an operation twice", "right", `[0,3,4,1,5]`, `[0,3,3,4,1,5]`, "stands in the order twice"},
		{"an operation of another history", "right", `[0,3,4,1,5]`, `[0,3,4,1,5,9]`, "operation 9 is none of these"},
		{"a failed operation", "right", `[0,3,4,1,5]`, `[0,3,4,2,1,5]`, "operation 2 has failed"},
		{"another verdict", "right", `"parameters":{},"independent":false,"clients":"integers","valid":true`, `"parameters":{},"independent":false,"clients":"integers","valid":false`, "the sections do not add up to the verdict"},
		{"another model", "right", `"model":"register"`, `"model":"stack"`, "rejected: "},
		{"a model of one's own", "right", `"model":"register"`, `"model":"mine"`, "not checked: nothing is known of the model mine"},
		{"another history", "right", `"sha256":"`, `"sha256":"0`, "the certificate is of another history"},
		{"another number of operations", "right", `"operations":6`, `"operations":7`, "the history has another number of operations"},
		{"nothing but the header", "right", "{\"key\":null,\"valid\":true,\"order\":[0,3,4,1,5]}\n", ``, "the sections do not add up to the verdict"},
		{"another core", "wrong", `"core":[0,1,3]`, `"core":[3]`, "an operation outside of the core may have been seen in it"},
		{"a core without what replaced the value", "wrong", `"core":[0,1,3]`, `"core":[0,3]`, "the core has a linearization"},
		{"a core that is linearizable", "wrong", `"fails":3`, `"fails":1`, "rejected: "},
		{"a core without the failing operation", "wrong", `"core":[0,1,3]`, `"core":[0,1]`, "the core is not one of operations"},
		{"a later failure", "wrong", `"fails":3`, `"fails":4`, "operations are missing, such as [3]"},
		{"a later failure in the core", "wrong", `"fails":3`, `"fails":4,"core":[0,1,3,4],"else":`, "rejected: "},
		{"an order instead of a core", "wrong", `"valid":false,"fails":3`, `"valid":true,"order":[0,1,3,4],"fails":3`, "rejected: "},
		{"another initial value", "wrong", `"model":"register","parameters":{}`, `"model":"stack","parameters":{"init":"[]"}`, "rejected: "},
		{"a key less", "keys", "{\"key\":\"8\",\"valid\":true,\"order\":[1]}\n", ``, "the sections do not add up to the verdict"},
		{"a key twice", "keys", `{"key":"8","valid":true,"order":[1]}`, `{"key":"7","valid":true,"order":[0]}`, "there are two sections of it"},
		{"a key that is not there", "keys", `{"key":"8"`, `{"key":"9"`, "there is no key 9"},
	} {
		if !strings.Contains(whole[x.of], x.old) {
			t.Errorf("%s: no %s in %s", x.name, x.old, whole[x.of])
		}
		c.put(x.name, files[x.of], strings.Replace(whole[x.of], x.old, x.new, 1))
		want[x.name] = x.says
	}
	for name, said := range c.check() {
		if !strings.Contains(said, want[name]) || strings.HasPrefix(said, "proved") != strings.HasPrefix(want[name], "proved") {
			t.Errorf("%s: %s; expected %s", name, said, want[name])
		}
	}
}

// If there is no time for a certificate, none that looks whole is written.
func TestACertificateEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, text := range []string{certifiedRight, certifiedWrong} {
		h, err := clew.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		enough := errors.New("enough")
		cancel(enough)
		if err := certificate.Write(ctx, io.Discard, r, certificate.Options{}); !errors.Is(err, enough) {
			t.Errorf("%v", err)
		}
	}
}
