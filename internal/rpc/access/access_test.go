package access

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMay is the whole table of today's callers.
func TestMay(t *testing.T) {
	const yes, sign = 200, 401
	callers := []Caller{{}, stranger, reader, {Name: "eve"}, holderAda}
	for verb, want := range map[Verb][]int{
		View:      {sign, sign, yes, sign, yes},
		ReadLog:   {sign, sign, sign, sign, yes},
		ChangeJob: {sign, sign, sign, sign, yes},
		Operate:   {sign, sign, sign, sign, yes},
		Profile:   {sign, sign, sign, sign, yes},
		"":        {403, 403, 403, 403, 403},
		"view ":   {403, 403, 403, 403, 403},
	} {
		for i, c := range callers {
			err := May(c, verb, Object{"job", "job_1_1"})
			if got := statusOf(err); got != want[i] {
				t.Errorf("%+v may %q: status %d (%v), want %d", c, verb, got, err, want[i])
			}
		}
	}
	if len(verbs) != 5 {
		t.Errorf("%d verbs; this table has 5", len(verbs))
	}
}

// TestOnlyTheTokenLetsChange: no name makes up for the token.
func TestOnlyTheTokenLetsChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Caller{Name: rapid.String().Draw(t, "name"), Reader: rapid.Bool().Draw(t, "reader")}
		verb := rapid.SampledFrom(knownVerbs()).Draw(t, "verb")
		o := Object{rapid.String().Draw(t, "kind"), rapid.String().Draw(t, "id")}
		may := May(c, verb, o) == nil
		if may != (c.Reader && verb == View) {
			t.Fatalf("%+v may %q %v: %v", c, verb, o, may)
		}
		c.Token = true
		if err := May(c, verb, o); err != nil {
			t.Fatalf("holder of the token: %v", err)
		}
	})
}

func TestRefusalsNameWhatAndRemedy(t *testing.T) {
	for _, c := range []struct {
		verb Verb
		o    Object
		want string
	}{
		{ChangeJob, Object{"job", "job_1_7"}, "to change job job_1_7 needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"},
		{View, Object{"job", ""}, "to see jobs needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"},
		{Operate, Object{}, "to operate the cluster needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"},
		{Operate, Object{Kind: "policy"}, "to operate policies needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"},
		{View, Object{Kind: "history"}, "to see histories needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"},
		{"delete", Object{}, `verb "delete": none of [job log operate profile view]; the route of this request must declare one`},
	} {
		if err := May(stranger, c.verb, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%s %v: %v, want %s", c.verb, c.o, err, c.want)
		}
	}
}
