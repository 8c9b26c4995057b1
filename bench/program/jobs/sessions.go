package main

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// pause is the longest time between two lines of a session, in seconds.
const pause = 30 * 60

// visit is a user at a time. The user makes the groups; the time puts the values in order.
type visit = mr.Pair[string, int64]

// sessions divides the lines of each user in a log into sessions: a pause of more than half an
// hour ends one. It writes the user, the times of the first and the last line, and the number of
// lines. The log has any order.
var sessions = mr.New("sessions",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[visit, int64]) error {
		at, rest, _ := bytes.Cut(line, []byte("\t"))
		user, _, _ := bytes.Cut(rest, []byte("\t"))
		seconds, err := strconv.ParseInt(string(at), 10, 64)
		if err != nil {
			return fmt.Errorf("time of a line: %w", err)
		}
		out.Emit(visit{First: string(user), Second: seconds}, seconds)
		return nil
	}),
	mr.ReduceFunc(divide),
	mr.TextOutput[string, string](),
).GroupFirst()

func divide(_ *mr.Task, first visit, times iter.Seq[int64], out mr.Emitter[string, string]) error {
	begin, end, lines := first.Second, first.Second, 0
	for at := range times {
		if at-end > pause {
			emit(out, first.First, begin, end, lines)
			begin, lines = at, 0
		}
		end = at
		lines++
	}
	emit(out, first.First, begin, end, lines)
	return nil
}

func emit(out mr.Emitter[string, string], user string, begin, end int64, lines int) {
	out.Emit(user, fmt.Sprintf("%d\t%d\t%d", begin, end, lines))
}
