package docs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/hostfile"
	"github.com/hammr/hammr/internal/web/access"
)

// Change is a change of the cluster.
type Change struct {
	Do       string            // object and verb of a row of Actions, as job.kill
	ID       string            // of the object; for policy.set the name of the policy
	Value    string            // what the verb needs besides: a mode, pool or priority
	User     string            // who asked, for the audit log; "" if unknown
	Conf     map[string]string // for policy.set, all of its settings
	Expected string            // for policy.set, the Fingerprint of the apidoc.Policy that is replaced; "" for any
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
}

// Actions lists all kinds of changes. Each has a form at /OBJECTs/ID/DO and a call of the same
// path below /api/v1.
var Actions = []*Action{
	{Object: "job", Do: "kill", Verb: access.ChangeJob, Call: "Kill", Label: "Kill", Done: "killed", Careful: true, CLI: "hammr job kill ID",
		Doc: "Kill the job and remove its output."},
	{Object: "job", Do: "suspend", Verb: access.ChangeJob, Call: "SuspendJob", Label: "Suspend", Done: "suspended", CLI: "hammr job suspend ID --how VALUE",
		Doc:   "Preempt the tasks of the job, keep their work, and give the job no slots until it is resumed.",
		Param: &Param{Name: "mode", Enum: []string{"auto", "checkpoint", "suspend"}, Default: "auto", Doc: "preemption mode"}},
	{Object: "job", Do: "resume", Verb: access.ChangeJob, Call: "ResumeJob", Label: "Resume", Done: "resumed", CLI: "hammr job resume ID",
		Doc: "Let the suspended job have slots again."},
	{Object: "job", Do: "move", Verb: access.ChangeJob, Call: "MoveJob", Label: "Move", Done: "moved", CLI: "hammr job move ID VALUE",
		Doc: "Move the job to another pool.", Param: &Param{Name: "pool", Required: true, Doc: "name of the pool"}},
	{Object: "job", Do: "priority", Verb: access.ChangeJob, Call: "SetPriority", Label: "Set priority", Done: "given another priority", CLI: "hammr job priority ID VALUE",
		Doc: "Change the priority of the job.", Param: &Param{Name: "priority", Enum: apidoc.Priorities, Default: "NORMAL", Doc: "new priority"}},

	{Object: "attempt", Do: "kill", Verb: access.ChangeJob, Call: "EndAttempt", Label: "Kill", Done: "killed", Careful: true, CLI: "hammr task kill ID",
		Doc: "Kill the running attempt. Its task is tried again, and the kill is no failure."},
	{Object: "attempt", Do: "fail", Verb: access.ChangeJob, Call: "EndAttempt", Label: "Fail", Done: "failed", Careful: true, CLI: "hammr task fail ID",
		Doc: "Kill the running attempt and count that as a failure of its task."},
	{Object: "attempt", Do: "preempt", Verb: access.ChangeJob, Call: "PreemptAttempt", Label: "Preempt", Done: "preempted", CLI: "hammr task preempt ID --how VALUE",
		Doc:   "Take the slot of the running attempt and keep its work.",
		Param: &Param{Name: "mode", Enum: []string{"auto", "split", "checkpoint", "suspend", "kill"}, Default: "auto", Doc: "preemption mode"}},
	{Object: "attempt", Do: "resume", Verb: access.ChangeJob, Call: "PreemptAttempt", Label: "Resume", Done: "resumed", CLI: "hammr task preempt ID --resume",
		Doc: "Give the suspended attempt a slot on its machine."},

	{Object: "node", Do: "drain", Verb: access.Operate, Call: "DrainNode", Label: "Drain", Done: "being drained", Careful: true, CLI: "hammr node drain ID --deadline VALUE",
		Doc:   "Give the tasknode no new tasks and move everything off it, so that it can be stopped.",
		Param: &Param{Name: "deadline", Duration: true, Doc: "time after which it should be over, as 10m. The page then shows what is left; the drain continues"}},
	{Object: "node", Do: "admit", Verb: access.Operate, Call: "AdmitNode", Label: "Admit", Done: "admitted", CLI: "hammr node add ID",
		Doc: "End the drain and let the tasknode get tasks again."},

	{Object: "master", Do: "transfer", Verb: access.Operate, Call: "TransferLeadership", Label: "Make leader", Done: "given the lead", Careful: true, CLI: "hammr master transfer ID",
		Doc: "Make this master the leader."},
	{Object: "master", Do: "remove", Verb: access.Operate, Call: "RemoveMaster", Label: "Remove", Done: "removed", Careful: true, CLI: "hammr master remove ID",
		Doc: "Remove this master from the cluster permanently. Its process then only waits to be stopped."},
	{Object: "master", Do: "add", Verb: access.Operate, Call: "AddMaster", Label: "Add", Done: "added", CLI: "hammr master add ID VALUE",
		Doc:   "Add the master that runs at an address with --join, and give it a vote when it has caught up.",
		Param: &Param{Name: "address", Required: true, Doc: "host:port at which the other masters reach it"}},
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
		if a.Object == object && !slices.Contains(without, a.Do) {
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
