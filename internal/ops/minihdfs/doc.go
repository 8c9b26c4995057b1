// Package minihdfs starts a real HDFS on this machine: one NameNode and some DataNodes, with
// a process for each, which can be killed, stopped, continued and restarted. It needs Java
// and mvn but no installation of Hadoop: mvn fetches the jars once (pom.xml) into a cache
// folder.
//
// A cluster owns one 127.x.y.0/24 network, so that any number of clusters run next to each
// other on Hadoop's usual ports:
//
//	127.x.y.1   NameNode, RPC 8020, HTTP 9870
//	127.x.y.11  DataNode 0, 9866/9864/9867, and its forwarder on 8020
//	127.x.y.12  DataNode 1, …
//
// The NameNode identifies a DataNode by the source address of its RPC connection, which is
// the same for all of 127/8. Therefore each DataNode reaches the NameNode through a
// forwarder of this package, which dials from the DataNode's own address. Closing the
// forwarder is a partition between the two. A client that dials from 127.x.y.1i is local to
// DataNode i.
//
// With Config.Namespaces each DataNode has a network of its own with an address of the same
// pattern, and needs no forwarder.
//
// Tests call Main in their TestMain and ForTest in each test. All tests of a binary share
// one cluster: a test that breaks a daemon repairs it and calls WaitLive. Nothing outlives
// the process that called Start, even if it is killed. Up, Down and Supervise run a cluster
// that outlives its process.
//
// A start takes 4 to 8 s. It is shorter with two files that are cached with the jars: an empty image of
// the NameNode, and the classes of HDFS as Java maps them into memory, which cmd/jars makes.
//
// The intervals of HDFS are shortened (conf.go), so that a dead DataNode is noticed after
// 12 s instead of ten minutes. Everything that a cluster writes is in Config.Dir:
//
//	conf/          configuration, for daemons and clients (HADOOP_CONF_DIR)
//	logs/          a log for each daemon
//	nn/, dn0/ …    the NameNode's image and the DataNodes' blocks
//	yarn/          YARN, if it was started
//	hdfs.json      the State of a cluster that outlives its command
package minihdfs
