package console

import (
	"os"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestPipeIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	defer w.Close()
	if IsTerminal(w) {
		t.Error("a pipe is taken for a terminal")
	}
	if got := terminalWidth(w)(); got != 0 {
		t.Errorf("width of a pipe = %d", got)
	}
}
