package landlock

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
)

// Rules describe what a program may touch. Everything else on the file system
// is denied.
type Rules struct {
	// ReadExec are files and directories, with all below, to read and execute.
	ReadExec []string
	// ReadWrite are those to do anything in, but for making device nodes. A
	// device that is named itself may also be controlled by ioctl.
	ReadWrite []string
	// OtherRoot says that the paths are directories of a root that is not the
	// caller's: they are taken as they are, and devices below those to write may
	// be controlled by ioctl, since such a root holds none but harmless ones.
	OtherRoot bool
	// DenyTCP refuses to bind and connect TCP sockets. UDP and the rest are not
	// Landlock's to decide.
	DenyTCP bool
	// ScopeSignals lets signals go only to processes under the same rules.
	ScopeSignals bool
	// ScopeAbstractUnix lets connections to abstract Unix sockets go only to
	// those made under the same rules.
	ScopeAbstractUnix bool
}

// Ruleset is what the kernel is given.
type Ruleset struct {
	// Attr is struct landlock_ruleset_attr, of the size that the ABI has.
	Attr  []byte
	Paths []PathRule
}

// PathRule grants rights on a file, or on a directory and all below.
type PathRule struct {
	Path   string
	Access uint64 // of AccessFS…
}

// Attr is struct landlock_path_beneath_attr, which is packed: 12 bytes. The
// descriptor of the path, opened with O_PATH, is the last four of them.
func (p PathRule) Attr(fd int32) []byte {
	b := binary.NativeEndian.AppendUint64(nil, p.Access)
	return binary.NativeEndian.AppendUint32(b, uint32(fd))
}

// Build makes the ruleset for a kernel of the given ABI; see [ABI]. An ABI that
// is newer than 7 gets what 7 gets. Symbolic links are followed, as they will be
// when the path is opened. A path that does not exist is an error that wraps
// [fs.ErrNotExist].
func (r Rules) Build(abi int) (Ruleset, error) {
	if abi < 1 {
		return Ruleset{}, fmt.Errorf("landlock: this kernel has none (ABI %d): it needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK, enabled at boot", abi)
	}
	set := Ruleset{Attr: r.attr(abi)}
	grants := []struct {
		paths  []string
		access uint64
	}{
		{r.ReadExec, accessReadExec},
		{r.ReadWrite, accessReadWrite},
	}
	for _, g := range grants {
		for _, path := range g.paths {
			rule, err := r.grant(path, g.access, abi)
			if err != nil {
				return Ruleset{}, err
			}
			set.Paths = append(set.Paths, rule)
		}
	}
	return set, nil
}

// grant fits the rights to the kind of file and to the ABI.
func (r Rules) grant(path string, access uint64, abi int) (PathRule, error) {
	if r.OtherRoot {
		if access == accessReadWrite {
			access |= AccessFSIoctlDev
		}
		return PathRule{Path: path, Access: access & handledFS(abi)}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return PathRule{}, fmt.Errorf("landlock: cannot make a rule: %w", err)
	}
	if access == accessReadWrite && info.Mode()&fs.ModeDevice != 0 {
		access |= AccessFSIoctlDev
	}
	if !info.IsDir() {
		access &= accessFile
	}
	return PathRule{Path: path, Access: access & handledFS(abi)}, nil
}

// attr encodes struct landlock_ruleset_attr: a word for files, since ABI 4 one
// for the network, since ABI 6 one for scopes.
func (r Rules) attr(abi int) []byte {
	b := binary.NativeEndian.AppendUint64(nil, handledFS(abi))
	if abi >= abiNet {
		var net uint64
		if r.DenyTCP {
			net = AccessNetBindTCP | AccessNetConnectTCP
		}
		b = binary.NativeEndian.AppendUint64(b, net)
	}
	if abi >= abiScope {
		b = binary.NativeEndian.AppendUint64(b, r.scopes())
	}
	return b
}

func (r Rules) scopes() uint64 {
	var scopes uint64
	if r.ScopeSignals {
		scopes |= ScopeSignal
	}
	if r.ScopeAbstractUnix {
		scopes |= ScopeAbstractUnixSocket
	}
	return scopes
}
