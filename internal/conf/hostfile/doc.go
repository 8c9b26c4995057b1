// Package hostfile reads hostfiles: lists of machines or of daemons, one on each line
// (docs/formats/hostfile.md).
//
// A list of machines is for `hammr cluster`, which chooses what is not written:
//
//	# [USER@]HOST  KEY=VALUE ...
//	ada@a1         slots=8
//	a2
//	*              staging=hdfs://nn:8020/hammr/staging
//
// A list of daemons is for drills of a cluster that runs:
//
//	# ROLE    NAME HOST:PORT of its page  SHELL    START COMMAND
//	jobmaster m1   a1:7080                root@a1  systemctl start hammr-jobmaster
//	tasknode  n1   a2:7081                root@a2
//
// Parse recognizes which of the two a file is. Errors name every line that is wrong.
package hostfile
