// Package compare plays every policy on every workload, with known and with mistaken job
// sizes, with and without failing machines, and makes one table of the results.
//
// Its runs are trials of package paper, and any paper.Runner can run them. The same options
// give the same table, byte for byte.
//
//	loads: hfsp_fb2009, hfsp_fb2010, three samples of SWIM's FB-2009 and FB-2010
//	arms:  fifo, hammr, disco, fair as in Hadoop, by default and with hfsp inside of pools,
//	       hfsp with three errors of sizes and with shares of users, chronos over three policies
//	each with four users, without failures, and with one machine that fails every hour for ten minutes
//
// A row has the mean and the percentiles of sojourn times. It also names the job that is
// slowed down most compared with Hadoop's fair scheduler, because a policy with a good mean may starve a job.
package compare
