// Package doctor examines a machine and a cluster for what goes wrong most often: a port that is taken, a token that
// other users can read, a disk that is mounted noexec, a clock that is off, a master that does not answer.
//
//	report := doctor.Run(ctx, &target, doctor.Options{})
//	for _, f := range report.Findings {
//		fmt.Println(f.Check, f.State, f.Detail, f.Remedy)
//	}
//
// A check is an entry of the table in check.go: a name and a function that returns findings. Checks read the Target
// and change nothing. A finding that is not ok has a remedy, and may have a Fix, which Run carries out if the caller
// asks for it. Checks of a cluster work on a View, which Look has gathered before.
//
// A Report is a JSON document that names its host, so reports of several machines can be combined.
//
// Goroutines: one for each check, so that a disk that hangs delays a report only by a limited time, and some for
// calls to several daemons at once. A check that hangs keeps its goroutine.
package doctor
