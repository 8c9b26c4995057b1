package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/testing/must"
)

// openTerminal opens a pseudo terminal of 80 columns. A program writes to the second file,
// and the test reads the text from the first.
func openTerminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals: %v", err)
	}
	must.Do(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	must.Do(t, err)
	must.Do(t, unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must.Do(t, err)
	return screen, tty
}

// TestTerminal runs a job whose errors go to a terminal. The job draws a bar there in place
// of percent lines, always on the same line, and erases it at the end.
func TestTerminal(t *testing.T) {
	screen, tty := openTerminal(t)
	defer screen.Close()
	in, out := binaryLines(t, "in", 2<<20), filepath.Join(t.TempDir(), "out")
	g := newGate(t, "map", 1<<20)
	p := g.prepare(t, in, out)
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm")
	p.cmd.Stderr = tty
	p.begin(t)
	must.Do(t, tty.Close())
	drawn, buf := []byte(nil), make([]byte, 4096)
	for !bytes.Contains(drawn, []byte("▕")) {
		n, err := screen.Read(buf)
		drawn = append(drawn, buf[:n]...)
		if err != nil {
			t.Fatalf("no bar was drawn: %q", drawn)
		}
	}
	g.wait(t, p)
	g.open()
	rest, _ := io.ReadAll(screen) // ends with an error when the last writer has gone
	p.wait(t).want(t, 0)
	text := string(drawn) + string(rest)
	if strings.Contains(text, " map 100% reduce 100%\r\n") || !strings.Contains(text, "\r\x1b[K") {
		t.Errorf("percent lines, or no wiping, on a terminal:\n%q", text)
	}
	last := text[strings.LastIndex(text, "▕"):]
	if !strings.Contains(last, "\r\x1b[K") || !strings.Contains(last, "completed successfully") {
		t.Errorf("the bar is not wiped before the result: %q", last)
	}
}

// TestPipe checks that hammr prints no control characters if the output is not a terminal.
func TestPipe(t *testing.T) {
	in, out := proseFile(t, "in", 100_000), filepath.Join(t.TempDir(), "out")
	r := done(t, "run", "wordcount", in, out)
	if strings.ContainsAny(r.stderr, "\r\x1b") || !strings.Contains(r.stderr, " map 100% reduce 100%") {
		t.Errorf("not plain lines: %q", r.stderr)
	}
}
