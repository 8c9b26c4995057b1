// Package hdfs implements storage.FS for Hadoop's distributed file system. It uses
// colinmarc/hdfs for the NameNode's protocol and adds the features that a long-lived process
// needs:
//
//		             retry.go: one loop for every call
//		                  │
//		 FS ──────► pool of clients ──► guarded connection ──► NameNode
//		  │               │
//		  │               └───────────► guarded connection ──► DataNodes, to read
//		  └─► file_writer.go ─────────► package pipeline ────► DataNodes, to write
//
//	  - Every operation on a connection has a deadline, and a connection that
//	    missed one is closed. No call waits forever for a suspended daemon, and
//	    no late answer is taken for the answer to a later call.
//	  - A call that fails because the NameNode is unavailable (down, restarting,
//	    standby, safe mode) is retried with a new client for up to
//	    Config.RetryTimeout.
//	  - A reader that fails continues at its offset with another replica. It
//	    reads again the bytes that the module returned without checking them.
//	  - A writer keeps what it has written since the last block that the NameNode
//	    knows. It writes that block again, to other DataNodes, if a DataNode fails,
//	    and the file if the NameNode fails. New blocks exclude DataNodes that have
//	    failed lately.
//
// The context passed to Open or Create also ends the retries of later reads and writes of
// that file. A reader does not check it while no error occurs; a writer's pipeline fails when
// it ends.
//
// Files on a cluster that sets dfs.encrypt.data.transfer can be written. They cannot be read if
// the cluster encrypts without AES (dfs.encrypt.data.transfer.cipher.suites is not set): Read of
// the module's digestMD5PrivacyConn returns too small a number where it continues with the next
// message.
//
// Call New once per cluster and process, and Close at the end. Close makes files that are
// still open fail.
package hdfs
