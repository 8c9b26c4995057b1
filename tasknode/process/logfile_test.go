package process

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

func newLog(t *testing.T, limit int64) (*logFile, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stderr")
	return newLogFile(path, limit), path
}

func TestLogKeepsTheBeginningAndTheEnd(t *testing.T) {
	const part = 1000
	for seed := range testlevel.Seeds(50, 150) {
		random := rand.New(rand.NewPCG(seed, 3))
		l, path := newLog(t, 3*part)
		var all bytes.Buffer
		out := io.MultiWriter(l, &all)
		for range 1 + random.IntN(20) {
			piece := make([]byte, random.IntN(1500))
			for i := range piece {
				piece[i] = byte('a' + random.IntN(26))
			}
			if n, err := out.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		must.Do(t, l.Close())
		got, err := os.ReadFile(path)
		must.Do(t, err)
		checkLog(t, got, all.Bytes(), part)
	}
}

// checkLog compares a log with all that was written to it.
func checkLog(t *testing.T, got, all []byte, part int) {
	t.Helper()
	if len(all) <= 3*part {
		if !bytes.Equal(got, all) {
			t.Errorf("a log of %d bytes has %d", len(all), len(got))
		}
		return
	}
	if !bytes.HasPrefix(got, all[:part]) || !bytes.HasSuffix(got, all[len(all)-part:]) || len(got) > 3*part+100 {
		t.Errorf("a log of %d bytes has %d of them, or others", len(all), len(got))
	}
	_, note, found := strings.Cut(string(got), "\n[…")
	var dropped int
	if _, err := fmt.Sscan(note, &dropped); err != nil || !found {
		t.Fatalf("no note in %q", got)
	}
	_, last, _ := strings.Cut(note, "…]\n")
	if part+dropped+len(last) != len(all) {
		t.Errorf("%d bytes first, %d left out, %d last; in all %d", part, dropped, len(last), len(all))
	}
}

func TestTailOfALogHasWholeLines(t *testing.T) {
	l, _ := newLog(t, 3000)
	defer l.Close()
	for _, c := range []struct{ write, want string }{
		{"", ""},
		{"one\n", "one\n"},
		{"two\nthree\n", "two\nthree\n"},
		{strings.Repeat("x", 20), strings.Repeat("x", 12)},
	} {
		if _, err := l.Write([]byte(c.write)); err != nil {
			t.Fatal(err)
		}
		if got := l.tail(12); got != c.want {
			t.Errorf("tail %q, want %q", got, c.want)
		}
	}
}

func TestLogWriteErrorDoesNotStopTheTask(t *testing.T) {
	for what, spoil := range map[string]func(l *logFile) error{
		"the file is closed":      func(l *logFile) error { return l.file.Close() },
		"the file cannot be made": func(l *logFile) error { l.path += "\x00"; return l.Close() },
	} {
		l, _ := newLog(t, 3000)
		if what == "the file is closed" {
			_, _ = l.Write([]byte("text")) // never fails
		}
		must.Do(t, spoil(l))
		if n, err := l.Write([]byte("text")); n != 4 || err != nil {
			t.Errorf("%s: wrote %d, %v", what, n, err)
		}
		if err := l.Close(); err == nil {
			t.Errorf("%s: Close returns no error", what)
		}
	}
}

func TestEmptyLogMakesNoFile(t *testing.T) {
	l, path := newLog(t, 3000)
	_, _ = l.Write(nil) // never fails
	if err := l.Close(); err != nil || exists(path) || l.tail(100) != "" {
		t.Errorf("error %v, tail %q, or a file", err, l.tail(100))
	}
}
