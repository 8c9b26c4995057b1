package cluster

import (
	"fmt"
	"maps"
)

// sessionWindow is how many of a client's newest sequence numbers are
// remembered.
const sessionWindow = 128

// session remembers what a client has asked for, so that what it asks twice is
// done once.
type session struct {
	newest  uint64
	results map[uint64]JobID // by sequence; of at least the newest sessionWindow
}

func (s *State) session(client string) *session {
	se := s.sessions[client]
	if se == nil {
		se = &session{results: make(map[uint64]JobID)}
		s.sessions[client] = se
	}
	return se
}

// recall is what the entry with that number did when it came before.
func (se *session) recall(sequence uint64) (delta Delta, seen bool, err error) {
	if job, ok := se.results[sequence]; ok {
		return Delta{Submitted: job}, true, nil
	}
	if sequence+sessionWindow <= se.newest {
		return Delta{}, false, fmt.Errorf("%w: %d, the newest is %d", ErrTooLate, sequence, se.newest)
	}
	return Delta{}, false, nil
}

func (se *session) remember(sequence uint64, job JobID) {
	se.results[sequence] = job
	se.newest = max(se.newest, sequence)
	if len(se.results) > 2*sessionWindow {
		maps.DeleteFunc(se.results, func(old uint64, _ JobID) bool { return old+sessionWindow <= se.newest })
	}
}
