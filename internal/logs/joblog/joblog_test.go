package joblog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// log is a log of a test.
type log struct{ attempt, stream, text string }

// encode returns a file of logs.
func encode(t testing.TB, logs ...log) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, l := range logs {
		must.Do(t, w.Add(l.attempt, l.stream, strings.NewReader(l.text)))
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

func open(file []byte) (*Index, error) { return ReadIndex(bytes.NewReader(file), int64(len(file))) }

// someLogs returns n logs of random lengths, of which some are empty.
func someLogs(n int) (logs []log) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		logs = append(logs, log{
			attempt: fmt.Sprintf("attempt_1_0001_m_%06d_0", i/2), stream: [2]string{"stdout", "stderr"}[i%2],
			text: strings.Repeat(string(rune('a'+i%26)), random.IntN(1000)),
		})
	}
	return logs
}

func TestLogsAreReadAsTheyWereAdded(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		logs := someLogs(n)
		file := encode(t, logs...)
		index, err := open(file)
		if err != nil {
			t.Fatalf("%d logs: %v", n, err)
		}
		for _, l := range logs {
			if text, err := readLog(index, bytes.NewReader(file), l.attempt, l.stream); string(text) != l.text || err != nil {
				t.Errorf("%s of %s: %.40q, %v", l.stream, l.attempt, text, err)
			}
		}
		if _, err := readLog(index, bytes.NewReader(file), "attempt_1_0001_m_000000_0", "syslog"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a log that was not added: %v", err)
		}
	}
}

// readLog reads a whole log.
func readLog(index *Index, file io.ReaderAt, attempt, stream string) ([]byte, error) {
	text, _, _, err := index.ReadPart(file, attempt, stream, whole)
	return text, err
}

// rangeReader counts the bytes that are read.
type rangeReader struct {
	io.ReaderAt
	bytes int
}

func (r *rangeReader) ReadAt(b []byte, offset int64) (int, error) {
	r.bytes += len(b)
	return r.ReaderAt.ReadAt(b, offset)
}

func TestOneLogIsReadWithoutTheOthers(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	file := encode(t, log{"a", "stdout", long}, log{"b", "stdout", "hello\n"}, log{"c", "stdout", long})
	r := &rangeReader{ReaderAt: bytes.NewReader(file)}
	index, err := ReadIndex(r, int64(len(file)))
	must.Do(t, err)
	text, err := readLog(index, r, "b", "stdout")
	if string(text) != "hello\n" || err != nil || r.bytes > 200 {
		t.Errorf("%q, %v, and %d bytes were read of %d", text, err, r.bytes, len(file))
	}
}

// TestDamageIsFound cuts a file at each byte, and changes each byte. Whatever is damaged, no
// log has another text.
func TestDamageIsFound(t *testing.T) {
	logs := []log{{"attempt_1", "stdout", "one\n"}, {"attempt_1", "stderr", ""}, {"attempt_2", "stdout", "two and more\n"}}
	whole := encode(t, logs...)
	check := func(what string, file []byte) (damaged bool) {
		index, err := open(file)
		if err != nil {
			if what[0] == 'c' && !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("%s: %v, want an error of corruption", what, err)
			}
			return true
		}
		for _, l := range logs {
			text, err := readLog(index, bytes.NewReader(file), l.attempt, l.stream)
			if err == nil && string(text) != l.text {
				t.Errorf("%s: %s of %s is %q", what, l.stream, l.attempt, text)
			}
			damaged = damaged || errors.Is(err, storage.ErrCorrupt)
		}
		return damaged
	}
	for n := range whole {
		if !check(fmt.Sprintf("cut at %d", n), whole[:n]) {
			t.Errorf("a file that ends at byte %d is accepted", n)
		}
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		if !check(fmt.Sprintf("byte %d changed", n), changed) && n >= len(magic) {
			t.Errorf("a file with another byte %d is accepted", n)
		}
	}
	other := bytes.Clone(whole)
	other[len(other)-len(magic)-8-4] = 2
	if _, err := open(other); err == nil || !strings.Contains(err.Error(), "version 2; this program reads version 1") {
		t.Errorf("another version: %v", err)
	}
}

