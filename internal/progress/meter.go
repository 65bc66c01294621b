//go:build !js

package progress

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// newMeter returns a bar for at most so much, -1 if that is not known.
func newMeter(w io.Writer, most int64, counts bool) meter {
	o := []progressbar.Option{progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0)}
	if counts {
		o = append(o, progressbar.OptionShowCount())
	}
	return progressbar.NewOptions64(most, o...)
}
