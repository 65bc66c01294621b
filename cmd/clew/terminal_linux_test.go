package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// On a terminal, help and tables fit its width, and verdicts have their colors in both texts and tables.
func TestWhatATerminalShowsFits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(dir+"/"+name+".edn", []byte("{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 1}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, width := range []int{60, 80, 120} {
		for _, args := range []string{"--help", "check --help", "help monitor", "check --model register --init 0 " + dir, "check --model register --init 0 " + dir + "/one.edn"} {
			shown := onTerminal(t, width, strings.Fields(args)...)
			if strings.HasPrefix(args, "check --model") && !strings.Contains(shown, "\x1b[31mINVALID\x1b[0m") {
				t.Errorf("%s: the verdict has no color in\n%s", args, shown)
			}
			for line := range strings.SplitSeq(strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "", "\r", "", dir, "").Replace(shown), "\n") {
				if utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, "      ") { // an example stays as it is
					t.Errorf("%s at %d: %q", args, width, line)
				}
			}
		}
	}
}

// onTerminal returns what clew shows on a terminal of a width.
func onTerminal(t *testing.T, width int, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error once the screen is closed
		shown <- string(all)
	}()
	runWith(t.Context(), nil, append([]string{"clew"}, args...), strings.NewReader(""), screen, io.Discard)
	screen.Close()
	return <-shown
}
