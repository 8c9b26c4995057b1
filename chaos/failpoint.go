package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/failpoint"
)

// CommitEndPoints are the points before the first file of a commit and after the last.
func CommitEndPoints() []string {
	return []string{failpoint.MasterCommitBegin.String(), failpoint.MasterCommitEnd.String()}
}

// pointsOf are the failpoints of a daemon; a tasknode has those of its tasks.
func pointsOf(role Role) (points []string) {
	for _, name := range failpoint.Names() {
		if strings.HasPrefix(name, string(Jobmaster)+"/") == (role == Jobmaster) {
			points = append(points, name)
		}
	}
	return points
}

// checkFailpoint reports what is wrong with the point and the action of a failpoint.
func (f Fault) checkFailpoint() error {
	points := pointsOf(f.Target.Role)
	switch {
	case f.Point == "":
		return fmt.Errorf("failpoint: 'at POINT' is missing; a %s has %s", f.Target.Role, join(points))
	case f.Action == "":
		return fmt.Errorf("failpoint at %s: 'by ACTION' is missing: error, crash or delay=TIME, with or without @N", f.Point)
	}
	if _, err := failpoint.Find(f.Point); err != nil {
		return err
	}
	if !slices.Contains(points, f.Point) {
		return fmt.Errorf("failpoint at %s: a %s never hits it; it has %s", f.Point, f.Target.Role, join(points))
	}
	_, err := failpoint.ParseAction(f.Action)
	return err
}

// TriggerHit is the hit, from 1, at which a failpoint first has an effect.
func (f Fault) TriggerHit() int64 {
	a, err := failpoint.ParseAction(f.Action)
	if err != nil {
		return 1
	}
	return max(1, a.Nth())
}

// failpointEndsDaemon reports whether a failpoint ends a daemon and not only a task. An
// error of an append to its log ends a master.
func (f Fault) failpointEndsDaemon() bool {
	a, err := failpoint.ParseAction(f.Action)
	return err == nil && (a.Crashes() && !strings.HasPrefix(f.Point, string(Task)+"/") || a.Fails() && f.Point == failpoint.MasterAppend.String())
}

// drawFailpoint draws a point and an action that jobs survive: attempts may fail and
// daemons may crash, but a commit that fails ends its job.
func (r *random) drawFailpoint(f *Fault) {
	points := pointsOf(f.Target.Role)
	f.Point = points[r.IntN(len(points))]
	actions := []string{"error", "crash", "delay"}
	if strings.HasPrefix(f.Point, string(Jobmaster)+"/commit-") {
		actions = actions[1:]
	}
	switch action := actions[r.IntN(len(actions))]; {
	case action == "delay":
		f.Action = fmt.Sprintf("delay=%v", r.drawDuration(5*time.Millisecond, 300*time.Millisecond))
	case action == "error" && f.Point == failpoint.TasknodeHeartbeat.String():
		f.Action = action // a single heartbeat that is left out has no effect
	default:
		f.Action = fmt.Sprintf("%s@%d", action, 1+r.IntN(2))
	}
}
