package huge

import "syscall"

// advise asks for huge pages. That they are not there is no error.
func advise(memory []byte) {
	const hugePage = 14 // MADV_HUGEPAGE, the same on every architecture
	_ = syscall.Madvise(memory, hugePage)
}
