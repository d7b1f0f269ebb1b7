package advisory

import (
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// linux is the name of a kernel as a component.
const linux = "linux"

var (
	debianKernel = lazyregexp.New(`\bDebian (\d+\.\d+\.\d+)`)
	frozenKernel = lazyregexp.New(`\.el\d|\.el$|-default$`)
)

// kernelVersion is the upstream release that a kernel is made of, by uname -r, uname
// -v and, on Ubuntu, /proc/version_signature: Debian's release tells its ABI alone,
// and Ubuntu's nothing but the line. It is empty where the number says nothing of
// what is mended: Red Hat's and SUSE's stay at one for years.
func kernelVersion(release, version, signature string) string {
	if m := debianKernel().FindStringSubmatch(version); m != nil {
		return m[1]
	}
	if fields := strings.Fields(signature); len(fields) == 3 && fields[0] == "Ubuntu" {
		return fields[2]
	}
	if frozenKernel().MatchString(release) {
		return ""
	}
	return release
}
