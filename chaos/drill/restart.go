package drill

import "github.com/hammr/hammr/chaos"

func init() {
	injectors[chaos.Restart] = injector{inject: killDaemons, undo: restartDaemons, undoAtOnce: true}
}
