package web

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/size"
	"github.com/hammr/hammr/internal/web/draw"
)

// functions are what templates call.
var functions = template.FuncMap{
	"time": func(millis int64) string {
		if millis == 0 {
			return "–"
		}
		return time.UnixMilli(millis).UTC().Format("2006-01-02 15:04:05")
	},
	"iso":      func(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339) },
	"duration": durationText,
	"millis":   func(millis *int64) string { return fmt.Sprintf("%d ms", *millis) },
	"bytes":    bytesText,
	"count":    countText,
	"percent":  func(fraction float64) string { return fmt.Sprintf("%.0f %%", min(max(fraction, 0), 1)*100) },
	"decimal":  func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
	"lower":    func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
	"ms":       microsText,
	"add":      func(a, b int) int { return a + b },
	"sub":      func(a, b int64) int64 { return a - b },
	"times100": func(fraction float64) float64 { return 100 * fraction },
	"tenth":    func(i int) bool { return i%10 == 0 },
	"sign":     signOf,
	"classOf": func(classes []string, i int) string { // "" if an older master has answered, which sends none
		if i < len(classes) {
			return classes[i]
		}
		return ""
	},
	"first":  func(ids []string) []string { return ids[:min(len(ids), maxShownIDs)] },
	"taskOf": taskOf,
	"jobOf":  docs.JobOf,

	"lastAttempt": lastAttempt,
}

// Scales of pictures.
var (
	byteScale     = draw.Scale{Text: func(v float64) string { return bytesText(int64(v)) }, Units: []float64{1, 1 << 10, 1 << 20, 1 << 30, 1 << 40}}
	durationScale = draw.Scale{Text: func(v float64) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.Replace(durationText(int64(v)), "–", "0", 1), " 0 s"), " 0 min")
	}, Units: []float64{1, 1000, 60_000, 3_600_000, 86_400_000}}
	countScale = draw.Scale{Text: func(v float64) string {
		if v != math.Floor(v) {
			return tenths(v)
		}
		return countText(int64(v))
	}, Units: []float64{1}}
)

// tenths formats a number with at most one digit after the point.
func tenths(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// maxShownIDs bounds a list of ids on a page.
const maxShownIDs = 200

// durationText formats ms: 850 ms, 12.3 s, 4 min 10 s, 3 h 5 min, 2 d 4 h.
func durationText(millis int64) string {
	d := time.Duration(millis) * time.Millisecond
	switch {
	case millis <= 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%d ms", millis)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
}

// microsText formats a short time.
func microsText(micros int64) string { return fmt.Sprintf("%.1f ms", float64(micros)/1000) }

// bytesText formats a number of bytes.
func bytesText(n int64) string {
	value, unit := size.Scale(float64(n))
	return fmt.Sprintf("%.4g %s", value, unit)
}

// countText formats a whole number with thin spaces between groups of three digits.
func countText(number any) string {
	text := fmt.Sprint(number)
	sign, digits := "", text
	if strings.HasPrefix(text, "-") {
		sign, digits = "-", text[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return sign + digits
}
