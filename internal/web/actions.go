package web

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/access"
)

// ActionKind is a kind of change: its object, and the value that it needs.
type ActionKind struct {
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
var Actions = []*ActionKind{
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
func (a *ActionKind) Path() string { return fmt.Sprintf("/%ss/{%s}/%s", a.Object, a.Object, a.Do) }

// Command returns the command that does the same to an object.
func (a *ActionKind) Command(id, value string) string {
	text := a.CLI
	if a.Param != nil {
		if value = cmp.Or(value, a.Param.Default); value == "" && !a.Param.Required {
			text, _, _ = strings.Cut(text, " --")
		}
		value = cmp.Or(value, strings.ToUpper(a.Param.Name))
	}
	return strings.NewReplacer("ID", shellWord(id), "VALUE", shellWord(value)).Replace(text)
}

// actionsOn returns the kinds of changes of a kind of object, without those named.
func actionsOn(object string, without ...string) (kinds []*ActionKind) {
	for _, a := range Actions {
		if a.Object == object && !contains(without, a.Do) {
			kinds = append(kinds, a)
		}
	}
	return kinds
}

// act makes the change that a request orders. Gate.Do has checked the caller.
func (c *call) act(a *ActionKind) (apidoc.Change, error) {
	action := Action{Do: a.Object + "." + a.Do, ID: c.params[a.Object], User: c.user()}
	if a.Param != nil {
		action.Value = c.params[a.Param.Name]
	}
	return c.cfg.Source.Act(c.ctx, action)
}

// user returns the name of the caller with the address of the client, for the audit log of the master
// that makes the change: it sees the address of this process only.
func (c *call) user() string {
	if host, _, err := net.SplitHostPort(access.ClientOf(c.ctx)); err == nil {
		return c.caller.Name + "@" + host // without the port: rates are those of a user
	}
	return c.caller.Name
}

// actFromAPI makes a change and answers with its document.
func (c *call) actFromAPI(a *ActionKind) error {
	change, err := c.act(a)
	if err != nil {
		return err
	}
	return c.json(change)
}

// actFromForm makes a change and leads the browser to the page of the object.
func (c *call) actFromForm(a *ActionKind) error {
	if _, err := c.act(a); err != nil {
		return err
	}
	id := c.params[a.Object]
	to := "/" + a.Object + "s/" + url.PathEscape(id)
	switch a.Object {
	case "attempt":
		to = "/jobs/" + jobOf(id) + "/tasks/" + taskOf(id)
	case "master":
		to = "/masters"
	}
	return c.redirectDone(to, a.Object+"."+a.Do)
}
