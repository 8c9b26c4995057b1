// Command hostile is the program of a user who attacks the cluster. It uses no engine: each task
// speaks the protocol of internal/rpc/taskproc on its control socket, and says what a task of this
// project would never say. The property redteam.attack names the attack, see attacks.
//
// A task that has only probed something fails with what it has seen, so that the test reads it
// in the cause of the job's failure.
package main
