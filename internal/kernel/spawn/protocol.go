package spawn

// The constants of the protocol; init.c has the same.
const (
	magic       = 0x31724273
	magicInput  = 0x32724273
	magicCredit = 0x33724273
	maxMessage  = 256 << 10
	maxFiles    = 64
	chunk       = 64 << 10 // the most bytes of a stream in one piece

	headerSize = 24
	stepSize   = 72
	recordSize = 112

	stepFork = 1
	allowAny = 1<<32 - 1 // of a step, in place of an errno

	exitLast = 1 // of an EXIT, in place of a seq
	exitHeld = 2 // the process is held at its end

	stoppedStatus = 0x7f // of a wait status, its last byte

	callServe    = 0xffff0001
	callKillTree = 0xffff0002
	callCopy     = 0xffff0003
	callCarry    = 0xffff0004
	callAwait    = 0xffff0005
	callReady    = 0xffff0006
	callBeget    = 0xffff0007
	callReturn   = 0xffff0008
	callAdopt    = 0xffff0009
	callAttend   = 0xffff000a
	callUnattend = 0xffff000b
	callStop     = 0xffff000c
	callResume   = 0xffff000d

	recordDone   = 1
	recordFailed = 2
	recordExit   = 3
	recordIdle   = 4
	recordFiles  = 5
	recordOutput = 6
	recordInput  = 7
	recordReady  = 8
)
