package landlock

// Rights on files (LANDLOCK_ACCESS_FS_* in linux/landlock.h), with the ABI that
// brought each.
const (
	AccessFSExecute    uint64 = 1 << 0  // ABI 1
	AccessFSWriteFile  uint64 = 1 << 1  // ABI 1
	AccessFSReadFile   uint64 = 1 << 2  // ABI 1
	AccessFSReadDir    uint64 = 1 << 3  // ABI 1
	AccessFSRemoveDir  uint64 = 1 << 4  // ABI 1
	AccessFSRemoveFile uint64 = 1 << 5  // ABI 1
	AccessFSMakeChar   uint64 = 1 << 6  // ABI 1
	AccessFSMakeDir    uint64 = 1 << 7  // ABI 1
	AccessFSMakeReg    uint64 = 1 << 8  // ABI 1
	AccessFSMakeSock   uint64 = 1 << 9  // ABI 1
	AccessFSMakeFifo   uint64 = 1 << 10 // ABI 1
	AccessFSMakeBlock  uint64 = 1 << 11 // ABI 1
	AccessFSMakeSym    uint64 = 1 << 12 // ABI 1
	AccessFSRefer      uint64 = 1 << 13 // ABI 2: link or rename to another directory; before, always denied
	AccessFSTruncate   uint64 = 1 << 14 // ABI 3
	AccessFSIoctlDev   uint64 = 1 << 15 // ABI 5
)

// Rights on the network (LANDLOCK_ACCESS_NET_*) and scopes (LANDLOCK_SCOPE_*).
const (
	AccessNetBindTCP    uint64 = 1 << 0 // ABI 4
	AccessNetConnectTCP uint64 = 1 << 1 // ABI 4

	ScopeAbstractUnixSocket uint64 = 1 << 0 // ABI 6
	ScopeSignal             uint64 = 1 << 1 // ABI 6
)

// RulePathBeneath is LANDLOCK_RULE_PATH_BENEATH, the type of the rules that
// [PathRule.Attr] encodes.
const RulePathBeneath = 1

// The ABI that brought what a ruleset may lack. ABI 7 (Linux 6.15) only added
// options for the audit log.
const (
	abiRefer    = 2 // Linux 5.19
	abiTruncate = 3 // Linux 6.2
	abiNet      = 4 // Linux 6.7
	abiIoctlDev = 5 // Linux 6.10
	abiScope    = 6 // Linux 6.12
)

const (
	// accessFile are the rights that a file can have which is no directory. The
	// kernel refuses a rule for one that has others.
	accessFile = AccessFSExecute | AccessFSWriteFile | AccessFSReadFile | AccessFSTruncate | AccessFSIoctlDev

	accessReadExec = AccessFSExecute | AccessFSReadFile | AccessFSReadDir

	// accessReadWrite leaves out device nodes.
	accessReadWrite = accessReadExec | AccessFSWriteFile | AccessFSTruncate |
		AccessFSRemoveDir | AccessFSRemoveFile | AccessFSRefer |
		AccessFSMakeDir | AccessFSMakeReg | AccessFSMakeSock | AccessFSMakeFifo | AccessFSMakeSym
)

// handledFS are all rights on files that an ABI knows.
func handledFS(abi int) uint64 {
	known := AccessFSRefer - 1 // ABI 1
	if abi >= abiRefer {
		known |= AccessFSRefer
	}
	if abi >= abiTruncate {
		known |= AccessFSTruncate
	}
	if abi >= abiIoctlDev {
		known |= AccessFSIoctlDev
	}
	return known
}
