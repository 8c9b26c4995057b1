package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parsePlain reads a finite number that is not negative.
func parsePlain(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= math.MaxInt64) {
		return 0, fmt.Errorf("number %q, expected one from 0", text)
	}
	return x, nil
}

// parseMillis reads a time like 13s, 1m30s or 500ms, into ms; a bare number is
// ms.
func parseMillis(text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil && x >= 0 && x <= MaxMillis {
		return x, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d.Milliseconds() > MaxMillis {
		return 0, fmt.Errorf("time %q, expected one like 13s, 1m30s or 500 (ms)", text)
	}
	return d.Seconds() * 1000, nil
}

// parseBytes reads a size like 64m into bytes; k, m and g are powers of 1024.
func parseBytes(text string) (float64, error) {
	digits, unit := strings.ToLower(text), 1.0
	for suffix, factor := range map[string]float64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30} {
		if rest, found := strings.CutSuffix(digits, suffix); found {
			digits, unit = rest, factor
			break
		}
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x >= 0 && x*unit <= MaxBytes) {
		return 0, fmt.Errorf("size %q, expected one like 64m or 512 (bytes)", text)
	}
	return x * unit, nil
}
