// Package calibrate compares the simulator with a real cluster. It runs a mixed workload on
// a cluster of this machine under several policies, simulates the histories of these runs,
// and reports the errors of the predicted sojourn times.
//
// Each run has two predictions. The replay knows the time of each task in that very run, so
// its error is that of the model: of heartbeats, task starts and order. The forecast knows
// only the times of tasks in the run of the first policy, like a user who asks how another
// policy would have scheduled the same day.
package calibrate
