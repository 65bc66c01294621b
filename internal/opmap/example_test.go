package opmap_test

import (
	"fmt"
	"io"
	"strings"

	"clew/edn"
	"clew/internal/opmap"
)

// A reader returns the op maps of a history one by one.
func ExampleReader() {
	history := strings.NewReader(`[
	{:index 0, :type :invoke, :process 0, :f :write, :value 1, :time 1200}
	{:index 1, :type :info, :process 0, :f :write, :value 1, :error #<IOException: reset>}
	{:type :nemesis]`)
	values := edn.NewValues()
	r := opmap.NewReader(history, "history.edn", values)
	var ev opmap.Event
	for {
		err := r.Next(&ev)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(ev.Line, values.Text(ev.Process), values.Text(ev.Type), values.Text(ev.F), values.Value(ev.Value))
	}
	// Output:
	// 2 0 :invoke :write 1
	// 3 0 :info :write 1
	// history.edn:4:17: expected } to close { opened at 4:2, found ]
}
