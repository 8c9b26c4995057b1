//go:build !linux

package counter

// systemUsage reports nothing on other systems: CPU time and memory stay 0.
func systemUsage() usage { return usage{} }

// ResidentBytes returns 0 on other systems: the size is unknown.
func ResidentBytes() int64 { return 0 }

// ResetPeak does nothing on other systems.
func ResetPeak() {}
