package control

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// heir is a policy that notes how it replaces another.
type heir struct {
	*fifo.Policy
	told *[]string
	from sched.Policy
}

func (h *heir) Reset(now int64, view sched.View) {
	*h.told = append(*h.told, "reset")
	h.Policy.Reset(now, view)
}

func (h *heir) TransferFrom(from sched.Policy) {
	*h.told = append(*h.told, "inherit")
	h.from = from
}

func (h *heir) Decide(now int64, view sched.View) sched.Plan {
	*h.told = append(*h.told, "decide")
	return h.Policy.Decide(now, view)
}

// TestAPolicyInheritsFromTheOneBefore checks that a new policy is reset, takes over state,
// and decides at once.
func TestAPolicyInheritsFromTheOneBefore(t *testing.T) {
	s := newStage(t)
	var told []string
	first, second := &heir{Policy: fifo.New(sched.Placement{}), told: new([]string)}, &heir{Policy: fifo.New(sched.Placement{}), told: &told}
	s.run([]Event{PolicyChanged{first}})
	s.run([]Event{PolicyChanged{second}})
	if second.from != first || !slices.Equal(told, []string{"reset", "inherit", "decide"}) {
		t.Errorf("it is told %v, and inherits from %T", told, second.from)
	}
}
