// Package paper runs the experiments of the five papers that this project implements, and
// compares the results with those of the papers.
//
// A Paper is a list of Experiments, which are data: a workload, a cluster, Arms (policies
// with their settings), Points (values of a parameter), and Measures, each with the paper's
// figure and the reason why ours may differ. Every arm is run at every point and repeated,
// each repetition with a seed of its own:
//
//	Plan ──► Experiments ──► Trials ──► Runner ──► Outcomes ──► Findings ──► Report
//	         (data)          arm×point×seed        by seed      median, 95 %
//
// A Runner runs trials. Simulator runs them in virtual time, with the same bits each time.
// bench/live has a Runner for clusters of processes, which makes the same Outcome from their
// histories.
//
//	report, err := paper.Run(ctx, "hfsp", paper.Options{Runs: 20, Seed: 1, WorkloadDir: dir}, paper.Simulator{})
//	err = report.Write("out")
//
// Run has a goroutine for each running trial, GOMAXPROCS of them by default, and waits for
// all of them. The outcome of a trial does not depend on other trials.
package paper
