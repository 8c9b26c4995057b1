// Package disturb cuts, checkpoints, suspends and fails attempts at chosen records, for tests in which a job
// must write the same bytes whatever happens to its attempts.
//
//	ctx := disturb.With(ctx, disturb.Draw(seed))   // the jobs that run under ctx are disturbed
//	…
//	happened := plan.Happened()                    // to try less of it, with disturb.These
//
// A plan works only in the process of its context: in the embedded engine. The master takes a split
// or a checkpoint that it has not ordered as one that it has.
package disturb

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
)

// Action is what happens to an attempt.
type Action uint8

// The actions.
const (
	None       Action = iota
	Split             // it ends before the next record, and another task reads the rest of its input
	Checkpoint        // it writes a checkpoint before the next record or group, and another attempt resumes
	Suspend           // it stops for a moment; its open outputs become pieces, and it writes to other files
	Fail              // it fails, and another attempt starts over
	actions
)

var actionNames = [actions]string{"is not disturbed", "is split", "is checkpointed", "is suspended", "fails"}

// Disturbance is what happens to one attempt of one Node. A stage that is piped into another runs in
// the same attempts.
type Disturbance struct {
	Stage   string
	Node    int // number of the Node in its stage
	Attempt int // number of the attempt at its task, from 0
	Record  int // record or group of the attempt at which it happens, from 1
	Action  Action
}

// String describes it as "map 3, attempt 0: is split at record 17".
func (d Disturbance) String() string {
	return fmt.Sprintf("%s %d, attempt %d: %s at record %d", d.Stage, d.Node, d.Attempt, actionNames[d.Action], d.Record)
}

// Limits of what Draw draws. The tries of a task are bounded, so only its first attempts fail.
const (
	maxRecord   = 40
	maxAttempts = 3
)

// Plan says what happens to each attempt of the jobs under a context. Any goroutine may use it.
type Plan struct {
	seed uint64
	only []Disturbance // nil: as the seed says

	mu struct {
		sync.Mutex
		happened []Disturbance
	}
}

// Draw returns a plan that disturbs about half of the attempts, which a seed chooses.
func Draw(seed uint64) *Plan { return &Plan{seed: seed} }

// These returns a plan of certain disturbances.
func These(only []Disturbance) *Plan { return &Plan{only: append([]Disturbance{}, only...)} }

// planKey is the key of a context's plan.
type planKey struct{}

// With returns a context whose jobs are disturbed. A nil plan disturbs nothing.
func With(ctx context.Context, p *Plan) context.Context { return context.WithValue(ctx, planKey{}, p) }

// From returns the plan of a context, which may be nil.
func From(ctx context.Context) *Plan {
	p, _ := ctx.Value(planKey{}).(*Plan)
	return p
}

// Of returns what happens to an attempt of a Node: None if nothing does.
func (p *Plan) Of(stage string, node, attempt int) Disturbance {
	d := Disturbance{Stage: stage, Node: node, Attempt: attempt}
	switch {
	case p == nil || attempt >= maxAttempts:
	case p.only != nil:
		for _, o := range p.only {
			if o.Stage == stage && o.Node == node && o.Attempt == attempt {
				return o
			}
		}
	default:
		h := fnv.New64a()
		fmt.Fprintf(h, "%s/%d/%d", stage, node, attempt)
		rng := rand.New(rand.NewPCG(p.seed, h.Sum64()))
		d.Action, d.Record = Action(rng.IntN(2*int(actions)))%actions, 1+rng.IntN(1+rng.IntN(maxRecord))
	}
	return d
}

// Note adds a disturbance to those that have happened.
func (p *Plan) Note(d Disturbance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.happened = append(p.mu.happened, d)
}

// Happened returns what has happened, sorted and without repetitions.
func (p *Plan) Happened() []Disturbance {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.mu.happened)
	slices.SortFunc(all, func(a, b Disturbance) int { return slices.Compare([]byte(a.String()), []byte(b.String())) })
	return slices.Compact(all)
}
