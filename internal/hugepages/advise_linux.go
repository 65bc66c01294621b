package hugepages

import "syscall"

// advise asks for huge pages for a range of addresses. It is not an error if there are none.
func advise(at, size uintptr) {
	const hugePage = 14 // MADV_HUGEPAGE, the same on every architecture
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, at, size, hugePage)
}
