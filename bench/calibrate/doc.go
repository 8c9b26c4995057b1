// Package calibrate compares the simulator with a real cluster. It runs a mixed workload on
// a cluster of this machine under several policies, simulates the histories of these runs,
// and reports the errors of the predicted sojourn times.
//
// Each run has two predictions. The replay knows the time of each task in the run that it
// predicts, so its error comes from the model: heartbeats, task starts and their order. The
// forecast knows only the task times of the run under the first policy. It answers how
// another policy would have scheduled the same jobs.
//
//	cluster under policy P ─► history of P ─► simulate P ─► replay error of P
//	cluster under policy Q ─► history of Q ─► simulate Q ─► replay error of Q
//	                          history of P ─► simulate Q ─► forecast error of Q
//
// The error of a job is (predicted − real) / real of its sojourn time. A control with jobs
// that compute shows how much of the error is due to slots that share cores, which the
// simulator does not model.
package calibrate
