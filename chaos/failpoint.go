package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/failpoint"
)

// CommitEndPoints returns the points before the first file of a commit and after the last.
func CommitEndPoints() []string {
	return []string{failpoint.MasterCommitBegin.String(), failpoint.MasterCommitEnd.String()}
}

// pointsOf returns the failpoints of a daemon; a tasknode has those of its tasks.
func pointsOf(role Role) (points []string) {
	for _, name := range failpoint.Names() {
		if strings.HasPrefix(name, string(Jobmaster)+"/") == (role == Jobmaster) {
			points = append(points, name)
		}
	}
	return points
}

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

// action returns the parsed action, the zero Action for a fault of another kind. The check of
// the plan refuses actions that do not parse.
func (f Fault) action() failpoint.Action {
	a, _ := failpoint.ParseAction(f.Action)
	return a
}

// triggerHit returns the hit, from 1, at which a failpoint first has an effect.
func (f Fault) triggerHit() int64 { return max(1, f.action().Nth()) }

// ActsBetween reports whether a hit after the first number, up to the second, has an effect.
// Without @N each hit has one.
func (f Fault) ActsBetween(before, after int64) bool {
	nth := f.action().Nth()
	return after > before && (nth == 0 || before < nth && nth <= after)
}

// MissedAfter returns why a failpoint has had no effect after a number of hits, or "" if it
// has had an effect.
func (f Fault) MissedAfter(hits int64) string {
	if hits >= f.triggerHit() {
		return ""
	}
	return fmt.Sprintf("it was hit %d times", hits)
}

// failpointEndsDaemon reports whether a failpoint ends a daemon and not only a task. An
// error of an append to its log ends a master.
func (f Fault) failpointEndsDaemon() bool {
	a := f.action()
	return a.Crashes() && !strings.HasPrefix(f.Point, string(Task)+"/") || a.Fails() && f.Point == failpoint.MasterAppend.String()
}

// missedFailpoint counts hits. A daemon that crashes takes its count with it, but if the
// fault ends daemons, the end itself shows the effect.
func missedFailpoint(ctx context.Context, lab Lab, f Fault, daemons []string) func(context.Context) string {
	hitsSoFar := lab.WatchHits(ctx, daemons, f.Point)
	return func(ctx context.Context) string {
		hits, ended := hitsSoFar(ctx)
		if ended && f.failpointEndsDaemon() {
			return ""
		}
		reason := f.MissedAfter(hits)
		if reason != "" {
			reason += ", as far as is known"
		}
		return reason
	}
}

// failpointEffect is what happens to attempts and masters at the points that the simulator
// models. Nothing waits for a snapshot, and the log has the same entries without it; so only a
// crash there has an effect.
func failpointEffect(f Fault, _ Hit) Effect {
	a := f.action()
	switch {
	case f.failpointEndsDaemon():
		return Effect{Crash: true}
	case f.Point == failpoint.MasterSnapshot.String():
		return Effect{}
	case a.Crashes():
		return Effect{Fail: "signal: killed"}
	case a.Fails():
		return Effect{Fail: "failpoint " + f.Point}
	}
	return Effect{Delay: a.Delay().Milliseconds()}
}
