package fsshell

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"github.com/hammr/hammr/storage/mem"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

// world is a shell over a memory file system and the local one.
type world struct {
	env    Env
	mem    *mem.FS
	output bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	w.mem = mem.New(mem.Options{
		BlockSize:   2000,
		Replication: 2,
		Place:       mem.RoundRobin("n1", "n2", "n3"),
		Now:         func() time.Time { return time.Date(2026, 1, 2, 9, 30, 15, 678e6, time.UTC) },
	})
	w.connect(t, storage.Config{Default: "mem:///", WorkDir: "/", Open: map[string]storage.Opener{
		"mem":  func(context.Context, string) (storage.FS, error) { return w.mem, nil },
		"file": func(context.Context, string) (storage.FS, error) { return local.New(local.Options{}), nil },
	}})
	w.file(t, "/dir/f1", "a\nb\n")
	w.file(t, "/dir/f2", strings.Repeat("z", 5000))
	w.file(t, "/dir/sub/empty", "")
	return w
}

func (w *world) connect(t *testing.T, conf storage.Config) {
	t.Helper()
	router, err := storage.NewRouter(conf)
	must.Do(t, err)
	w.env = Env{
		Router: router, Stdin: strings.NewReader("from stdin\n"),
		Stdout: &w.output, Stderr: &w.output, Zone: time.UTC,
	}
}

// run runs a command and returns both outputs in one text.
func (w *world) run(args ...string) (output string, code int) {
	w.output.Reset()
	code = Run(context.Background(), w.env, args)
	return w.output.String(), code
}

func (w *world) file(t *testing.T, name, content string) {
	t.Helper()
	out, err := w.mem.Create(context.Background(), name, storage.CreateOptions{})
	must.Do(t, err)
	if _, err := io.WriteString(out, content); err != nil {
		t.Fatal(err)
	}
	must.Do(t, out.Close())
}

// Each file in testdata/scripts is a transcript: commands after "$ ", their output, and the
// exit code unless it is 0. The texts were compared with those of Hadoop 3.4.3.
func TestTranscripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, name := range scripts {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want, err := os.ReadFile(name)
			must.Do(t, err)
			got := newWorld(t).replay(string(want))
			if *update {
				must.Do(t, os.WriteFile(name, []byte(got), 0o644))
			} else if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func (w *world) replay(transcript string) string {
	var got strings.Builder
	for line := range strings.Lines(transcript) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		got.WriteString(line)
		output, code := w.run(strings.Fields(command)...)
		got.WriteString(output)
		if output != "" && !strings.HasSuffix(output, "\n") {
			got.WriteString("\n")
		}
		if code != 0 {
			fmt.Fprintf(&got, "rc=%d\n", code)
		}
	}
	return got.String()
}
