package docs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// Change is a change of the cluster.
type Change struct {
	Do       string            // object and verb of a row of Actions, as job.kill
	ID       string            // of the object; for policy.set the name of the policy
	Value    string            // what the verb needs besides: a mode, pool or priority
	User     string            // who asked, for the audit log; "" if unknown
	Conf     map[string]string // for policy.set, all of its settings
	Expected string            // for policy.set, the Fingerprint of the apidoc.Policy that is replaced; "" for any

	UntilRestart bool // for node.drain: the next start of the tasknode ends the drain
}

// Cluster is what actions change. A jobmaster and the administration of its masters implement it. Errors wrap
// ErrUnknown or ErrRefused if one fits.
type Cluster interface {
	Job(ctx context.Context, id string, tasks bool) (*wire.JobStatus, error)
	Kill(ctx context.Context, job, cause string) error
	SuspendJob(ctx context.Context, job string, mode preempt.Mode) error
	ResumeJob(ctx context.Context, job string) error
	MoveJob(ctx context.Context, job, pool string) error
	SetPriority(ctx context.Context, job string, priority int) error
	EndAttempt(ctx context.Context, attempt string, fail bool) error
	PreemptAttempt(ctx context.Context, attempt string, mode preempt.Mode) (preempt.Mode, error)
	ResumeAttempt(ctx context.Context, attempt string) error
	AdmitTasknode(ctx context.Context, name string, excluded bool) error
	SetSlots(ctx context.Context, tasknode string, slots cluster.Slots) error
	DrainTasknode(ctx context.Context, name string, untilRestart bool, within time.Duration) error
	ChangePolicy(ctx context.Context, name string, conf map[string]string, expected string) error
	// The changes of the masters have their own limits of time, because they continue when the caller has
	// disconnected.
	AddMaster(id, address string) error
	RemoveMaster(id string) error
	TransferLeadership(id string) error
}

// Action is a kind of change: its object, and the value that it needs.
type Action struct {
	Object string      // kind of the object: job, attempt, node or master
	Do     string      // verb in URLs, as kill
	Verb   access.Verb // of the access check
	Call   string      // the call that does it, for the audit log
	Label  string      // on a button
	Done   string      // past participle, for the notice after it
	Doc    string      // one sentence
	Param  *Param      // the value; nil if it needs none
	// CLI is the command that does the same, with ID for the object and VALUE for the value.
	CLI string
	// Careful asks the user to confirm, because the action cannot be undone.
	Careful bool
	// apply makes the change, and returns the new value.
	apply func(ctx context.Context, m Cluster, c Change) (to string, err error)
}

// Modes of preemption that users choose from: of an attempt, and of all attempts of a job.
var (
	attemptModes = []string{"auto", "split", "checkpoint", "suspend", "kill"}
	jobModes     = []string{"auto", "checkpoint", "suspend"}
)

