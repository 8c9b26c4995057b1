// Package analysis makes the figures of a job's pages from its events and from numbers of its
// tasks:
//
//	events ──► History ──► Timeline:    which attempt had which slot, in a window of time
//	                  └──► Preemptions: slots that were taken, what that kept and what it lost
//	columns ─► Skew, Locality, Usage, Forecast
//
// Everything is a function of its arguments: no clock is read and nothing is fetched. A History
// does not change, so several goroutines may use one.
//
// The size of an answer does not depend on the size of the job: where there are too many things
// to draw, the answer has sums of them and says so.
package analysis
