// Package jhist writes the history of a finished job as Hadoop's MapReduce does, so that the
// JobHistoryServer, `mapred job -history` and parsers of such files read it:
//
//	JOB-SUBMITTED-USER-NAME-FINISHED-MAPS-REDUCES-STATE-QUEUE-STARTED.jhist   events
//	JOB_conf.xml                                                              properties
//
// The first line of the events is Avro-Json and the second is the schema. Each other line is an
// event. The schema has only the records and the fields that this package writes: readers take
// defaults for the others, as Avro defines it. It is made of the Go types in event.go.
//
// Stages beyond map and reduce have no place in Hadoop's ids. So tasks that read splits are numbered
// as maps and all others as reduces, in the order of the stages.
package jhist
