package server

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// TestEveryCallIsDeclared checks that callTable has the calls of both services and no others. A
// call that changes the cluster must be unary, and its entry must name the object in its message.
func TestEveryCallIsDeclared(t *testing.T) {
	declared := 0
	services := wire.File_internal_rpc_wire_hammr_proto.Services()
	for _, service := range []protoreflect.Name{"Jobmaster", "Tasknodes"} {
		methods := services.ByName(service).Methods()
		for i := range methods.Len() {
			m := methods.Get(i)
			path := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
			kind, ok := callTable[path]
			switch {
			case !ok:
				t.Errorf("%s has no entry in callTable: does it change the cluster?", path)
			case kind.changes != (kind.object != nil), kind.submits && !kind.changes:
				t.Errorf("%s: changes %v, submits %v, object %v", path, kind.changes, kind.submits, kind.object != nil)
			case kind.changes && (m.IsStreamingClient() || m.IsStreamingServer()):
				t.Errorf("%s changes the cluster, and streams are not audited", path)
			}
			declared++
		}
	}
	if len(callTable) != declared {
		t.Errorf("callTable has %d calls, the services %d", len(callTable), declared)
	}
}
