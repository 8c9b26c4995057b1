// Package rig breaks a cluster: it adds faults to the handle of internal/ops/testcluster.
//
//	r, err := rig.Start(ctx, rig.Config{Dir: dir, Hammr: "/usr/bin/hammr", Masters: 3, Tasknodes: 4})
//	defer r.Close()
//	err = r.Kill(ctx, "n2")
//	err = r.SlowDisk(ctx, "n1", 20*time.Millisecond)
//	err = r.Start(ctx, "n2")
//
// Daemons have the same names as in testcluster, and dn1, dn2, … for DataNodes and namenode
// for the NameNode if the cluster has an HDFS. A rig signals only processes that it has
// started and the tasks that are their children.
//
// Methods may be called by several goroutines at once. No part of a rig outlives Close, or the
// process that called Start, even if that is killed.
//
//	what                 how                                     needs
//	Kill, Signal         signals to processes                    –
//	Partition, BreakLink a link of the daemon's namespace        Config.Network, Isolate
//	FillDisk             a tmpfs for each tasknode               Config.SmallDisks, Isolate
//	LosePower            an ext4 in a file for each daemon       Config.PowerLoss, Isolate, root
//	Corrupt              a byte of a file                        the tasknode's directory
//	SlowDisk, IOErrors,  a call to the daemon, which has the     --drills
//	JumpClock, Failpoint points built in (internal/kit/failpoint)
package rig
