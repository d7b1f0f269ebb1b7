// Package packages installs what a request requires beside a language's standard
// library. It reads requirements and says how to install them; the executor runs
// that, in a sandbox like every other.
//
// Nothing that a package brings runs while it is installed: only wheels are
// taken, which are archives to unpack, no source is built, and no Python starts
// with the .pth files of what was unpacked. So what is installed follows from the
// requirements and the index alone, and not from who asked first, and one copy may
// serve every tenant. A package without a wheel is an error, and a sentence.
//
//	requirements ─ Parse ─▶ canonical ─ UV.Plan ─▶ key, command, network
//	key is there ─────────────────────────────▶ mounted read-only, no network
//	it is not    ─▶ a container of its own: uv, the index, no user's source
//	                files of its build disk ─ copied by us ─▶ cache, by key
//
// No container can write the cache. The user's program has neither the network
// of the installer nor its container.
//
// The key holds the interpreter, the platform, the index and the day: a
// requirement without an exact version means a newer release from one day to the
// next, and an index may take a release back.
package packages
