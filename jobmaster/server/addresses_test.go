package server

import (
	"testing"

	"github.com/hammr/hammr/internal/rpc/wire"
)

func TestTasknodesWithOtherTextsAsAddressesAreRefused(t *testing.T) {
	for _, good := range []*wire.Report_Joined{nil, {}, {Http: "n1:7081", Address: "[2001:db8::1]:7071"}} {
		if err := checkAddresses(good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []*wire.Report_Joined{{Http: "evil.example/x?:80"}, {Http: "http://evil.example:80"}, {Address: "n1"}, {Http: "n1:7081", Address: "user@evil.example:80"}} {
		if checkAddresses(bad) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
