package login

import (
	"os/user"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestName(t *testing.T) {
	u, err := user.Current()
	must.Do(t, err)
	t.Setenv("HADOOP_USER_NAME", "")
	for _, variable := range []string{"", "another"} {
		t.Setenv("USER", variable)
		if got := Name(); got != u.Username {
			t.Errorf("with USER=%q: %q, want %q", variable, got, u.Username)
		}
	}
	t.Setenv("HADOOP_USER_NAME", "ann")
	if got := Name(); got != "ann" {
		t.Errorf("with HADOOP_USER_NAME: %q", got)
	}
}
