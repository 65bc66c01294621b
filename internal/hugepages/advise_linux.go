package hugepages

import "syscall"

// advise asks for huge pages. It is not an error if there are none.
func advise(memory []byte) {
	const hugePage = 14 // MADV_HUGEPAGE, the same on every architecture
	_ = syscall.Madvise(memory, hugePage)
}
