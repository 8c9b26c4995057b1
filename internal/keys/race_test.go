//go:build race

package keys

// raceEnabled tells that sync.Pool drops items at random, as it does under the
// race detector.
const raceEnabled = true
