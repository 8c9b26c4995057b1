// Package e2e tests the built program from outside, as its users meet it: the
// commands, their exit codes and messages, and the bytes that they write, on
// local files and on a real HDFS. It has tests only.
//
// The bytes are compared with those of other people's programs: sort, uniq,
// grep and awk, and Hadoop's own example programs where Java and the jars are.
// On HDFS they are read back over WebHDFS, not through this project's client.
//
// Each command runs in a process group, a home and a temporary directory of its
// own. When it has ended no process of the group may be alive and the temporary
// directory must be empty; every test checks that without saying so.
//
// Faults come at a moment that the test chooses. The test's own binary is also
// a user's program, "gated", whose tasks report where they are and wait until
// the test lets them go on:
//
//	test      starts the program, waits for "map" or "reduce" at a gate,
//	          kills, stops, removes …, opens the gate
//	program   goes on into the fault
//
// So the fault is certain to come in the middle, whatever the speed of the
// machine. Whatever happens then, the outcome is one of two: the right bytes
// and _SUCCESS, or an error that names the cause and no _SUCCESS.
package e2e
