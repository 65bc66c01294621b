package kit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"clew/internal/effort"
)

// levels.py for one request after the other: each line is the arguments of a command, and an empty line ends its answers.
const serve = `
import json, sys
sys.path.insert(0, sys.argv[1])
import check, levels
for line in sys.stdin:
    sys.argv[1:] = json.loads(line)
    try: check.main()
    except SystemExit as why: print(why)
    print(flush=True)
`

// prover is the process that checks certificates for all tests of a package: Python takes as long to start as for hundreds of them.
var prover struct {
	sync.Mutex
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

// Prove has docs/certificate/levels.py check pairs of a history and a certificate, and returns what it prints.
func Prove(t testing.TB, pairs []string) string {
	t.Helper()
	p := &prover
	p.Lock()
	defer p.Unlock()
	if p.Cmd == nil {
		p.Cmd = exec.Command("python3", "-B", "-c", serve, Path("docs", "certificate"))
		p.Stderr = &p.stderr
		in, err := p.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		p.in, p.out = in, bufio.NewReader(out)
	}
	if err := json.NewEncoder(p.in).Encode(pairs); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.Wait()
			t.Fatalf("%v\n%s", err, p.stderr.String())
		}
		if line == "\n" {
			return all.String()
		}
		all.WriteString(line)
	}
}

// RunAndEndProver runs the tests of a package that calls Prove.
func RunAndEndProver(m *testing.M) {
	effort.Main(m)
	if prover.Cmd != nil {
		prover.in.Close()
		prover.Wait()
	}
}