// Actions lists all kinds of changes. Those with a label have a form at /OBJECTs/ID/DO and a call of the same
// path below /api/v1.
var Actions = []*Action{
	{Object: "job", Do: "kill", Verb: access.ChangeJob, Call: "Kill", Label: "Kill", Done: "killed", Careful: true, CLI: "hammr job kill ID",
		Doc: "Kill the job and remove its output.", apply: killJob},
	{Object: "job", Do: "suspend", Verb: access.ChangeJob, Call: "SuspendJob", Label: "Suspend", Done: "suspended", CLI: "hammr job suspend ID --how VALUE",
		Doc:   "Preempt the tasks of the job, keep their work, and give the job no slots until it is resumed.",
		Param: &Param{Name: "mode", Enum: jobModes, Default: "auto", Doc: "preemption mode"},
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return "", m.SuspendJob(ctx, c.ID, preempt.Mode(c.Value))
		}},
	{Object: "job", Do: "resume", Verb: access.ChangeJob, Call: "ResumeJob", Label: "Resume", Done: "resumed", CLI: "hammr job resume ID",
		Doc:   "Let the suspended job have slots again.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) { return "", m.ResumeJob(ctx, c.ID) }},
	{Object: "job", Do: "move", Verb: access.ChangeJob, Call: "MoveJob", Label: "Move", Done: "moved", CLI: "hammr job move ID VALUE",
		Doc: "Move the job to another pool.", Param: &Param{Name: "pool", Required: true, Doc: "name of the pool"},
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return c.Value, m.MoveJob(ctx, c.ID, c.Value)
		}},
	{Object: "job", Do: "priority", Verb: access.ChangeJob, Call: "SetPriority", Label: "Set priority", Done: "given another priority", CLI: "hammr job priority ID VALUE",
		Doc: "Change the priority of the job.", Param: &Param{Name: "priority", Enum: apidoc.Priorities, Default: "NORMAL", Doc: "new priority"},
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return c.Value, m.SetPriority(ctx, c.ID, 2-slices.Index(apidoc.Priorities, c.Value))
		}},

	{Object: "attempt", Do: "kill", Verb: access.ChangeJob, Call: "EndAttempt", Label: "Kill", Done: "killed", Careful: true, CLI: "hammr task kill ID",
		Doc: "Kill the running attempt. Its task is tried again, and the kill is no failure.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return "", m.EndAttempt(ctx, c.ID, false)
		}},
	{Object: "attempt", Do: "fail", Verb: access.ChangeJob, Call: "EndAttempt", Label: "Fail", Done: "failed", Careful: true, CLI: "hammr task fail ID",
		Doc: "Kill the running attempt and count that as a failure of its task.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return "", m.EndAttempt(ctx, c.ID, true)
		}},
	{Object: "attempt", Do: "preempt", Verb: access.ChangeJob, Call: "PreemptAttempt", Label: "Preempt", Done: "preempted", CLI: "hammr task preempt ID --how VALUE",
		Doc:   "Take the slot of the running attempt and keep its work.",
		Param: &Param{Name: "mode", Enum: attemptModes, Default: "auto", Doc: "preemption mode"},
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			used, err := m.PreemptAttempt(ctx, c.ID, preempt.Mode(c.Value))
			return string(used), err
		}},
	{Object: "attempt", Do: "resume", Verb: access.ChangeJob, Call: "PreemptAttempt", Label: "Resume", Done: "resumed", CLI: "hammr task preempt ID --resume",
		Doc:   "Give the suspended attempt a slot on its machine.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) { return "", m.ResumeAttempt(ctx, c.ID) }},

	{Object: "node", Do: "drain", Verb: access.Operate, Call: "DrainNode", Label: "Drain", Done: "being drained", Careful: true, CLI: "hammr node drain ID --deadline VALUE",
		Doc:   "Give the tasknode no new tasks and move everything off it, so that it can be stopped.",
		Param: &Param{Name: "deadline", Duration: true, Doc: "time within which the drain should end, such as 10m. After it the page shows what is left, and the drain continues"},
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			within, _ := time.ParseDuration(c.Value) // checked already; 0 for none
			return c.Value, m.DrainTasknode(ctx, c.ID, c.UntilRestart, within)
		}},
	{Object: "node", Do: "admit", Verb: access.Operate, Call: "AdmitNode", Label: "Admit", Done: "added", CLI: "hammr node add ID",
		Doc: "End the drain and let the tasknode get tasks again.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return "", m.AdmitTasknode(ctx, c.ID, false)
		}},
	{Object: "node", Do: "exclude", Verb: access.Operate, Call: "AdmitNode", Done: "removed", CLI: "hammr node remove ID",
		Doc: "Give the tasknode no new tasks. Those that run continue.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return "", m.AdmitTasknode(ctx, c.ID, true)
		}},

	{Object: "node", Do: "set", Verb: access.Operate, Call: "SetSlots", Label: "Set slots", Done: "given other slots", CLI: "hammr node set ID --map-slots N --reduce-slots N",
		Doc:   "Change how many tasks the tasknode runs at once. Tasks that have a slot too many run to their end.",
		Param: &Param{Name: "slots", Required: true, Doc: "slots of each kind, as map=4,reduce=2; a kind that is left out stays as it is"},
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			slots, err := ParseSlots(c.Value)
			if err != nil {
				return "", err
			}
			return c.Value, m.SetSlots(ctx, c.ID, slots)
		}},

	{Object: "master", Do: "transfer", Verb: access.Operate, Call: "TransferLeadership", Label: "Make leader", Done: "handed the lead", Careful: true, CLI: "hammr master transfer ID",
		Doc:   "Make this master the leader.",
		apply: func(_ context.Context, m Cluster, c Change) (string, error) { return "", m.TransferLeadership(c.ID) }},
	{Object: "master", Do: "remove", Verb: access.Operate, Call: "RemoveMaster", Label: "Remove", Done: "removed", Careful: true, CLI: "hammr master remove ID",
		Doc:   "Remove this master from the cluster permanently. Its process then only waits to be stopped.",
		apply: func(_ context.Context, m Cluster, c Change) (string, error) { return "", m.RemoveMaster(c.ID) }},
	{Object: "master", Do: "add", Verb: access.Operate, Call: "AddMaster", Label: "Add", Done: "added", CLI: "hammr master add ID VALUE",
		Doc:   "Add the master that runs at an address with --join, and give it a vote when it has caught up.",
		Param: &Param{Name: "address", Required: true, Doc: "host:port at which the other masters reach it"},
		apply: func(_ context.Context, m Cluster, c Change) (string, error) {
			return c.Value, m.AddMaster(c.ID, c.Value)
		}},

	{Object: "policy", Do: "set", Verb: access.Operate, Call: "SetPolicy", Done: "chosen", CLI: "hammr scheduler set ID",
		Doc: "Replace the policy and all of its settings.",
		apply: func(ctx context.Context, m Cluster, c Change) (string, error) {
			return "", m.ChangePolicy(ctx, c.ID, c.Conf, c.Expected)
		}},
}

