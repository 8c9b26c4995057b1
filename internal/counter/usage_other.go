//go:build !linux

package counter

// systemUsage knows nothing of other systems: CPU time and memory stay 0.
func systemUsage() usage { return usage{} }

// Resident knows nothing of other systems.
func Resident() int64 { return 0 }

// ForgetPeak has nothing to forget.
func ForgetPeak() {}
