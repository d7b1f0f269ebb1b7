// Package advisory knows versions of container runtimes, engines and kernels that
// have a known hole, and says so of the ones that are here.
//
// Only holes are listed that a program in a container, or an image, could use
// against whoever runs it with us. A distribution mends holes without a new upstream
// version, so the version of its package counts where it can be told: what is
// installed is read from dpkg's own files, and nothing is started for it.
//
// It also looks at settings of this host that make it harder, or not; those are advice,
// and keep nobody from running anything.
package advisory
