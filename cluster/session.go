package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A client repeats a submission whose answer was lost, so the state remembers the requests of
// clients:
//
//	first request ──► session ── silent for sessionMillis, or there are too many ──► dropped
//	                     │                                                            │
//	                     └ a repeated request gets the first result                   └ it is refused
//
// Only the time of the newest dropped session stays (State.Forgotten). The state does not know
// whether a repeated request that was first sent before that time has been executed. It refuses
// the request, so that no job runs twice. It does not refuse a request that is sent for the first
// time.
const (
	sessionWindow  = 128              // newest sequence numbers of a client that are remembered
	sessionMillis  = 3600_000         // time for which a silent client is remembered at least; clients repeat requests for minutes
	sweepMillis    = 900_000          // between two searches for silent clients
	maxSessions    = 16_384           // clients
	maxResults     = 262_144          // remembered requests of all clients
	maxClientBytes = 256              // length of the name of a client
	clockSkew      = int64(60 * 1000) // assumed difference of the clocks of masters, ms
)

// session remembers the requests of a client, so that a repeated request is executed once.
type session struct {
	Newest  uint64         `cbor:"1,keyasint,omitempty"` // highest sequence number so far
	At      int64          `cbor:"2,keyasint,omitempty"` // of the newest entry, ms since the epoch
	Results map[uint64]int `cbor:"3,keyasint,omitempty"` // by sequence number: number of the submitted job, 0 for none; at least the newest sessionWindow results
}

// applyRequest applies an entry of a client, unless it repeats an earlier one.
func (s *State) applyRequest(e Entry) (Delta, error) {
	s.sweepSessions(e.At)
	if delta, seen, err := s.recall(e); seen || err != nil {
		return delta, err
	}
	delta, err := s.applyOnce(e)
	if err == nil {
		s.remember(e, delta.Submitted.Number)
	}
	return delta, err
}

// recall returns the effect of an earlier entry with the client and the sequence number of
// this one.
func (s *State) recall(e Entry) (delta Delta, seen bool, err error) {
	if len(e.Client) > maxClientBytes {
		return Delta{}, false, fmt.Errorf("%w: name of a client of %d bytes: it may have %d", ErrRefused, len(e.Client), maxClientBytes)
	}
	se := s.Sessions[e.Client]
	if se == nil {
		if first := e.firstSent(); first != 0 && first <= s.Forgotten+clockSkew {
			return Delta{}, false, fmt.Errorf("%w: the job was sent first %d s ago, and submissions of that time are not known any more; it may have been accepted: look for it in 'hammr job list --all' before you submit it again",
				ErrTooLate, (e.At-first)/1000)
		}
		return Delta{}, false, nil
	}
	if job, ok := se.Results[e.Sequence]; ok {
		return Delta{Submitted: s.submitted(job)}, true, nil
	}
	if e.Sequence+sessionWindow <= se.Newest {
		return Delta{}, false, fmt.Errorf("%w: %d, the newest is %d", ErrTooLate, e.Sequence, se.Newest)
	}
	return Delta{}, false, nil
}

// firstSent returns when a repeated request was sent first, ms since the epoch; 0 if it is not
// repeated, or if that is not known.
func (e Entry) firstSent() int64 {
	if c, is := e.Command.(SubmitJob); is {
		return c.Spec.FirstSentAt
	}
	return 0
}

// remember stores the effect of an entry. It drops the oldest numbers from time to time,
// at the same entry on every master.
func (s *State) remember(e Entry, job int) {
	se := s.Sessions[e.Client]
	if se == nil {
		se = &session{Results: make(map[uint64]int)}
		s.Sessions[e.Client] = se
	}
	se.At = max(se.At, e.At)
	se.Results[e.Sequence] = job
	se.Newest = max(se.Newest, e.Sequence)
	s.results++
	if len(se.Results) > 2*sessionWindow {
		s.results -= len(se.Results)
		maps.DeleteFunc(se.Results, func(old uint64, _ int) bool { return old+sessionWindow <= se.Newest })
		s.results += len(se.Results)
	}
	s.dropOldSessions(e.Client)
}

// sweepSessions drops the clients that have been silent for long. It searches at the first
// request of a client after sweepMillis.
func (s *State) sweepSessions(now int64) {
	if now-s.SweptAt < sweepMillis {
		return
	}
	s.SweptAt = now
	for client, se := range s.Sessions {
		if now-se.At > sessionMillis {
			s.dropSession(client)
		}
	}
}

// dropOldSessions drops the half of the clients that has been silent for longest, if there
// are too many clients or requests. It keeps the present one.
func (s *State) dropOldSessions(present string) {
	if len(s.Sessions) <= maxSessions && s.results <= maxResults {
		return
	}
	clients := slices.SortedFunc(maps.Keys(s.Sessions), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Sessions[a].At, s.Sessions[b].At), cmp.Compare(a, b))
	})
	for _, client := range clients[:len(clients)/2] {
		if client != present {
			s.dropSession(client)
		}
	}
}

// dropSession drops the requests of a client.
func (s *State) dropSession(client string) {
	se := s.Sessions[client]
	s.Forgotten = max(s.Forgotten, se.At)
	s.results -= len(se.Results)
	delete(s.Sessions, client)
}

// Submitted returns the job of a submission that the state remembers.
func (v View) Submitted(client string, sequence uint64) (id JobID, known bool) {
	if se := v.s.Sessions[client]; se != nil {
		id = v.s.submitted(se.Results[sequence])
	}
	return id, id != JobID{}
}

// submitted returns the job with a number; zero for number 0.
func (s *State) submitted(number int) JobID {
	if number == 0 {
		return JobID{}
	}
	return JobID{Cluster: s.ID, Number: number}
}
