// Package calibrate compares the simulator with a real cluster. It runs a mixed workload on
// a cluster of this machine under several policies, simulates the histories of these runs,
// and reports the errors of the predicted sojourn times.
//
// Each run has two predictions. The replay knows the time of each task in that very run, so
// its error is that of the model: of heartbeats, task starts and order. The forecast knows
// only the times of tasks in the run of the first policy, like a user who asks how another
// policy would have scheduled the same day.
//
//	cluster under policy P ─► history of P ─► simulate P ─► replay error of P
//	cluster under policy Q ─► history of Q ─► simulate Q ─► replay error of Q
//	                          history of P ─► simulate Q ─► forecast error of Q
//
// The error of a job is (predicted − real) / real of its sojourn time. A control with jobs
// that compute shows how much of the error is due to slots that share cores, which the
// simulator does not model.
package calibrate
