// Package cli is the command-line tool sandbox-run: flags become a request,
// events become output, a result becomes an exit code. It holds no logic of
// isolation or languages; those come in through [Deps].
//
//	args ─▶ grammar ─▶ source + limits ─▶ Engine.Run ─▶ printer ─▶ exit code
//
// The first argument picks a verb; anything else is a run. Each verb has a
// small grammar of its own, because reflecting over all of them would cost
// every run the start-up time of verbs it does not use.
package cli
