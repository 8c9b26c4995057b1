// Package chaos describes drills: plans of faults, verdicts, and the table of all drills. It
// injects nothing itself.
//
//	plan, err := chaos.Parse("my.plan", text)   // or chaos.Random(42, chaos.UnprivilegedKinds())
//	verdict, err := session.Run(ctx, plan, dir) // chaos/drill: on a cluster of processes
//	report, err := simulate.Run(ctx, plan)      // chaos/simulate: in virtual time
//
// A plan is a cluster, the jobs that run on it, and faults. A fault has a kind, a target,
// and a trigger that says when it is due. The kinds are a table in kinds.go.
// docs/formats/plan.md has the text of plans. Plans of the same seed are equal on any
// machine.
//
// A kind of fault reaches clusters through two interfaces, so that this package knows
// neither processes nor the simulator:
//
//	kinds ──► Lab         implemented by chaos/drill over chaos/rig
//	      └─► Simulation  implemented by chaos/simulate over sim
package chaos
