// Package dag describes what a job does as a graph: stages of Nodes joined by
// channels, and the ranges of input that Nodes own. It is pure: it does no I/O
// and imports nothing of the project.
package dag
