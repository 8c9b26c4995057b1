package wire

// Final reports whether a job in this state has ended. The final states are the last ones.
func (s JobState) Final() bool { return s >= JobState_SUCCEEDED }
