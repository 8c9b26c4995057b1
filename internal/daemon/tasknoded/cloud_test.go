package tasknoded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// fakeCalls is what the masters know of a tasknode.
type fakeCalls struct {
	node  apidoc.Tasknode
	err   error // of drain and admit
	calls []string
}

func (f *fakeCalls) status(context.Context) (apidoc.Tasknode, error) {
	return apidoc.Tasknode{State: f.node.State, Draining: f.node.Draining, Attempts: f.node.Attempts}, nil
}

func (f *fakeCalls) drain(context.Context) error {
	f.calls = append(f.calls, "drain")
	if f.err == nil {
		f.node.Draining, f.node.State = true, decommissioning
	}
	return f.err
}

func (f *fakeCalls) admit(context.Context) error {
	f.calls = append(f.calls, "admit")
	if f.err == nil {
		f.node.Draining, f.node.State = false, "RUNNING"
	}
	return f.err
}

// empty lets the tasknode finish what it has.
func (f *fakeCalls) empty() { f.node.State, f.node.Attempts = decommissioned, nil }

// TestDrainer drains a tasknode until it is empty, and undoes that, for tasknodes that users have
// excluded before in different ways.
func TestDrainer(t *testing.T) {
	for name, c := range map[string]struct {
		state    string
		draining bool
		want     []string // calls
	}{
		"a tasknode with tasks":     {"RUNNING", false, []string{"drain", "admit"}},
		"one without a session":     {"SILENT", false, []string{"drain", "admit"}},
		"a user has removed it":     {decommissioning, false, []string{"drain"}},
		"a user has drained it":     {decommissioning, true, nil},
		"it was removed and is off": {decommissioned, false, []string{"drain"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := new(fakeCalls)
			f.node.State, f.node.Draining, f.node.Attempts = c.state, c.draining, []string{"a1", "a2"}
			d := &drainer{calls: f}
			for range 2 {
				if left, err := d.Drain(t.Context()); err != nil || left != "2 attempts, 0 outputs, 0 checkpoints" {
					t.Errorf("%q left, %v", left, err)
				}
			}
			f.empty()
			if left, err := d.Drain(t.Context()); err != nil || left != "" {
				t.Errorf("%q left, %v", left, err)
			}
			if err := d.Undo(t.Context()); err != nil {
				t.Error(err)
			}
			if !slices.Equal(f.calls, c.want) {
				t.Errorf("calls %q, want %q", f.calls, c.want)
			}
		})
	}
}

// TestDrainerRepeatsWhatFails lets the masters refuse both calls once.
func TestDrainerRepeatsWhatFails(t *testing.T) {
	f := &fakeCalls{err: errors.New("no other tasknode takes tasks")}
	f.node.State = "RUNNING"
	d := &drainer{calls: f}
	if _, err := d.Drain(t.Context()); err == nil {
		t.Error("a refused drain succeeds")
	}
	if err := d.Undo(t.Context()); err != nil || len(f.calls) != 1 {
		t.Errorf("a drain that was refused is undone: %q, %v", f.calls, err)
	}
	f.err = nil
	if _, err := d.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	f.err = errors.New("no leader")
	if err := d.Undo(t.Context()); err == nil {
		t.Error("an undo that failed succeeds")
	}
	f.err = nil
	if err := d.Undo(t.Context()); err != nil || f.node.Draining {
		t.Errorf("%q, %v", f.calls, err)
	}
}

// TestCloudSettings checks the settings of notices.
func TestCloudSettings(t *testing.T) {
	cfg := Config{Cloud: "nimbus", CloudNotices: []string{"interruption", "storm"}}
	cfg.EnsureDefaults()
	err := cfg.Validate()
	for _, want := range []string{`--cloud: "nimbus": expected one of off, aws, gcp, azure, auto`, `--cloud-notices: "storm": expected one of interruption, maintenance, rebalance`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
