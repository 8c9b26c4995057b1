package console

import (
	"os"
	"testing"
)

func TestPipeIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if IsTerminal(w) {
		t.Error("a pipe is taken for a terminal")
	}
	if got := terminalWidth(w)(); got != 0 {
		t.Errorf("width of a pipe = %d", got)
	}
}
