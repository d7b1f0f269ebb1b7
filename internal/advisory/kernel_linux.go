package advisory

import (
	"os"

	"golang.org/x/sys/unix"
)

// ThisKernel is the kernel that runs us.
func ThisKernel() Component {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return Component{Name: linux}
	}
	signature, _ := os.ReadFile("/proc/version_signature") // Ubuntu alone has it
	version := kernelVersion(unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:]), string(signature))
	return Component{Name: linux, Version: version}
}

// KernelOf is the kernel of an engine that tells its release. Only of this machine's
// can the version be told: elsewhere a distribution's release may be an ABI alone.
func KernelOf(release string) Component {
	var u unix.Utsname
	if unix.Uname(&u) != nil || unix.ByteSliceToString(u.Release[:]) != release {
		return Component{Name: linux}
	}
	return ThisKernel()
}
