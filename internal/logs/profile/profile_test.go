package profile

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	pprofile "github.com/google/pprof/profile"

	"github.com/hammr/hammr/internal/testing/must"
)

//go:noinline
func burnHere(done <-chan struct{}) (n int) {
	for {
		select {
		case <-done:
			return n
		default:
			for i := range 1000 {
				n += i * i
			}
		}
	}
}

// TestTake takes each kind of profile of a process that works and waits.
func TestTake(t *testing.T) {
	done := make(chan struct{})
	stopped := make(chan int)
	go func() { stopped <- burnHere(done) }()
	for _, kind := range Kinds {
		data, err := Take(t.Context(), Query{kind, 1})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if kind == Stacks {
			if !bytes.Contains(data, []byte("burnHere")) || !bytes.HasPrefix(data, []byte("goroutine ")) {
				t.Errorf("stacks: %.300s", data)
			}
			continue
		}
		p, err := pprofile.ParseData(data)
		if err != nil || len(p.Sample) == 0 {
			t.Errorf("%s: %v, %v", kind, p, err)
			continue
		}
		if kind != Heap && !strings.Contains(p.String(), "burnHere") {
			t.Errorf("%s: %.2000s", kind, p)
		}
	}
	close(done)
	<-stopped
}

func TestTakeIsRefused(t *testing.T) {
	var refusal Refusal
	var self bytes.Buffer
	must.Do(t, pprof.StartCPUProfile(&self))
	if _, err := Take(t.Context(), Query{CPU, 1}); !errors.As(err, &refusal) || !strings.Contains(string(refusal), "of itself") {
		t.Errorf("while the program takes a profile: %v", err)
	}
	pprof.StopCPUProfile()

	taking.Lock()
	if _, err := Take(t.Context(), Query{Kind: Stacks}); !errors.As(err, &refusal) || !strings.Contains(string(refusal), "try again") {
		t.Errorf("a second profile: %v", err)
	}
	taking.Unlock()

	why := errors.New("the attempt has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(why) })
	if _, err := Take(ctx, Query{CPU, MaxSeconds}); !errors.Is(err, why) {
		t.Errorf("end of the context: %v", err)
	}
	if _, err := Take(t.Context(), Query{Kind: Goroutine}); err != nil {
		t.Errorf("after all these: %v", err)
	}
}

func TestQueries(t *testing.T) {
	for values, want := range map[string]string{
		"kind=cpu&seconds=60": "", "kind=heap&seconds=0": "", "kind=stacks&seconds=999": "",
		"kind=cpu&seconds=61": "from 1 to 60", "kind=cpu&seconds=0": "from 1 to 60", "kind=trace&seconds=1": "expected one of cpu, heap, goroutine, stacks", "kind=cpu": "expected a number",
	} {
		v, err := url.ParseQuery(values)
		must.Do(t, err)
		q, err := FromValues(v)
		if want == "" && (err != nil || q.Values().Encode() != values) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", values, q, err)
		}
	}
}

// TestBounds shows that neither stacks nor profiles exceed their limit.
func TestBounds(t *testing.T) {
	if text := stacks(100); len(text) != 100 {
		t.Errorf("%d bytes", len(text))
	}
	var l limited
	_, err := l.Write(make([]byte, MaxBytes))
	_, tooLong := l.Write([]byte{0})
	if err != nil || tooLong == nil || l.err == nil || l.Len() != MaxBytes {
		t.Errorf("%v, %v, %d bytes", err, tooLong, l.Len())
	}
}
