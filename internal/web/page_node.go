package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// nodeData is the page of a tasknode.
type nodeData struct {
	apidoc.Tasknode
	Forms   []Form
	Profile *profileForm
	Audit   apidoc.Audit
	Losses  apidoc.Losses
	Left    int64 // time until the deadline of the drain, ms; 0 if there is none
	Late    bool  // the deadline has passed, and something is left
	Runs    []nodeRun
}

// nodeRun is a running attempt of a tasknode.
type nodeRun struct {
	apidoc.RunningAttempt
	Elapsed int64  // since its start, ms
	Forms   []Form // to kill it; only while the tasknode is drained
}

// maxKillForms bounds the forms on the page of a tasknode.
const maxKillForms = 50

func showNode(c *call) error {
	n := read(c, docs.Node, docs.NodeID{Node: c.params["node"]})
	d := nodeData{Tasknode: n, Audit: optional(c, docs.Audit, docs.AuditQuery{Node: n.Name}), Losses: optional(c, docs.Losses, docs.LossQuery{Node: n.Name})}
	without := []string{"admit"}
	switch {
	case n.Draining: // a new deadline replaces the one before
		without = nil
	case strings.HasPrefix(n.State, "DECOMMISSION"), n.Suspicion != "":
		without = []string{"drain"}
	}
	if n.Lost {
		without = append(without, "set")
	}
	d.Forms = formsOn(docs.ActionsOn("node", without...), n.Name, nil)
	if n.State != "LOST" {
		d.Profile = newProfileForm("node", n.Name)
	}
	now := c.cfg.Now().UnixMilli()
	if n.Drain != nil && n.Drain.Deadline > 0 {
		d.Left = max(0, n.Drain.Deadline-now)
		d.Late = d.Left == 0 && n.State == "DECOMMISSIONING"
	}
	for i, r := range n.Running[:min(len(n.Running), maxShownIDs)] {
		run := nodeRun{RunningAttempt: r, Elapsed: now - r.StartTime}
		if n.Draining && i < maxKillForms {
			run.Forms = formsOn(slices.DeleteFunc(docs.ActionsOn("attempt"), func(a *docs.Action) bool { return a.Do != "kill" }), r.ID, nil)
		}
		d.Runs = append(d.Runs, run)
	}
	return c.render(http.StatusOK, "node", "Node "+n.Name, &d, Command{"this tasknode", "hammr node status " + shellWord(n.Name)}, Command{"its losses", "hammr node losses " + shellWord(n.Name)})
}
