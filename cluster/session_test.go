package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// submission returns an entry with which a client submits a job. first is when the client sent
// it first, 0 if it is not repeated.
func submission(at int64, client string, sequence uint64, first int64) Entry {
	c := submit(0, 0)
	c.Spec.FirstSentAt, c.Spec.OutputDir = first, ""
	return Entry{At: at, Client: client, Sequence: sequence, Command: c}
}

// TestSilentClientsAreDropped submits jobs from ever new clients. The sessions have the clients
// of little more than an hour, also after a restart.
func TestSilentClientsAreDropped(t *testing.T) {
	s := New("1")
	most := 0
	for n := range int64(2000) {
		at := 1_700_000_000_000 + n*60_000
		if n == 1000 {
			s = restored(t, encoded(t, s))
		}
		if _, err := s.Apply(submission(at, fmt.Sprint("c", n), 1, 0)); err != nil {
			t.Fatal(err)
		}
		mustApply(t, s, KillJob{JobID{"1", int(n) + 1}, "x"}, CloseJob{JobID{"1", int(n) + 1}}, RetireJob{JobID{"1", int(n) + 1}})
		most = max(most, len(s.Sessions))
		if at := at + 30*60_000; n > 100 {
			before := s.Submitted
			if delta, err := s.Apply(submission(at, fmt.Sprint("c", n-29), 1, at-59*60_000)); err != nil || delta.Submitted.Number != int(n)-28 || s.Submitted != before {
				t.Fatalf("a job that was sent again within an hour: %v, %v", delta.Submitted, err)
			}
		}
	}
	if most > 120 {
		t.Errorf("%d clients were remembered", most)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// TestRepeatedJobOfADroppedClientIsRefused repeats a submission after the state has dropped its
// client. It might have been accepted, so it is refused, while a new one is accepted.
func TestRepeatedJobOfADroppedClientIsRefused(t *testing.T) {
	const hour = int64(3600_000)
	s := New("1")
	first := 100 * hour
	for _, e := range []Entry{submission(first, "slow", 1, 0), submission(first+2*hour, "other", 1, 0)} {
		if _, err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		before := dump(s)
		_, err := s.Apply(submission(first+2*hour, "slow", 1, first-5000))
		if !errors.Is(err, ErrTooLate) || !strings.Contains(err.Error(), "sent first 7205 s ago") || !strings.Contains(err.Error(), "hammr job list") || dump(s) != before {
			t.Fatalf("the job was accepted long ago: %v", err)
		}
		s = restored(t, encoded(t, s))
	}
	if _, err := s.Apply(submission(first+2*hour, "slow", 2, 0)); err != nil {
		t.Errorf("the next job of the client: %v", err)
	}
	if _, err := s.Apply(submission(first+2*hour, "lucky", 1, first+hour)); err != nil {
		t.Errorf("a job that was sent first after the last request of any dropped client: %v", err)
	}
}

// TestRememberedRequestsAreBounded has many clients with many requests each, and a name without
// an end.
func TestRememberedRequestsAreBounded(t *testing.T) {
	s := New("1")
	mustApply(t, s, submit(0, 0))
	for n := range 3 * maxResults / sessionWindow {
		client := fmt.Sprint("c", n)
		for sequence := range uint64(sessionWindow) {
			if _, err := s.Apply(Entry{At: int64(n), Client: client, Sequence: sequence, Command: SetPriority{job1, n % 3}}); err != nil {
				t.Fatal(err)
			}
		}
		if s.results > maxResults || s.Sessions[client] == nil {
			t.Fatalf("%d requests are remembered, and those of the latest client: %v", s.results, s.Sessions[client] != nil)
		}
	}
	long := Entry{Client: strings.Repeat("x", maxClientBytes+1), Command: SetPriority{job1, 1}}
	if _, err := s.Apply(long); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "257 bytes: it may have 256") {
		t.Errorf("a client with a long name: %v", err)
	}
	refused := Entry{Client: "refused", Command: KillJob{JobID{"1", 9}, "x"}}
	if _, err := s.Apply(refused); err == nil || s.Sessions["refused"] != nil {
		t.Errorf("a client whose only request was refused is remembered: %v", err)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}
