// Package redteam attacks a real cluster with real accounts, and contains only tests.
//
//	make redteam
//
// A cluster of three masters and two tasknodes runs on this machine. The tasknodes run as root.
// The masters run as the user alice, whose job counts words while all attacks take place. The
// attacks are those of the user mallory and of strangers without the cluster's token:
//
//	alice    bystander/     a job that lasts until all attacks are over
//	mallory  submissions    made by the test, through internal/rpc/wire
//	         hostile/       tasks that speak the protocol of internal/rpc/taskproc themselves
//	strangers               connections to every port
//
// TestDirectoriesOfOthers needs no cluster: mallory has made directories and files that root's commands
// use, reads what the commands of the documents write, and exchanges what they download.
//
// Each attack is an entry of a table: the threat of docs/reliability.md that it realizes, what it
// does, and the texts that the refusal must have. At the end, alice's output must be the right
// bytes, each of her tasks must have had one attempt, every daemon must be the process that was
// started and healthy, and files that attacks wanted to read, replace or remove must be as before.
//
// The accounts are made for the test and deleted at its end. The test is skipped if the process is
// not root or has no useradd; with CI=true it fails instead.
package redteam
