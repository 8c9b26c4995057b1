//go:build !race

package cluster

const RaceEnabled = false
