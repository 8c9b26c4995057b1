// Package systemdtest tests the packages as an administrator and a user meet them. Debian machines
// boot with systemd on this one, in namespaces. The packages make a cluster of them, and so does
// `hammr cluster` over ssh:
//
//	TestMain   builds the packages and the tree of Debian, and starts itself again in namespaces
//	  tests    run there: what they mount, start and connect ends with them
//	    boot   a process in further namespaces, which becomes the first process of a machine
//
// The tests have the build tag deploy. They need root and some Debian packages, whose names the first
// error lists, and keep the tree in the user's cache directory.
package systemdtest
