package console

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hammr/hammr/internal/kit/size"
)

// Control sequences of terminals.
const (
	eraseLine = "\r\x1b[K"
	ellipsis  = "…"
)

const (
	defaultWidth = 80
	minCells     = 8  // a narrower bar is left out
	maxCells     = 32 // a wider bar shows no more
)

// eighths are the texts of a bar's last cell, by the number of filled eighths.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar is the last line of a terminal:
//
//	map 100% reduce  43% ▕███████▌         ▏ 612 MiB of 1.0 GiB  310 MiB/s  2s left
type bar struct {
	startedAt time.Time // start of the job
	drawnAt   time.Time // time of the latest frame
	shown     bool      // a frame is on the terminal
	rate      rate
}

// reset starts a new job; a frame of the previous job may still be on the terminal.
func (b *bar) reset(now time.Time) { *b = bar{startedAt: now, shown: b.shown} }

// erase returns the text that removes the bar from the terminal, "" if there is no bar.
func (b *bar) erase() string {
	if !b.shown {
		return ""
	}
	b.shown = false
	return eraseLine
}

// frame returns the text that redraws the bar, "" if the last frame is too recent.
func (b *bar) frame(now time.Time, p Progress, width int) string {
	if b.startedAt.IsZero() {
		b.startedAt = now
	}
	b.rate.add(now, p.BytesDone)
	if now.Sub(b.startedAt) < barDelay || now.Sub(b.drawnAt) < barInterval {
		return ""
	}
	b.drawnAt, b.shown = now, true
	return eraseLine + b.line(now, p, width)
}

// line formats the bar in less than width columns, so that it never wraps: a wrapped line
// could not be erased. A narrow terminal gets the figures without the bar.
func (b *bar) line(now time.Time, p Progress, width int) string {
	if width <= 0 {
		width = defaultWidth
	}
	left := fmt.Sprintf(" map %3.0f%%", percent(p.Map))
	if !p.MapsOnly {
		left += fmt.Sprintf(" reduce %3.0f%%", percent(p.Reduce))
	}
	right := b.figures(now, p)
	cells := width - 1 - utf8.RuneCountInString(left) - utf8.RuneCountInString(right) - len("    ")
	if cells < minCells {
		return truncate(left+"  "+right, width-1)
	}
	return left + " " + Bar(p.fraction(), min(cells, maxCells)) + " " + right
}

// figures returns amounts, rate and remaining time, as far as they are known.
func (b *bar) figures(now time.Time, p Progress) string {
	var parts []string
	if p.BytesTotal > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", BytesText(p.BytesDone), BytesText(p.BytesTotal)))
	}
	if perSecond := b.rate.perSecond(); perSecond > 0 && p.BytesTotal > 0 {
		parts = append(parts, BytesText(int64(perSecond))+"/s")
	}
	if left, ok := b.timeLeft(now, p); ok {
		parts = append(parts, left.String()+" left")
	} else {
		parts = append(parts, now.Sub(b.startedAt).Round(time.Second).String())
	}
	return strings.Join(parts, "  ")
}

// timeLeft computes the remaining time from the rate. If the bytes are unknown, it
// extrapolates from the elapsed time and the finished fraction. ok is false while nothing is
// known, and for more than a year.
func (b *bar) timeLeft(now time.Time, p Progress) (time.Duration, bool) {
	var seconds float64
	if rate := b.rate.perSecond(); p.BytesTotal > 0 && rate > 0 {
		seconds = float64(p.BytesTotal-p.BytesDone) / rate
	} else if f := p.fraction(); f > 0 {
		seconds = now.Sub(b.startedAt).Seconds() * (1 - f) / f
	} else {
		return 0, false
	}
	const year = 365 * 24 * 3600
	if seconds > year {
		return 0, false
	}
	return time.Duration(max(seconds, 0) * float64(time.Second)).Round(time.Second), true
}

// Bar returns a fraction as a bar of n columns between its ends.
func Bar(fraction float64, n int) string {
	return "▕" + cellsOf(min(max(fraction, 0), 1), n) + "▏"
}

// cellsOf returns a fraction as n columns.
func cellsOf(fraction float64, n int) string {
	filled := int(fraction*float64(n*len(eighths)) + 0.5)
	s := strings.Repeat("█", filled/len(eighths)) + eighths[filled%len(eighths)]
	return s + strings.Repeat(" ", n-utf8.RuneCountInString(s))
}

// truncate shortens a text to the given number of columns, with an ellipsis.
func truncate(s string, columns int) string {
	r := []rune(s)
	if len(r) <= columns {
		return s
	}
	return string(r[:max(columns-1, 0)]) + ellipsis
}

// BytesText formats a number of bytes with about three digits.
func BytesText(n int64) string {
	value, unit := size.Scale(float64(n))
	if value < 9.95 && unit != "B" {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}