func TestIndexIsBounded(t *testing.T) {
	w := NewWriter(io.Discard)
	w.index = make([]byte, MaxIndex-100)
	if err := w.Add("attempt", strings.Repeat("s", 80), strings.NewReader("text")); !errors.Is(err, ErrFull) {
		t.Errorf("a log beyond the limit: %v", err)
	}
	if err := w.Add("attempt", strings.Repeat("s", 256), strings.NewReader("text")); err == nil || errors.Is(err, ErrFull) {
		t.Errorf("a name of 256 bytes: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("the file after that: %v", err)
	}
}

func TestErrorOfTheFileIsReturned(t *testing.T) {
	r, writer := io.Pipe()
	r.CloseWithError(io.ErrNoProgress)
	w := NewWriter(writer)
	if err := w.Add("attempt", "stdout", strings.NewReader("text")); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Add: %v", err)
	}
	if err := w.Close(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Close: %v", err)
	}
}

func TestFileNames(t *testing.T) {
	for machine, want := range map[string]string{
		"node-1.example.com": "node-1.example.com.logs", "..": "%2e..logs", "a/b:c%": "a%2fb%3ac%25.logs", ".x": "%2ex.logs", "ä": "%c3%a4.logs",
	} {
		if got := FileName(machine); got != want {
			t.Errorf("file of machine %q is %q, want %q", machine, got, want)
		}
	}
}

func TestDirectoryOfAJob(t *testing.T) {
	fsys := mem.New(mem.Options{})
	put := func(name string, content []byte) {
		t.Helper()
		err := storage.WriteFile(t.Context(), fsys, name, storage.CreateOptions{}, func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		must.Do(t, err)
	}
	dir, err := OpenDir(t.Context(), fsys, "/logs/job")
	if err != nil || len(dir.entries) > 0 {
		t.Fatalf("missing directory: %v", err)
	}
	put("/logs/job/n1.logs", encode(t, log{"a1", "stdout", "one\n"}, log{"a3", "stderr", "three\n"}))
	put("/logs/job/n3.logs", encode(t, log{"a2", "stderr", "two\n"}))
	put("/logs/job/bad.logs", []byte("damaged"))
	put("/logs/job/.n4.logs.x", []byte("incomplete"))
	if dir, err = OpenDir(t.Context(), fsys, "/logs/job"); err != nil {
		t.Fatal(err)
	}
	for _, l := range []log{{"a1", "stdout", "n1"}, {"a2", "stderr", "n3"}, {"a3", "stderr", "n1"}} {
		want := map[string]string{"a1": "one\n", "a2": "two\n", "a3": "three\n"}[l.attempt]
		if text, err := dir.Read(t.Context(), l.text, l.attempt, l.stream); string(text) != want || err != nil {
			t.Errorf("%s of %s on %s: %q, %v", l.stream, l.attempt, l.text, text, err)
		}
	}
	for _, l := range []log{{"a1", "stderr", "n1"}, {"a1", "stdout", "n2"}, {"a2", "stderr", "n1"}, {"a2", "stdout", "n3"}, {"a9", "stdout", "n9"}} {
		if text, err := dir.Read(t.Context(), l.text, l.attempt, l.stream); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of %s on %s: %q, %v; want none", l.stream, l.attempt, l.text, text, err)
		}
	}
	if _, err := dir.Read(t.Context(), "bad", "a1", "stdout"); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "/logs/job/bad.logs") {
		t.Errorf("damaged file: %v", err)
	}
}

// FuzzReadIndex reads any bytes as a file. What is accepted lies in the file.
func FuzzReadIndex(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add(encode(f), false)
	f.Add(encode(f, someLogs(3)...), false)
	f.Add(encode(f, someLogs(3)...)[:20], true)
	f.Fuzz(func(t *testing.T, file []byte, asIndex bool) {
		index, err := open(file)
		if asIndex { // the entries without the checksum, which random bytes do not match
			index, err = decodeIndex(file, uint32(len(file)/minEntry), 1000)
			file = make([]byte, 1000)
		}
		if err != nil {
			return
		}
		for k, e := range index.logs {
			if e.offset < int64(len(magic)) || e.length < 0 || e.offset+e.length > int64(len(file)) {
				t.Errorf("%v lies at %d, %d bytes, in a file of %d", k, e.offset, e.length, len(file))
			}
			_, _ = readLog(index, bytes.NewReader(file), k.attempt, k.stream)
		}
	})
}
