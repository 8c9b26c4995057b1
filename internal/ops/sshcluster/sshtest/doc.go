// Package sshtest runs an sshd for each of five machines, for tests of what works over ssh. The
// machines are loopback addresses of this machine:
//
//	127.0.1.1 … 127.0.1.5    one sshd each, with a key of its own, all at the same port
//	Machines.Dir/ssh         their keys, the keys of users, and known_hosts
//	Machines.Dir/HOST        left to the test, as the machine's directory
//
// Nothing of the user's own ssh is read or changed. The servers end with the test, and with its
// process if that is killed.
package sshtest
