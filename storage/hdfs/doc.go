// Package hdfs is a storage.FS over Hadoop's distributed file system. It speaks
// the NameNode's protocol through colinmarc/hdfs and adds, around that module,
// what a long-lived process needs:
//
//		             retry.go: one loop for every call
//		                  │
//		 FS ──────► pool of clients ──► guarded connection ──► NameNode
//		  │               │
//		  │               └───────────► guarded connection ──► DataNodes
//		  └─► webhdfs.go (block locations, CONCAT) ──────────► NameNode, HTTP
//
//	  - Every operation on a connection has a deadline, and a connection that
//	    missed one is closed: nothing hangs on a daemon that is stopped, and no
//	    late answer is taken for that of a later call.
//	  - A call that fails for the NameNode's sake (down, restarting, standby, safe
//	    mode) is repeated with a new client for up to Config.RetryTimeout.
//	  - A reader goes on at its offset with another replica. Bytes that the module
//	    hands out without having checked them are read again.
//	  - A writer keeps what is written since the last block the NameNode has, and
//	    writes the file again when a DataNode or the NameNode fails under it.
//
// The context given to Open or Create also ends the retries of that file's later
// reads and writes; without a fault it is not looked at again.
//
// The caller calls New once per cluster and process, and Close at the end. Files
// that are still open then fail.
package hdfs
