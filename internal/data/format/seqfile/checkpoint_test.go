package seqfile

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestSuspendedPiecesAreTheSameBytes checks that the joined pieces equal the file of one
// writer, however often the writer is checkpointed.
func TestSuspendedPiecesAreTheSameBytes(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(50, 20)
		want := write(t, o, records)
		rapid.Check(t, func(rt *rapid.T) {
			var file bytes.Buffer
			var pending []byte
			for left := records; ; {
				w, err := NewWriter(&file, o)
				must.Do(rt, err)
				must.Do(rt, w.Resume(pending))
				n := rapid.IntRange(0, len(left)).Draw(rt, "records")
				for _, r := range left[:n] {
					must.Do(rt, w.Write([]byte(r.key), []byte(r.value)))
				}
				if left = left[n:]; len(left) == 0 {
					must.Do(rt, w.Close())
					break
				}
				if pending, err = w.Checkpoint(); err != nil {
					rt.Fatal(err)
				}
			}
			if !bytes.Equal(file.Bytes(), want) {
				rt.Fatal("the pieces differ from the whole")
			}
		})
	})
}

func FuzzResume(f *testing.F) {
	w, err := NewWriter(io.Discard, Options{Header: textHeader(Block)})
	must.Do(f, err)
	w.Write([]byte("key"), []byte("value"))
	pending, err := w.Checkpoint()
	must.Do(f, err)
	f.Add(pending)
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, pending []byte) {
		var out bytes.Buffer
		w, err := NewWriter(&out, Options{Header: textHeader(Block)})
		must.Do(t, err)
		if w.Resume(pending) != nil || len(pending) == 0 {
			return
		}
		must.Do(t, w.Close())
		data := append(write(t, Options{Header: textHeader(Block)}, nil), out.Bytes()...)
		if _, _, err := readRange(store(t, data), whole()); err != nil {
			t.Fatalf("a state that was taken makes a file that cannot be read: %v", err)
		}
	})
}
