package hdfs

import "testing"

func TestServicePrincipal(t *testing.T) {
	for principal, want := range map[string]string{
		"": "HTTP/nn.example.org", "HTTP/_HOST@REALM": "HTTP/nn.example.org", "HTTP/gateway@REALM": "HTTP/gateway", "web/_HOST": "web/nn.example.org",
	} {
		if got := servicePrincipal(principal, "NN.example.org"); got != want {
			t.Errorf("%q: %q, want %q", principal, got, want)
		}
	}
}
