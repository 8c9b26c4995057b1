package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// far is a file system that claims to be remote.
type far struct{ storage.FS }

func (far) URI() string { return "far://host" }

func put(t *testing.T, data []byte) format.Open { t.Helper(); return putAs(t, "/f", data) }

func TestReadAheadGivesTheSameBytes(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, ahead := range []int{1, 1000, 1 << 20, 0} {
		o := put(t, data)
		o.ReadAhead = ahead
		if ahead == 1 {
			o.Size = 50
		}
		for _, fs := range []storage.FS{o.FS, far{o.FS}} {
			o.FS = fs
			s, err := Open(context.Background(), o, 17)
			must.Do(t, err)
			got, err := io.ReadAll(iotest.HalfReader(s))
			if err != nil || !bytes.Equal(got, data[17:o.Size]) || s.Consumed() != o.Size-17 {
				t.Errorf("%s, ahead %d: %d bytes, %v", fs.URI(), ahead, len(got), err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReadAheadEndsWhenClosedEarly(t *testing.T) {
	o := put(t, make([]byte, 1<<20))
	o.FS, o.ReadAhead = far{o.FS}, 4096
	s, err := Open(context.Background(), o, 0)
	must.Do(t, err)
	if _, err := s.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadAheadPassesTheErrorOn(t *testing.T) {
	lost := errors.New("connection lost")
	src := io.MultiReader(bytes.NewReader(make([]byte, 100)), iotest.ErrReader(lost))
	a := readAhead(aheadSource{read: src.Read}, 64)
	defer a.Close()
	if got, err := io.ReadAll(a); len(got) != 100 || !errors.Is(err, lost) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, lost) {
		t.Errorf("then %v", err)
	}
}

// TestReadsBehindTheRangeAreShort checks that reads behind the range are short: only the
// rest of one record is needed there.
func TestReadsBehindTheRangeAreShort(t *testing.T) {
	o := put(t, make([]byte, 1<<20))
	o.Range.End.Offset = 100
	s, err := Open(context.Background(), o, 0)
	must.Do(t, err)
	defer s.Close()
	if n, err := s.Read(make([]byte, 1<<20)); n != 100+overrun || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}
