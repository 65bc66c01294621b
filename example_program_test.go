package clew_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// maxRegister is a model of the program's own: a read returns the greatest value that was written.
var maxRegister = models.Func[int64]{Name: "max-register", Reads: []string{"read"}, Ops: map[string]models.StepFunc[int64]{
	"write": func(most int64, c models.Call) ([]int64, error) {
		n, _ := c.Value.Int()
		return []int64{max(most, n)}, nil
	},
	"read": func(most int64, c models.Call) ([]int64, error) {
		if n, isInt := c.Out.Int(); c.OK && (!isInt || n != most) {
			return nil, models.Inconsistent("the greatest value is %d", most)
		}
		return []int64{most}, nil
	},
}}

// A program reads and builds histories, checks them against its own model, writes evidence, and checks a store.
func Example_program() {
	ctx, spec := context.Background(), models.Own(maxRegister.Definition())
	read, err := clew.Read(strings.NewReader("{:process 0 :type :invoke :f :write :value 7}\n{:process 0 :type :ok :f :write :value 7}"), "h.edn", jepsen.Options{})
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "write", 3)
	b.OK(0, "write", 3)
	b.Invoke(1, "read", nil)
	b.OK(1, "read", 2)
	built, wrong := b.History()
	if err = errors.Join(err, wrong); err != nil {
		log.Fatal(err)
	}
	for _, h := range []*jepsen.History{read, built} {
		r, err := clew.Check(ctx, h, spec, clew.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %q\n", r.Verdict, r.Explanation)
		if err := clew.WriteCertificate(ctx, io.Discard, r, clew.CertificateOptions{}); err != nil {
			log.Fatal(err)
		}
		if r.Verdict != jepsen.Invalid {
			continue // only an invalid history has a core
		}
		if err := r.WriteCore(os.Stdout); err != nil {
			log.Fatal(err)
		}
	}
	for run, err := range clew.CheckStore(ctx, clew.StoreOptions{}, "testdata/histories/valid-register.edn") {
		fmt.Println(run.Path, run.Result.Verdict, err)
	}
	// Output:
	// linearizable ""
	// not linearizable "process 1's :read 2 (index 3) cannot happen: nothing that had begun by then makes it possible (the greatest value is 3)"
	// {:f :read, :index 2, :process 1, :type :invoke, :value nil}
	// {:f :read, :index 3, :process 1, :type :ok, :value 2}
	// testdata/histories/valid-register.edn linearizable <nil>
}
