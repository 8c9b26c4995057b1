// Package drill plays plans of package chaos on a cluster of processes:
//
//	s, err := drill.NewSession(drill.Config{Hammr: "/usr/bin/hammr"})
//	defer s.Close()
//	verdict, err := s.Run(ctx, plan, "report/run-001")
//
// A drill starts a cluster of its own, submits the plan's jobs, watches their progress,
// and injects each fault when its trigger fires. It then compares the jobs' output with
// that of the same programs in one undisturbed process. A session keeps inputs and
// expected outputs from drill to drill.
//
// How a kind of fault is injected and undone is declared in chaos/kind_NAME.go, over the
// interface chaos.Lab, which a drill implements.
//
// The report's directory gets the plan, verdict.json, the logs of all daemons and the
// histories of the jobs. An error concerns the drill itself: a cluster that does not
// start, a plan that cannot be played here. What goes wrong with the jobs is in the
// verdict.
//
// Goroutines: one for each job, which watches it, and up to two for each injected fault,
// which measure its recovery and end it. Run waits for all of them.
package drill
