// Package compare plays every policy on every workload, with sizes that are known
// exactly and with ones that are mistaken, with and without machines that fail, and
// puts what comes of it into one table.
//
// Its runs are trials of package paper, on any Runner that those have: a Plan lists
// them, Run runs them, and the Table is made of their outcomes alone. The same plan
// with the same seed gives the same table, byte for byte.
package compare
