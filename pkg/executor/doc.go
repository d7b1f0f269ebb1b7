// Package executor runs code: it turns a [Request] into a plan of phases, runs
// the phases in one container, streams [api.Event]s, and folds what happened
// into one [api.Result].
//
//	Request ─▶ language.Plan ─▶ Container ─▶ compile? ─▶ run ─▶ collect ─▶ Result
//	                                            └── Events ──┘
package executor
