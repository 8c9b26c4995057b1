// Package minihdfs starts a real HDFS on this machine: one NameNode and some
// DataNodes, each a process of its own that can be killed, stopped, continued
// and restarted. The jars come by Maven coordinates (pom.xml), once, into a
// cache folder; no installation of Hadoop is needed, only Java and mvn.
//
// A cluster owns one 127.x.y.0/24 network, so that any number of them run side
// by side on Hadoop's usual ports:
//
//	127.x.y.1   NameNode, RPC 8020, HTTP 9870
//	127.x.y.11  DataNode 0, 9866/9864/9867, and its forwarder on 8020
//	127.x.y.12  DataNode 1, …
//
// The NameNode knows a DataNode by the address its RPC connection comes from,
// and all of 127/8 has the same source address. Therefore each DataNode talks to
// the NameNode through a forwarder of this package, which dials from the
// DataNode's own address; closing it is a clean partition between the two.
// A client that dials from 127.x.y.1i is local to DataNode i.
//
// With Config.Namespaces each DataNode has a network of its own, and the addresses
// of the same pattern there; it reaches the NameNode without a forwarder.
//
// Tests call Main in their TestMain and ForTest in each test; all tests of a
// binary share one cluster, and a test that breaks a daemon repairs it and waits
// for WaitLive. Nothing outlives the process that called Start, even when it is
// killed. For a cluster that does, see Up, Down and Supervise.
package minihdfs
