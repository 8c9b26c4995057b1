package seqfile

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"
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
				if err != nil {
					rt.Fatal(err)
				}
				if err := w.Resume(pending); err != nil {
					rt.Fatal(err)
				}
				n := rapid.IntRange(0, len(left)).Draw(rt, "records")
				for _, r := range left[:n] {
					if err := w.Write([]byte(r.key), []byte(r.value)); err != nil {
						rt.Fatal(err)
					}
				}
				if left = left[n:]; len(left) == 0 {
					if err := w.Close(); err != nil {
						rt.Fatal(err)
					}
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
	if err != nil {
		f.Fatal(err)
	}
	w.Write([]byte("key"), []byte("value"))
	pending, err := w.Checkpoint()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pending)
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, pending []byte) {
		var out bytes.Buffer
		w, err := NewWriter(&out, Options{Header: textHeader(Block)})
		if err != nil {
			t.Fatal(err)
		}
		if w.Resume(pending) != nil || len(pending) == 0 {
			return
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data := append(write(t, Options{Header: textHeader(Block)}, nil), out.Bytes()...)
		if _, _, err := readRange(store(t, data), whole()); err != nil {
			t.Fatalf("a state that was taken makes a file that cannot be read: %v", err)
		}
	})
}
