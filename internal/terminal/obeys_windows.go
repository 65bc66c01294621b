package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// obeys says whether a terminal obeys escape sequences. Older consoles have to be
// asked for that first.
func obeys(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
