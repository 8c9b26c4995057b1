// Package e2e tests the built program from outside, as users run it: the commands, their
// exit codes and messages, and the bytes that they write, on local files and on a real HDFS.
// It contains only tests.
//
// The output is compared with that of independent programs: sort, uniq, grep and awk, and
// Hadoop's own example programs if Java and the jars are installed. Files on HDFS are read
// over WebHDFS, not through this project's client.
//
// Each command runs in a process group, a home and a temporary directory of its own. When it
// has ended, no process of the group may be alive and the temporary directory must be empty;
// every test checks that implicitly.
//
// Faults happen at a moment that the test chooses. The test's own binary is also a user's
// program, "gated", whose tasks report their position and wait until the test opens a gate:
//
//	test      starts the program, waits for "map" or "reduce" at a gate,
//	          kills, stops, removes …, opens the gate
//	program   continues and meets the fault
//
// So the fault always happens in the middle of the work, whatever the speed of the machine.
// There are two acceptable outcomes: the right bytes and _SUCCESS, or an error that names
// the cause and no _SUCCESS.
//
// Jobs on a cluster have a door for each map, and for reduces if the test wants it: the program
// "doored". Its tasks run as long as the test needs them.
//
// Tests of a cluster wait for a state by calls and do not start a command for that. Those that leave a
// cluster as it was share it: sharedEngine. Slow tests run at night, and name their guards of the gate.
package e2e
