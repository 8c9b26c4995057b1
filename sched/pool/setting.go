package pool

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// setting is an element without children, with all its names: the first is Hadoop's name,
// which messages use.
type setting struct {
	tags []string // names, the first one for messages
	set  setter   // stores the value
}

// setter parses and stores a value. For a bad value it returns a description of the expected
// value, for a good value "". ignored is the part of the value without effect, or "".
type setter func(text string) (expected, ignored string)

// settings contains the settings that an element may contain, each once.
type settings struct {
	parser *parser // parser that collects the problems
	owner  string  // for messages, with a leading blank
	all    []setting
	seen   map[string]int // lines, by the first name of a setting
}

// settings prepares to read an element's settings.
func (p *parser) settings(whose string, all []setting) *settings {
	return &settings{p, whose, all, make(map[string]int)}
}

// line returns the line of a setting, by its first name; 0 if the element does not have
// it.
func (s *settings) line(tag string) int { return s.seen[tag] }

// read parses one setting. A second value is an error, although Hadoop takes the last one:
// two values in one file are a mistake.
func (s *settings) read(e *element) {
	i := slices.IndexFunc(s.all, func(known setting) bool { return slices.Contains(known.tags, e.tag) })
	if i < 0 {
		s.parser.warn(e.line, s.known(), "<%s>%s, which is unknown and ignored", e.tag, s.owner)
		return
	}
	first := s.all[i].tags[0]
	if before := s.seen[first]; before > 0 {
		s.parser.problem(e.line, "one of them", "<%s>%s beside that of line %d", e.tag, s.owner, before)
	}
	s.seen[first] = e.line
	expected, ignored := s.all[i].set(e.text)
	if expected != "" {
		s.parser.problem(e.line, expected, "<%s>%s %q", e.tag, s.owner, e.text)
	}
	if ignored != "" {
		s.parser.warn(e.line, "slots only", "<%s>%s %q, of which %s is ignored", e.tag, s.owner, e.text, ignored)
	}
}

// known lists the known settings, for the message about an unknown setting.
func (s *settings) known() string {
	var tags []string
	for _, known := range s.all {
		tags = append(tags, known.tags[0])
	}
	return "one of " + strings.Join(tags, ", ")
}

// count stores a whole number.
func count(to *int) setter {
	return func(text string) (string, string) {
		n, ok := number(text)
		if !ok {
			return "a whole number of 0 or more", ""
		}
		*to = n
		return "", ""
	}
}

// number parses a whole number of 0 or more.
func number(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

// weight stores a weight. 0 is allowed: such a pool gets its minimum and the slots that
// others do not use.
func weight(to *float64) setter {
	return func(text string) (string, string) {
		w, err := strconv.ParseFloat(text, 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 1) {
			return "a number of 0 or more", ""
		}
		*to = w
		return "", ""
	}
}

// fraction stores a number above 0 that is at most 1.
func fraction(to *float64) setter {
	return func(text string) (string, string) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f > 0 && f <= 1) {
			return "a number above 0, at most 1", ""
		}
		*to = f
		return "", ""
	}
}

// seconds stores a time-out in ms. A time-out that is too long for ms is Never.
func seconds(to *int64) setter {
	return func(text string) (string, string) {
		s, err := strconv.ParseFloat(text, 64)
		if err != nil || !(s >= 0) {
			return "seconds, 0 or more", ""
		}
		*to = Never
		if ms := math.Round(s * 1000); ms < math.MaxInt64 {
			*to = int64(ms)
		}
		return "", ""
	}
}

// order stores the order of jobs or pools. It ignores upper and lower case.
func order(to *Order) setter {
	return func(text string) (string, string) {
		o := Order(strings.ToLower(text))
		if !slices.Contains(orders, o) {
			return fmt.Sprintf("one of %v", orders), ""
		}
		*to = o
		return "", ""
	}
}

// resources parses "20 map, 5 reduce", or vcores, each of which counts as a slot of
// either kind. Memory is ignored, since machines are divided into slots.
func resources(to *cluster.Slots) setter {
	return func(text string) (expected, ignored string) {
		slots := *to
		for part := range strings.SplitSeq(text, ",") {
			n, unit, ok := quantity(part)
			if !ok {
				return `"N map, M reduce" or "N vcores", in whole numbers`, ""
			}
			switch unit {
			case "map", "maps":
				slots[cluster.MapSlot] = n
			case "reduce", "reduces":
				slots[cluster.ReduceSlot] = n
			case "vcore", "vcores":
				slots = cluster.Slots{n, n}
			case "mb", "memory-mb":
				ignored = "memory"
			default:
				return "map, reduce or vcores as what is counted", ""
			}
		}
		*to = slots
		return "", ignored
	}
}

// quantity splits "8 vcores" or "vcores=8" into its parts.
func quantity(part string) (n int, unit string, ok bool) {
	unit, amount, assigned := strings.Cut(part, "=")
	if !assigned {
		amount, unit, _ = strings.Cut(strings.TrimSpace(part), " ")
	}
	n, ok = number(strings.TrimSpace(amount))
	return n, strings.ToLower(strings.TrimSpace(unit)), ok
}
