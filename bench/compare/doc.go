// Package compare plays every policy on every workload, with known and with mistaken job
// sizes, with and without failing machines, and makes one table of the results.
//
// Its runs are trials of package paper, and any paper.Runner can run them. The same options
// give the same table, byte for byte.
package compare
