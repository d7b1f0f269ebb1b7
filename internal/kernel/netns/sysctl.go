package netns

import "strings"

// Sysctl is a setting of the namespace: a file, and what to write to it from
// inside.
type Sysctl struct{ Path, Value string }

// Sysctls bound the memory that TCP takes in a namespace whose loopback is up,
// which control groups of version 1 charge to nobody: 1,200 sockets hold 1.9 GiB
// with the kernel's defaults and 78 MiB with these; what connections leave
// behind when they are closed is bounded as well. Programs may listen on every
// port but [Port], as in other containers.
func Sysctls() []Sysctl {
	const buffer = "4096 16384 131072"
	return []Sysctl{
		{"/proc/sys/net/ipv4/tcp_rmem", buffer},
		{"/proc/sys/net/ipv4/tcp_wmem", buffer},
		{"/proc/sys/net/ipv4/tcp_max_tw_buckets", "4096"},
		{"/proc/sys/net/ipv4/ip_unprivileged_port_start", "0"},
	}
}

// NamedSysctls are those settings by the names that OCI runtimes and engines know them by.
func NamedSysctls() map[string]string {
	named := map[string]string{}
	for _, s := range Sysctls() {
		name, _ := strings.CutPrefix(s.Path, "/proc/sys/")
		named[strings.ReplaceAll(name, "/", ".")] = s.Value
	}
	return named
}
