//go:build race

package browsertest

// RaceEnabled says whether the race detector runs.
const RaceEnabled = true
