//go:build !linux

package counter

// systemUsage knows nothing of other systems: CPU time and memory stay 0.
func systemUsage() usage { return usage{} }

// ForgetPeak has nothing to forget.
func ForgetPeak() {}
