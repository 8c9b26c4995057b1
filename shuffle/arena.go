package shuffle

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"
)

// Arenas are large pieces of memory for records and segments, outside the garbage collected
// heap if the system allows that. Touching a page for the first time costs much of the time
// to collect a record, and nearly half of the time to receive one. An unused arena is
// therefore kept for the next attempt, and returned to the system only after a while.

const (
	// arenaIdle is how long an unused arena is kept.
	arenaIdle = 5 * time.Second
	// arenaKeep is how many unused arenas are kept at most.
	arenaKeep = 8
)

// idleArena is an arena that no collector or intake uses.
type idleArena struct {
	mem   []byte    // take looks for an arena of this length
	since time.Time // time at which the arena was returned
}

// arenaPool keeps unused arenas of the process. Sizes follow from the configuration, so
// attempts of one job ask for equal ones, and take needs no search for a fit. give starts a
// timer for each arena that it keeps; there is no goroutine.
type arenaPool struct {
	mu struct {
		sync.Mutex
		idle []idleArena
	}
}

var arenas arenaPool

// ReleaseMemory returns unused arenas to the system at once. Call it when no collectors and
// intakes will follow. Otherwise it happens after a few seconds.
func ReleaseMemory() { arenas.release(time.Now()) }

// take returns an arena of size bytes, an unused one if there is one of this size. Its
// content is arbitrary: a caller that needs zeros clears it.
func (p *arenaPool) take(size int) ([]byte, error) {
	p.mu.Lock()
	for i, a := range p.mu.idle {
		if len(a.mem) == size {
			p.mu.idle = slices.Delete(p.mu.idle, i, i+1)
			p.mu.Unlock()
			return a.mem, nil
		}
	}
	p.mu.Unlock()
	mem, err := mapMemory(size)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of memory: %w", size, err)
	}
	return mem, nil
}

// give takes an arena back, which the caller must not touch again. nil is ignored. If enough
// arenas are unused already, it is unmapped at once.
func (p *arenaPool) give(mem []byte) {
	if mem == nil {
		return
	}
	p.mu.Lock()
	keep := len(p.mu.idle) < arenaKeep
	if keep {
		p.mu.idle = append(p.mu.idle, idleArena{mem, time.Now()})
	}
	p.mu.Unlock()
	if !keep {
		unmapMemory(mem)
		return
	}
	time.AfterFunc(arenaIdle+time.Second, func() { p.release(time.Now().Add(-arenaIdle)) })
}

// discard returns an arena to the system at once, and nil is ignored. It is for arenas that are
// larger than what attempts usually use.
func (p *arenaPool) discard(mem []byte) {
	if mem != nil {
		unmapMemory(mem)
	}
}

// release unmaps the arenas that have been unused since before a time.
func (p *arenaPool) release(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.idle = slices.DeleteFunc(p.mu.idle, func(a idleArena) bool {
		expired := !a.since.After(before)
		if expired {
			unmapMemory(a.mem)
		}
		return expired
	})
}

// arenaSize rounds a size up by less than a quarter, so that attempts which need different
// sizes use arenas of the same sizes. Pages that are not touched take no memory.
func arenaSize(size int) int {
	const least = 64 << 10
	if size <= least {
		return least
	}
	step := 1 << (bits.Len(uint(size-1)) - 3)
	return (size + step - 1) &^ (step - 1)
}
