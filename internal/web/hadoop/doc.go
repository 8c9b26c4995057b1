// Package hadoop answers Hadoop's REST API about a cluster, so that clients of Hadoop work without
// a change. One handler has the paths of the ResourceManager, of the application masters behind its
// proxy, and of the JobHistoryServer:
//
//	/ws/v1/cluster/…                      applications, nodes, scheduler
//	/proxy/APPLICATION/ws/v1/mapreduce/…  a job, also one that is over
//	/ws/v1/history/…                      jobs that are over
//	/cluster, /jobhistory/…               redirections to the pages
//
// A job job_C_N is the application application_C_N. A running attempt is a container of one vcore
// and SlotMB of memory. A pool is a queue below root.
//
// Endpoints is the table of paths. The caller serves them, checks callers and gives a Source. The
// shapes of the answers, which are keys, types and nesting, are those of Hadoop 3.4.3: testdata has
// its own answers' shapes, and tests hold this package against them.
package hadoop
