package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryLimit is the bytes that --memory-limit says, or half of what is
// available to the process.
func memoryLimit(flag string) (int64, error) {
	if flag == "" {
		return availableMemory() / 2, nil
	}
	number := strings.TrimRight(flag, "kKmMgGtTiBb")
	unit := strings.ToUpper(flag[len(number):])
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !ok || n <= 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("--memory-limit is a size such as 512MB or 8GB, not %q", flag)
	}
	return n << shift, nil
}

// collectBefore makes the garbage collector work harder before searches take
// more than they may, on top of what is in memory already. Otherwise garbage
// could double that.
func collectBefore(limit int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetMemoryLimit(int64(m.HeapAlloc) + min(limit, math.MaxInt64/2))
}

// availableMemory is what the process could use: what the kernel says is
// available, or what is left of a control group's limit. If neither is known,
// it is 4 GB.
func availableMemory() int64 {
	available := int64(4 << 30)
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
