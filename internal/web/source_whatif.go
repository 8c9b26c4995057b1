package web

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/sched/registry"
)

// WhatIfSource is the part of Source that simulates the jobs of histories under other policies, or on
// another cluster. A source without histories embeds NoWhatIf.
type WhatIfSource interface {
	// StartWhatIf starts a simulation. It does not wait for its end. The error has an *access.Refusal if
	// another one runs.
	StartWhatIf(ctx context.Context, q WhatIfQuery) (apidoc.WhatIfRun, error)
	// WhatIfs returns the simulations that are kept, the newest first, without their results.
	WhatIfs(ctx context.Context) (Answer[[]apidoc.WhatIfRun], error)
	// WhatIf returns a simulation.
	WhatIf(ctx context.Context, id string) (Answer[apidoc.WhatIfRun], error)
	// CancelWhatIf ends a simulation that runs.
	CancelWhatIf(ctx context.Context, id, user string) (apidoc.WhatIfRun, error)
}

// WhatIfQuery says what is simulated.
type WhatIfQuery struct {
	Params map[string]string // those of whatIfParams that are not empty
	// Settings are those of the present policy, by policy, a colon and name. Masters add them, so a source
	// that asks a master does not send them.
	Settings map[string]string
	User     string
}

// whatIfFlags are the flags of `hammr sim whatif` for parameters with one value, in this order.
var whatIfFlags = [][2]string{
	{"jobs", "job"}, {"pool", "pool"}, {"from", "from"}, {"to", "to"}, {"policy", "policy"}, {"baseline", "baseline"},
	{"nodes", "nodes"}, {"mapSlots", "map-slots"}, {"reduceSlots", "reduce-slots"},
}

// Args returns the arguments of the command that simulates the jobs of a directory. To show them, they
// have the name of the allocation file instead of its content.
func (q *WhatIfQuery) Args(history string, show bool) []string {
	args := []string{"sim", "whatif", "--history", history}
	for _, f := range whatIfFlags {
		if value := q.Params[f[0]]; value != "" {
			args = append(args, "--"+f[1], value)
		}
	}
	left := registry.AllocationFile
	if show {
		left = registry.Allocations
	}
	for _, name := range slices.Sorted(maps.Keys(q.Settings)) {
		if !strings.HasSuffix(name, ":"+left) {
			args = append(args, "--conf", name+"="+q.Settings[name])
		}
	}
	return args
}

// command returns the command that does the same.
func (q *WhatIfQuery) command(history string) string {
	words := []string{"hammr"}
	for _, arg := range q.Args(history, true) {
		words = append(words, shellWord(arg))
	}
	return strings.Join(words, " ")
}

// NoWhatIf is the WhatIfSource of a program without histories.
type NoWhatIf struct{}

var _ WhatIfSource = NoWhatIf{}

// errNoWhatIf is the error of NoWhatIf.
var errNoWhatIf = fmt.Errorf("this program has no directory of histories to simulate; use the pages of a master, or hammr ui with --history DIR: %w", ErrRefused)

// StartWhatIf implements WhatIfSource.
func (NoWhatIf) StartWhatIf(context.Context, WhatIfQuery) (r apidoc.WhatIfRun, err error) {
	return r, errNoWhatIf
}

// WhatIfs implements WhatIfSource.
func (NoWhatIf) WhatIfs(context.Context) (a Answer[[]apidoc.WhatIfRun], err error) {
	return a, errNoWhatIf
}

// WhatIf implements WhatIfSource.
func (NoWhatIf) WhatIf(_ context.Context, id string) (a Answer[apidoc.WhatIfRun], err error) {
	return a, errNoWhatIf
}

// CancelWhatIf implements WhatIfSource.
func (NoWhatIf) CancelWhatIf(context.Context, string, string) (r apidoc.WhatIfRun, err error) {
	return r, errNoWhatIf
}
