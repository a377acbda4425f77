package damage

import "syscall"

// limitAddressSpace has this process fail where it would take all memory.
func limitAddressSpace() {
	l := syscall.Rlimit{Cur: addressSpace, Max: addressSpace}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &l); err != nil {
		panic(err)
	}
}
