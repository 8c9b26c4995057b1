package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/failpoint"
)

// logAppendPoint is the point at which an error ends a master.
var logAppendPoint = failpoint.MasterAppend.String()

// CommitEndPoints are the points before the first file of a commit and behind the last
// one.
func CommitEndPoints() []string {
	return []string{failpoint.MasterCommitBegin.String(), failpoint.MasterCommitEnd.String()}
}

// pointsOf are the failpoints that a daemon comes to; a tasknode has those of its
// tasks.
func pointsOf(role Role) (points []string) {
	for _, name := range failpoint.Names() {
		if strings.HasPrefix(name, string(Jobmaster)+"/") == (role == Jobmaster) {
			points = append(points, name)
		}
	}
	return points
}

// checkPoint tells what is wrong with where a fault is and what happens there.
func (f Fault) checkPoint() error {
	points := pointsOf(f.Target.Role)
	switch {
	case f.By != 0:
		return fmt.Errorf("failpoint by %v: a point has an action and no amount", f.By)
	case f.Point == "":
		return fmt.Errorf("failpoint: 'at POINT' is missing; a %s has %s", f.Target.Role, join(points))
	case f.How == "":
		return fmt.Errorf("failpoint at %s: 'by ACTION' is missing: error, crash or delay=TIME, with or without @N", f.Point)
	}
	if _, err := failpoint.Find(f.Point); err != nil {
		return err
	}
	if !slices.Contains(points, f.Point) {
		return fmt.Errorf("failpoint at %s: no %s comes there; it has %s", f.Point, f.Target.Role, join(points))
	}
	_, err := failpoint.ParseAction(f.How)
	return err
}

// TriggerHit is, of a failpoint, the time from 1 that it is come to at which something
// goes wrong.
func (f Fault) TriggerHit() int64 {
	a, err := failpoint.ParseAction(f.How)
	if err != nil {
		return 1
	}
	return max(1, a.Nth())
}

// EndsDaemon reports whether a daemon may be gone for the fault. What ends the fault
// starts it again.
func (f Fault) EndsDaemon() bool {
	switch f.Kind {
	case Kill, Restart:
		return f.Target.Role != Task
	case IOError:
		return f.Target.Role == Jobmaster
	case Failpoint:
		a, err := failpoint.ParseAction(f.How)
		return err == nil && (a.Crashes() && !strings.HasPrefix(f.Point, string(Task)+"/") || a.Fails() && f.Point == logAppendPoint)
	}
	return false
}

// drawFailpoint draws a failpoint for a target, and what happens there: as much as jobs
// live through. Attempts may fail, and daemons crash, but a commit that fails is
// the end of its job.
func (r *random) drawFailpoint(role Role) (point, action string) {
	points := pointsOf(role)
	point = points[r.IntN(len(points))]
	deeds := []string{"error", "crash", "delay"}
	if strings.HasPrefix(point, string(Jobmaster)+"/commit-") {
		deeds = deeds[1:]
	}
	switch deed := deeds[r.IntN(len(deeds))]; {
	case deed == "delay":
		return point, fmt.Sprintf("delay=%v", r.drawDuration(5*time.Millisecond, 300*time.Millisecond))
	case deed == "error" && point == failpoint.TasknodeHeartbeat.String():
		return point, deed // one that is left out is nothing
	default:
		return point, fmt.Sprintf("%s@%d", deed, 1+r.IntN(2))
	}
}
