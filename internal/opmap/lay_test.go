package opmap

import (
	"fmt"
	"strings"
	"testing"

	"clew/edn"
)

// Events that are laid out are kept and printed like those read from the
// same op maps. This holds even if a history has more layouts than are kept.
func TestEventsThatAreLaidOutAreLikeThoseThatAreRead(t *testing.T) {
	v := edn.NewValues()
	var layouts Layouts
	var texts Texts
	var history strings.Builder
	var made []Event
	for i := range 200 {
		key := fmt.Sprint(":x", i/2)
		if i%5 == 0 {
			key = ":time"
		}
		l := layouts.Of([]string{":index", ":type", key, ":process", `"a b"`, ":f", ":value"})
		ev := Event{Type: v.InternKeyword("ok"), Process: v.InternInt(3), F: v.InternKeyword("read"), Value: v.InternInt(7), Index: int64(i),
			Has: HasType | HasProcess | HasF | HasValue | HasIndex}
		ev.Lay(l, []byte("[5]\n\"}\"\n"), v)
		text := fmt.Sprintf(`{:index %d, :type :ok, %s [5], :process 3, "a b" "}", :f :read, :value 7}`, i, key)
		if got := string(ev.AppendText(nil, v)); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
		texts.Add(&ev)
		made = append(made, ev)
		history.WriteString(text + "\n")
	}
	read, err := collectEvents(NewReader(strings.NewReader(history.String()), "", edn.NewValues()))
	if err != nil || len(read) != len(made) {
		t.Fatal(len(read), err)
	}
	printer := texts.NewPrinter(v)
	for i := range made {
		want := fmt.Sprintf("{:index %d, :type :ok", i)
		if got := string(texts.Text(i, v, &made[i])); !strings.HasPrefix(got, want) || printed(t, v, []byte(got)) != string(printer.Append(nil, i, &made[i])) {
			t.Errorf("%s prints as %s", got, printer.Append(nil, i, &made[i]))
		}
	}
}
