// Package pipeline writes a block of HDFS to its DataNodes. The first DataNode of a pipeline
// stores the packets that it gets and forwards them to the next one; acknowledgements come
// back the same way.
//
//	Write ──packets──► DataNode ──► DataNode ──► DataNode
//	                      │  ◄────────┘ ◄──────────┘ acknowledgements
//	  window ◄──acks──────┘
//
// A pipeline that fails is not repaired. Its error names the DataNodes to leave out, and the
// caller writes the block again to others. A silent pipeline is probed: each DataNode is
// asked for a block that does not exist, which a process that runs refuses at once. So a
// DataNode that died or is stopped is found within two probe timeouts, and one with a slow
// disk is waited for.
//
// Config.Secure authenticates the connection to the first DataNode, and encrypts it if the
// cluster does. TestEncryptedWrite of storage/hdfs writes blocks under
// dfs.encrypt.data.transfer. dfs.data.transfer.protection has no test on a real DataNode,
// which ignores it unless hadoop.security.authentication is kerberos.
//
// The caller ends each Block by Close or Abort, which wait for its goroutines.
package pipeline

//go:generate protoc -I ../../.. --go_out=../../.. --go_opt=module=github.com/hammr/hammr storage/hdfs/pipeline/datatransfer.proto
