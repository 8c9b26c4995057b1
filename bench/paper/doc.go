// Package paper runs the experiments of the five papers that this project
// implements, and holds what comes out against what the papers say.
//
// A Paper is a list of Experiments, and an Experiment is data: a workload, a
// cluster, Arms (policies with their settings), Points (values of a parameter), and
// Measures, each a number with the paper's figure for it and the reason why ours
// may differ. Every arm is run at every point, as often as asked for, each
// repetition with a seed of its own:
//
//	Plan ──► Experiments ──► Trials ──► Runner ──► Outcomes ──► Findings ──► Report
//	         (data)          arm×point×seed        by seed      median, 95 %
//
// A Runner is where trials are run: Simulator does so in virtual time, bit for bit
// the same each time; bench/live has one for clusters of processes, which brings
// back the same Outcome from their histories.
//
//	report, err := paper.Run(ctx, "hfsp", paper.Options{Runs: 20, Seed: 1, WorkloadDir: dir}, paper.Simulator{})
//	err = report.Write("out")
//
// Run has a goroutine for each trial under way, GOMAXPROCS of them if Options does
// not say otherwise, and waits for all of them. What a trial gives does not depend on which others run.
package paper
