// Package notice watches the metadata service of a cloud for notices that the machine will stop,
// and moves the work off the machine before that.
//
//	metadata service ──► Source.Poll: the notices that hold now
//	                        │ choose: the first that matters now
//	                        ▼
//	                     Watcher ──► Drainer.Drain, until nothing is left
//	                        │   └──► Source.Acknowledge: the cloud need not wait
//	                        └──► Drainer.Undo, when no notice holds any more
//
// The Watcher is level-triggered: it does each time what the present notices ask for, so a
// restarted daemon continues where the last one was. A failure of the service changes nothing.
//
// The decoders (decode….go) are pure. They accept what the clouds document, and ignore fields and
// events that they do not know.
package notice
