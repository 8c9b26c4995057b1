package lint

import "testing"

func TestMentioned(t *testing.T) {
	all := []source{
		parsed(t, "internal/conf/names.go", `package conf; const (A = "a"; B = "b"; C = "c")`),
		parsed(t, "mr/f.go", `package mr; import "github.com/hammr/hammr/internal/conf"; var x = []string{conf.A, "d"}`),
		parsed(t, "mr/g.go", `package mr; var x = other.B`),
		parsed(t, "mr/f_test.go", `package mr; var y = "e"`),
	}
	got := mentioned(all, "internal/conf", "internal/conf/names.go")
	for name, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true, "e": false} {
		if got[name] != want {
			t.Errorf("%s is mentioned: %v", name, got[name])
		}
	}
}
