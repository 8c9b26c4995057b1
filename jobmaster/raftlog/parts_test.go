package raftlog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestInvalidConfigurations(t *testing.T) {
	bad := Config{ElectionTimeout: time.Millisecond, VoteTimeout: 1, LeaderLease: time.Second, StoreDelay: -1, Bootstrap: []Peer{{"a", "h:0"}, {"a", "h"}}}
	bad.EnsureDefaults()
	log, err := Open(bad)
	if err == nil {
		log.Close()
		t.Fatal("it opens")
	}
	for _, want := range []string{
		"no ID", "no ClusterID", "no Dir", "no Stream", "no Fatal", "ElectionTimeout 1ms is less than 50ms", "VoteTimeout 1ns is less than", "LeaderLease 1s is not within", "StoreDelay -1ns",
		`master "a" at "h" twice`, `address "h:0" cannot be reached from other machines`, "missing port", `Bootstrap lacks this master, ""`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	good := testConfig(t, "m1")
	good.Stream, good.Fatal, good.Bootstrap = &pipeStream{}, func(error) {}, []Peer{{"m1", "h:1"}, {"m2", "[::1]:1"}}
	good.EnsureDefaults()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

func TestRaftLogsToSlog(t *testing.T) {
	var b bytes.Buffer
	to := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{
		Level: slog.LevelInfo,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	l := newLogger(to)
	l.Debug("hidden")
	l.Log(hclog.Off, "hidden")
	named := l.With("peer", "m2").Named("a").Named("b")
	named.Warn("late", "by", hclog.Fmt("%d ms", 7))
	l.Error("bad")
	l.Log(hclog.NoLevel, "plain")
	want := "level=WARN msg=late peer=m2 by=\"7 ms\"\nlevel=ERROR msg=bad\nlevel=INFO msg=plain\n"
	if b.String() != want {
		t.Errorf("logged\n%swant\n%s", b.String(), want)
	}
}
