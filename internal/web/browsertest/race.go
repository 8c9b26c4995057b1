//go:build race

package browsertest

// raceEnabled says whether the race detector runs.
const raceEnabled = true
