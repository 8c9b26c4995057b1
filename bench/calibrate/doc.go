// Package calibrate holds the simulator against a real cluster: it runs a mixed
// workload on a cluster of processes of this machine under one policy after the
// other, plays the histories of these runs in sim, and reports how far the
// predicted sojourn times are from the real ones.
//
// Two predictions are made for each run. The replay knows how long each task took
// in that very run, so that its error is that of the model: of heartbeats, starts
// and order. The forecast knows only how long the tasks took in the run of the
// first policy, as somebody does who asks what another policy would have made of
// a day.
package calibrate
