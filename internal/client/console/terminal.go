package console

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal on which a bar can be drawn. It is false for
// TERM=dumb, a terminal without control sequences, as in editors.
func IsTerminal(f *os.File) bool {
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// On returns a console on a writer, with a bar if the writer is a terminal.
func On(w io.Writer, quiet bool) *Console {
	opts := Options{Err: w, Quiet: quiet}
	if f, ok := w.(*os.File); ok {
		opts.Terminal, opts.Width = IsTerminal(f), terminalWidth(f)
	}
	return New(opts)
}

// terminalWidth returns a function that measures the width of the terminal f. The function
// returns 0 if it cannot.
func terminalWidth(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}
