package control

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// successor is a policy that notes how it replaces another.
type successor struct {
	*fifo.Policy
	calls *[]string
	from  sched.Policy
}

func (h *successor) Reset(now int64, view sched.View) {
	*h.calls = append(*h.calls, "reset")
	h.Policy.Reset(now, view)
}

func (h *successor) TransferFrom(from sched.Policy) {
	*h.calls = append(*h.calls, "inherit")
	h.from = from
}

func (h *successor) Decide(now int64, view sched.View) sched.Plan {
	*h.calls = append(*h.calls, "decide")
	return h.Policy.Decide(now, view)
}

// TestAPolicyInheritsFromTheOneBefore checks that a new policy is reset, adopts state,
// and decides at once.
func TestAPolicyInheritsFromTheOneBefore(t *testing.T) {
	s := newStage(t)
	var calls []string
	first, second := &successor{Policy: fifo.New(sched.Placement{}), calls: new([]string)}, &successor{Policy: fifo.New(sched.Placement{}), calls: &calls}
	s.run([]Event{PolicyChanged{first}})
	s.run([]Event{PolicyChanged{second}})
	if second.from != first || !slices.Equal(calls, []string{"reset", "inherit", "decide"}) {
		t.Errorf("its calls are %v, and inherits from %T", calls, second.from)
	}
}
