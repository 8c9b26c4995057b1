package task

import (
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// takeProfile takes a profile of this process and sends it. An error of the send means that the
// tasknode is gone, which listen notices too. An attempt that ends does not wait for its profile.
func (s *session) takeProfile(order *taskproc.Profile) {
	result := &taskproc.ProfileResult{Number: order.Number}
	data, err := profile.Take(s.profiling, profile.Query{Kind: order.Kind, Seconds: int(order.Seconds)})
	if result.Data = data; err != nil {
		result.Refusal = valid(err.Error())
	}
	_ = s.conn.Send(&taskproc.FromTask{Message: &taskproc.FromTask_ProfileResult{ProfileResult: result}})
}
