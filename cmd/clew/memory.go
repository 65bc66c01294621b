package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// size is a number and its unit, which may be missing.
var size = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?)(?:([kmgt]?)i?b|([kmgt])i?)?$`)

// memoryLimit is the bytes that --memory-limit says, or half of what is
// available to the process.
func memoryLimit(flag string) (int64, error) {
	if flag == "" {
		return availableMemory() / 2, nil
	}
	bad := fmt.Errorf("--memory-limit is a size such as 512MB or 8GB, not %q", flag)
	m := size.FindStringSubmatch(flag)
	if m == nil {
		return 0, bad
	}
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[strings.ToUpper(m[2]+m[3])]
	n, err := strconv.ParseFloat(m[1], 64)
	bytes := math.Ldexp(n, shift)
	switch {
	case err != nil || bytes < 1 || bytes >= math.MaxInt64:
		return 0, bad
	case m[0] == m[1]:
		return 0, fmt.Errorf("--memory-limit %s needs a unit, such as %sMB", flag, flag)
	}
	return int64(bytes), nil
}

// collectBefore has the garbage collector work harder before searches would take
// more than what they may, on top of what is there already: else garbage
// could double it.
func collectBefore(limit int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetMemoryLimit(int64(m.HeapAlloc) + min(limit, math.MaxInt64/2))
}

// availableMemory is what the process could use: what the kernel says is
// available, or what is left of a control group's limit. If neither is known it
// is 4 GB.
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
