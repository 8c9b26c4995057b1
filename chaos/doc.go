// Package chaos says what is broken in a drill, and what came of it: plans of
// faults, the verdicts of drills, and the table that counts them. It breaks
// nothing itself.
//
//	plan, err := chaos.Parse("my.plan", text)   // or chaos.Random(42, chaos.UnprivilegedKinds())
//	verdict := drill.Run(ctx, …, plan)          // chaos/drill: on a cluster of processes
//	report := simulate.Run(ctx, plan)           // chaos/simulate: in virtual time
//
// A plan is a cluster, the jobs that run on it, and faults. A fault is a kind, a
// target, and a trigger that says when. docs/formats/plan.md has the text of
// plans. Two plans of the same seed are the same, on any machine.
package chaos
