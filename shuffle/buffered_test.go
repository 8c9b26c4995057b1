package shuffle

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestBufferedIsWhatIsInMemory gives both collectors records that stay in memory. Buffered is 0
// at first. Afterwards it is at least the bytes that the collector must keep.
func TestBufferedIsWhatIsInMemory(t *testing.T) {
	ctx := context.Background()
	sorted, err := NewSortBuffer(ctx, testOptions(t, 2))
	must.Do(t, err)
	folded, err := NewFoldTable(ctx, testOptions(t, 2), joinFold)
	must.Do(t, err)
	before := []int64{sorted.Buffered(), folded.Buffered()}
	total := int64(0)
	for n := range 300 {
		key := []byte(strings.Repeat("k", n%40+1))
		sorted.Emit(key, []byte("value"))
		folded.Emit(key, "value")
		total += int64(len(key) + len("value"))
	}
	for i, c := range []Collector{sorted, folded} {
		least := total
		if c == Collector(folded) {
			least = 40 * 20 // 40 distinct keys of 20 bytes or more on average
		}
		if before[i] != 0 || c.Buffered() < least {
			t.Errorf("%T holds %d bytes, then %d of at least %d", c, before[i], c.Buffered(), least)
		}
		if err := c.Abort(); err != nil {
			t.Error(err)
		}
	}
}

// TestBufferedOfAnIntake checks that Buffered counts the bytes of runs that arrived over
// streams.
func TestBufferedOfAnIntake(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(2, 2)), 1, "random", None)
	s := sources[0]
	data := readFile(t, s.Path)[s.Run.Offset:][:s.Run.Length]
	in, err := NewIntake(intakeOptions(t))
	must.Do(t, err)
	if buffered := in.Buffered(); buffered != 0 {
		t.Errorf("%d bytes of nothing", buffered)
	}
	must.Do(t, addStream(context.Background(), in, bytes.NewReader(data), s.Run, Ordinal{}))
	if buffered := in.Buffered(); buffered != s.Run.Length {
		t.Errorf("%d bytes of a run of %d", buffered, s.Run.Length)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}
