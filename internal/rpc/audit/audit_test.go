package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/rpc"
)

func TestLog(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		record Record
		want   string
	}{
		{Record{Who: "ada", From: "10.1.2.3:50122", Call: "/hammr.Master/Kill", Object: "job_1_7", Detail: "killed by ada"},
			`who=ada from=10.1.2.3:50122 call=Kill object=job_1_7 detail="killed by ada" result=done`},
		{Record{Who: "ada", From: "f", Call: "Kill", Object: "a\x1b\nb", Err: connect.NewError(connect.CodeNotFound, errors.New("no\njob"))},
			`who=ada from=f call=Kill object=a??b result=refused error=no?job`},
		{Record{Call: "Kill", Result: Allowed, Skipped: 7}, `who="" from="" call=Kill object="" result=allowed "not logged"=7`},
		{Record{Call: "Kill", Object: long, Detail: long, Err: errors.New(long)},
			`who="" from="" call=Kill object=` + long[:maxText] + ` detail=` + long[:maxText] + ` result=refused error=` + long[:maxError]},
	} {
		var log bytes.Buffer
		c.record.Log(slog.New(slog.NewTextHandler(&log, nil)))
		if _, got, _ := strings.Cut(log.String(), "msg=audit "); got != c.want+"\n" {
			t.Errorf("line %q, want %q", got, c.want)
		}
	}
}

func TestResultOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "done"},
		{errors.New("no such job"), "refused"},
		{connect.NewError(connect.CodePermissionDenied, errors.New("x")), "refused"},
		{connect.NewError(connect.CodeUnavailable, errors.New("x")), "unknown"},
		{connect.NewError(connect.CodeAborted, errors.New("x")), "unknown"},
		{fmt.Errorf("wait: %w", context.Canceled), "unknown"},
		{context.DeadlineExceeded, "unknown"},
		{fmt.Errorf("kill: %w", &rpc.UnavailableError{Errs: []error{errors.New("connection lost")}}), "unknown"},
	} {
		if got := ResultOf(c.err); got != c.want {
			t.Errorf("result of %v is %s, want %s", c.err, got, c.want)
		}
	}
}
