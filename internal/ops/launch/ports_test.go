package launch

import (
	"net"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestPortsAreReserved: ports that were returned once are not returned again, even though
// nothing listens there.
func TestPortsAreReserved(t *testing.T) {
	addresses, err := FreePorts("127.0.0.1", 3)
	must.Do(t, err)
	for _, address := range addresses {
		_, port, _ := net.SplitHostPort(address)
		if err := reserve(port); err == nil {
			t.Errorf("%s can be reserved again", address)
		}
		l, err := net.Listen("tcp", address)
		must.Do(t, err)
		l.Close()
	}
}
