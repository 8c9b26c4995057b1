//go:build race

package paper

const raceEnabled = true
