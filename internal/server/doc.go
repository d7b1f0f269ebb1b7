// Package server is the HTTP door: POST /execute and what belongs to it.
//
// A request passes these stations, each of which may refuse it with a problem
// (RFC 9457): who calls, is there room, what is asked, can it be run, wait for a
// place. Only then is it a run; from then on it has a result, whatever happens.
//
//	authenticate → look for room → read → decode → admit → acquire → run → answer
//
// Refusals come before the body is read wherever they can. A caller that goes
// away ends its run at once.
package server
