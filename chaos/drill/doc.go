// Package drill plays plans of package chaos on a cluster of processes:
//
//	s, err := drill.NewSession(drill.Config{Hammr: "/usr/bin/hammr"})
//	defer s.Close()
//	verdict, err := s.Run(ctx, plan, "report/run-001")
//
// A drill starts a cluster of its own, submits the plan's jobs, watches their progress, and
// injects each fault when its trigger fires. It then compares the jobs' output with the
// output of the same programs in one undisturbed process. A session keeps inputs and
// expected outputs from drill to drill.
//
// How a kind of fault is injected and undone is declared in chaos/kinds.go, over the
// interface chaos.Lab, which a drill implements.
//
// The report's directory gets the plan, verdict.json, the logs of all daemons and the
// histories of the jobs. An error concerns the drill itself: a cluster that does not
// start, a plan that cannot be played here. What goes wrong with the jobs is in the
// verdict.
//
// Goroutines: one for each job, which watches it, and up to two for each injected fault,
// which measure its recovery and end it. Run waits for all of them.
//
// The life of a drill, and of a fault in it:
//
//	CanPlay ─► input, expected output ─► cluster ─► jobs ─► faults ─► judge ─► report
//	                                                         │
//	          pending ── trigger is due, target exists ──► injected ── For ──► undone
//	             └── never due, or nothing to hit ──► not injected, with the reason
//
// A verdict is about the jobs: each must succeed, with the bytes of the undisturbed run.
// The time of recovery, repeated attempts and lost work are numbers of the report, without
// a bound.
package drill
