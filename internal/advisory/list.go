package advisory

// advisory is a hole, or several that were found and mended together.
type advisory struct {
	id        string
	component string
	effect    string // "a program …" or "an image …"
	// since is the first upstream version that has it; empty means all. fixed are the
	// first that have not, one for each line of releases, in order.
	since string
	fixed []string
	// mended are the versions of the distribution's package that have not, by suite:
	// where the fix came into a version below fixed.
	mended map[string]string
	// image means that it takes a hostile image; harmless are the engines behind
	// which nothing reaches it.
	image    bool
	harmless []string
	source   string
}

// list is kept by hand, from the advisories and change logs of runc, crun, youki, Moby,
// Podman, gVisor and Kata, the records of kernel.org, and for packages the notices of
// Ubuntu and Debian's change logs. The newest of a component come first.
//
// Left out, so that nobody looks for them: holes of building images, of docker cp into a
// container that runs (CVE-2026-41568, CVE-2026-42306) or of compressed archives
// (CVE-2026-41567), of authorisation plugins (CVE-2024-41110), of containerd's Kubernetes
// side (CVE-2022-23648) and of the host's own network namespace (CVE-2020-15257), none of
// which we use; of crun without a /dev of its own (CVE-2026-88264, CVE-2026-88265) or with
// krun; of runc when a caller makes up its mounts (CVE-2024-45310); gVisor's
// CVE-2025-2713, which ends at the first fork, and our init makes that one; and of the
// kernel everything that the filter keeps from programs (user namespaces, nf_tables,
// AF_PACKET, io_uring, fsopen; AF_ALG, for which Docker's own filter changed in 29.4.3,
// CVE-2026-31431). What is left of the kernel's is in calls that every program needs. The
// records of CVE-2026-46242, in epoll, and of gVisor's CVE-2026-96812 do not tell which
// release of each line is mended.
var list = []advisory{
	{
		id: "CVE-2026-41579", component: "runc", image: true, harmless: []string{"docker"}, // which masks the image's /dev
		effect: "an image whose /dev is a link can change names on the host",
		fixed:  []string{"1.3.6", "1.4.3", "1.5.0-rc.3"},
		source: "https://github.com/opencontainers/runc/security/advisories/GHSA-xjvp-4fhw-gc47",
	},
	{
		id: "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881", component: "runc",
		effect: "a program can write to the host's /proc and leave its container",
		fixed:  []string{"1.2.8", "1.3.3", "1.4.0-rc.3"},
		mended: map[string]string{
			"jammy": "1.3.3-0ubuntu1~22.04.2", "noble": "1.3.3-0ubuntu1~24.04.2", "questing": "1.3.3-0ubuntu1~25.10.2",
		},
		source: "https://github.com/opencontainers/runc/security/advisories/GHSA-9493-h29p-rfm2",
	},
	{
		id: "CVE-2024-21626", component: "runc",
		effect: "a program can reach the host's file system",
		fixed:  []string{"1.1.12"},
		mended: map[string]string{
			"bookworm": "1.1.5+ds1-1+deb12u1",
			"bionic":   "1.1.4-0ubuntu1~18.04.2+esm1", "focal": "1.1.7-0ubuntu1~20.04.2", "jammy": "1.1.7-0ubuntu1~22.04.2",
		},
		source: "https://github.com/opencontainers/runc/security/advisories/GHSA-xr7r-f8xq-vfvv",
	},
	{
		id: "CVE-2021-30465", component: "runc",
		effect: "a program that shares a volume with another can reach the host's file system",
		fixed:  []string{"1.0.0-rc95"},
		mended: map[string]string{
			"xenial": "1.0.0~rc7+git20190403.029124da-0ubuntu1~16.04.4+esm2",
			"bionic": "1.0.0~rc93-0ubuntu1~18.04.2", "focal": "1.0.0~rc93-0ubuntu1~20.04.2",
		},
		source: "https://github.com/opencontainers/runc/security/advisories/GHSA-c3xm-pvg7-gh7r",
	},
	{
		id: "CVE-2019-5736", component: "runc",
		effect: "a program can replace runc on the host",
		fixed:  []string{"1.0.0-rc7"},
		source: "https://www.openwall.com/lists/oss-security/2019/02/11/2",
	},
	{
		id: "CVE-2026-47766", component: "crun", image: true, harmless: []string{"docker"}, // as with runc
		effect: "an image whose /dev is a link can change names on the host",
		fixed:  []string{"1.28"},
		source: "https://github.com/containers/crun/security/advisories/GHSA-7vwr-4279-7gq5",
	},
	{
		id: "CVE-2025-62161 and CVE-2025-62596", component: "youki",
		effect: "a program can write to the host's /proc and leave its container",
		fixed:  []string{"0.5.7"},
		source: "https://github.com/youki-dev/youki/security/advisories/GHSA-4g74-7cff-xcv8",
	},
	{
		id: "CVE-2025-54867", component: "youki", image: true,
		effect: "an image can reach the host's file system",
		fixed:  []string{"0.5.5"},
		source: "https://github.com/advisories/GHSA-j26p-6wx7-f3pw",
	},
	{
		id: "CVE-2018-16359", component: "runsc",
		effect: "a program that takes over gVisor's kernel can rename files of the host",
		fixed:  []string{"20180823"},
		source: "https://www.cve.org/CVERecord?id=CVE-2018-16359",
	},
	{
		id: "CVE-2020-2026", component: "kata-runtime",
		effect: "a program that takes over the virtual machine can have its files mounted anywhere on the host",
		fixed:  []string{"1.10.5", "1.11.1"},
		source: "https://www.cve.org/CVERecord?id=CVE-2020-2026",
	},
	{
		id: "CVE-2021-41089", component: "docker", image: true,
		effect: "an image can change the mode of the host's files when something is copied into its container",
		fixed:  []string{"20.10.9"},
		source: "https://github.com/moby/moby/security/advisories/GHSA-v994-f8vw-g7j4",
	},
	{
		id: "CVE-2019-14271", component: "docker", image: true, since: "19.03.0-beta1",
		effect: "an image can run code as root on the host when something is copied from its container",
		fixed:  []string{"19.03.1"},
		source: "https://github.com/moby/moby/issues/39449",
	},
	{
		id: "CVE-2026-94603", component: "podman", image: true, since: "4.4.0",
		effect: "an image can take down nearly all walls of its container",
		fixed:  []string{"5.8.8", "6.1.3"},
		source: "https://github.com/podman-container-tools/podman/security/advisories/GHSA-2cvf-wqm6-wr9g",
	},
	{
		id: "CVE-2026-57231", component: "podman", image: true, since: "1.8.1",
		effect: "an image can read the environment of Podman",
		fixed:  []string{"5.8.4", "6.0.0"},
		source: "https://github.com/advisories/GHSA-4hq8-gpf5-8p68",
	},
	{
		id: "CVE-2026-55686", component: "podman", image: true,
		effect: "an image can make a directory on the host",
		fixed:  []string{"5.7.1"},
		source: "https://github.com/advisories/GHSA-q6r4-3wmg-fwcq",
	},
	// Kernels: only what the filter lets a program reach. This one is in futex, which
	// every threaded program needs, with no capability and no other system call.
	{
		id: "CVE-2026-43499", component: linux, since: "2.6.39",
		effect: "a program can become root of the host by way of futexes",
		fixed:  []string{"5.10.261", "5.15.212", "6.1.175", "6.6.140", "6.12.86", "6.18.27", "7.0.4", "7.1"},
		source: "https://www.cve.org/CVERecord?id=CVE-2026-43499",
	},
	// splice from a file that can be read into a pipe: toolchains are such files, and
	// their pages are the host's.
	{
		id: "CVE-2022-0847", component: linux, since: "5.8",
		effect: "a program can change files of the host that it can read",
		fixed:  []string{"5.10.102", "5.15.25", "5.16.11", "5.17"},
		source: "https://dirtypipe.cm4all.com/",
	},
}
