// Package drill plays plans of package chaos on a cluster of processes:
//
//	s, err := drill.NewSession(drill.Config{Hammr: "/usr/bin/hammr"})
//	defer s.Close()
//	verdict, err := s.Run(ctx, plan, "report/run-001")
//
// A drill starts a cluster of its own, submits the plan's jobs, watches how far
// they are, breaks what the plan says when it says so, and compares what the jobs
// have written with what the same programs write undisturbed in one process. A
// session keeps the input and those outputs from drill to drill.
//
// The report's directory gets the plan, verdict.json, the logs of all daemons and
// the histories of the jobs. An error is one of the drill itself: a cluster that
// does not start, a plan that cannot be played here. What goes wrong with the jobs
// is in the verdict.
//
// Goroutines: one for each job, which watches it; one for each fault that is due,
// until it is over. Run waits for all of them.
package drill
