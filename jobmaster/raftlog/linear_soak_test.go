//go:build soak

package raftlog

// linearRounds is how many faults TestMastersAreLinearizable injects.
const linearRounds = 200
