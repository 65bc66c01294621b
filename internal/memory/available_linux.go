package memory

import (
	"os"
	"strconv"
	"strings"
)

// available returns how much memory the process could use: what the kernel says is available, or 4 GB if it does not
// say. If less is left of a control group's limit, it returns that.
func available() int64 {
	available := int64(unknown)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemAvailable:" {
				if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					available = kb << 10
				}
			}
		}
	}
	for _, group := range [][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		limit, ok := readNumber(group[0])
		used, ok2 := readNumber(group[1])
		if ok && ok2 && limit-used > 0 {
			available = min(available, limit-used)
		}
	}
	return available
}

func readNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