// maxSlots bounds the slots of a kind that a tasknode is given.
const maxSlots = 10_000

// ParseSlots parses the value of node.set, as map=4,reduce=2. A kind that is not named is -1. The error is a BadParam.
func ParseSlots(text string) (cluster.Slots, error) {
	slots := cluster.Slots{-1, -1}
	for part := range strings.SplitSeq(text, ",") {
		kind, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		i := slices.Index([]string{cluster.MapSlot: "map", cluster.ReduceSlot: "reduce"}, kind)
		n, err := strconv.Atoi(number)
		if i < 0 || slots[i] >= 0 || err != nil || n < 0 || n > maxSlots {
			return slots, Bad("slots", fmt.Sprintf("%q: expected map=N,reduce=N or one of both, each from 0 to %d", text, maxSlots))
		}
		slots[i] = n
	}
	if slots.IsZero() {
		return slots, Bad("slots", fmt.Sprintf("%q: the tasknode would run nothing; 'hammr node remove' or 'hammr node drain' does that", text))
	}
	return slots, nil
}

// killJob kills a job. One that is over is refused.
func killJob(ctx context.Context, m Cluster, c Change) (string, error) {
	status, err := m.Job(ctx, c.ID, false)
	switch {
	case err != nil:
		return "", err
	case status.State.Final():
		return "", Classify(ErrRefused, fmt.Errorf("job %s is over already: %v", c.ID, status.State))
	}
	return "", m.Kill(ctx, c.ID, "killed by "+cmp.Or(c.User, "a user"))
}

// Apply makes a change, which may come from anyone who may call masters.
func Apply(ctx context.Context, m Cluster, c Change) (done apidoc.Change, err error) {
	a := ActionOf(c.Do)
	if a == nil {
		return done, Bad("do", fmt.Sprintf("%.100q: no such change; this master may be older than its caller", c.Do))
	}
	if a.Param != nil {
		if c.Value, err = a.Param.Check(c.Value); err != nil {
			return done, err
		}
	}
	done = apidoc.Change{ID: c.ID, Done: a.Done}
	done.To, err = a.apply(ctx, m, c)
	return done, err
}

// Path returns the path of the form, or of the call below /api/v1.
func (a *Action) Path() string { return fmt.Sprintf("/%ss/{%s}/%s", a.Object, a.Object, a.Do) }

// Command returns the command that does the same to an object.
func (a *Action) Command(id, value string) string {
	text := a.CLI
	if a.Param != nil {
		if value = cmp.Or(value, a.Param.Default); value == "" && !a.Param.Required {
			text, _, _ = strings.Cut(text, " --")
		}
		value = cmp.Or(value, strings.ToUpper(a.Param.Name))
	}
	return strings.NewReplacer("ID", hostfile.Word(id), "VALUE", hostfile.Word(value)).Replace(text)
}

// ActionsOn returns the kinds of changes of a kind of object, without those named.
func ActionsOn(object string, without ...string) (kinds []*Action) {
	for _, a := range Actions {
		if a.Object == object && a.Label != "" && !slices.Contains(without, a.Do) {
			kinds = append(kinds, a)
		}
	}
	return kinds
}

// ActionOf returns the row of object and verb, as job.kill; nil if there is none.
func ActionOf(do string) *Action {
	i := slices.IndexFunc(Actions, func(a *Action) bool { return a.Object+"."+a.Do == do })
	if i < 0 {
		return nil
	}
	return Actions[i]
}
