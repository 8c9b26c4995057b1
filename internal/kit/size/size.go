// Package size scales numbers of bytes for people. Each place that shows them chooses the number of digits:
//
//	value, unit := size.Scale(1536)
//	fmt.Printf("%.3g %s", value, unit) // 1.5 KiB
package size

// Scale returns a number of bytes in the smallest unit in which it has at most three digits before the point;
// PiB is the largest.
func Scale(bytes float64) (value float64, unit string) {
	unit = "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if bytes < 1000 {
			break
		}
		bytes, unit = bytes/1024, next
	}
	return bytes, unit
}
