package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// sessionWindow is the number of newest sequence numbers of a client that are remembered.
const sessionWindow = 128

// session remembers the requests of a client, so that a repeated request is executed once.
type session struct {
	newest  uint64           // highest sequence number so far
	at      int64            // of the newest entry, ms since the epoch
	results map[uint64]JobID // by sequence number; at least the newest sessionWindow results
}

// session returns the session of a client. It makes one for a new client.
func (s *State) session(client string) *session {
	se := s.sessions[client]
	if se == nil {
		s.dropOldSessions()
		se = &session{results: make(map[uint64]JobID)}
		s.sessions[client] = se
	}
	return se
}

// maxSessions is the number of clients that are remembered. A client repeats a request
// within minutes; far fewer clients than this send requests in that time.
const maxSessions = 16_384

// dropOldSessions forgets the half of the clients that has been silent for longest, if there
// are too many.
func (s *State) dropOldSessions() {
	if len(s.sessions) < maxSessions {
		return
	}
	clients := slices.SortedFunc(maps.Keys(s.sessions), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.sessions[a].at, s.sessions[b].at), cmp.Compare(a, b))
	})
	for _, client := range clients[:len(clients)/2] {
		delete(s.sessions, client)
	}
}

// recall returns the effect of an earlier entry with the given sequence number.
func (se *session) recall(sequence uint64) (delta Delta, seen bool, err error) {
	if job, ok := se.results[sequence]; ok {
		return Delta{Submitted: job}, true, nil
	}
	if sequence+sessionWindow <= se.newest {
		return Delta{}, false, fmt.Errorf("%w: %d, the newest is %d", ErrTooLate, sequence, se.newest)
	}
	return Delta{}, false, nil
}

// remember stores the effect of an entry. It drops the oldest numbers from time to time,
// at the same entry on every master.
func (se *session) remember(sequence uint64, at int64, job JobID) {
	se.at = max(se.at, at)
	se.results[sequence] = job
	se.newest = max(se.newest, sequence)
	if len(se.results) > 2*sessionWindow {
		maps.DeleteFunc(se.results, func(old uint64, _ JobID) bool { return old+sessionWindow <= se.newest })
	}
}
