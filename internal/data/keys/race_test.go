//go:build race

package keys

// raceEnabled is set under the race detector, where sync.Pool drops items at random.
const raceEnabled = true
