//go:build !linux

package advisory

// ThisKernel is the kernel that runs us; here it runs no containers.
func ThisKernel() Component { return Component{Name: linux} }

// KernelOf is the kernel of an engine; here it is another machine's.
func KernelOf(string) Component { return Component{Name: linux} }
