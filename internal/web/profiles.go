package web

import (
	"crypto/rand"
	"sync"
)

// profiles keeps the latest profiles that were taken on the pages. They are lost when the process ends.
// Any goroutine may use it.
type profiles struct {
	mu struct {
		sync.Mutex
		kept []keptProfile // the oldest first; at most maxProfiles
	}
}

// keptProfile is a profile with the id under which it is found.
type keptProfile struct {
	id string
	*takenProfile
}

// add keeps a profile and returns its id, which cannot be guessed. It may drop the oldest one.
func (p *profiles) add(taken *takenProfile) (id string) {
	id = rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mu.kept) >= maxProfiles {
		p.mu.kept = append(p.mu.kept[:0:0], p.mu.kept[1:]...)
	}
	p.mu.kept = append(p.mu.kept, keptProfile{id, taken})
	return id
}

// get returns the profile with an id; nil if there is none, or it was dropped.
func (p *profiles) get(id string) *takenProfile {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, each := range p.mu.kept {
		if each.id == id {
			return each.takenProfile
		}
	}
	return nil
}
