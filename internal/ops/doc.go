// Package ops holds what operators do with machines: they start, upgrade and stop clusters of processes on one
// machine, over ssh and inside of an allocation of a batch scheduler, check machines, and use file systems.
package ops
