package console

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal on which a bar can be drawn. TERM=dumb is one
// that understands no control sequences, as in editors.
func IsTerminal(f *os.File) bool {
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// TerminalWidth returns a function that measures the width of the terminal f; 0 if it
// cannot.
func TerminalWidth(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}
