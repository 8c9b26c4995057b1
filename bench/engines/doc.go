// Package engines runs the same work by Hammr, by Hadoop's MapReduce and by Spark on the same
// machines, and compares the times.
//
//	one HDFS ─┬─ jobmaster, tasknodes ── hammr
//	          └─ YARN ──┬── Hadoop: its example programs, and streaming with package streaming
//	                    └── Spark: the scripts of bench/rivals
//
// All daemons run all the time, and one job at a time. Each run is timed as its user sees it: from
// the start of the client to its exit. The outputs of the first run are compared record by record.
package engines
