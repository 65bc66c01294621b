package memory

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"clew/internal/limits"
	"clew/internal/text"
)

// size is a number and its unit, which may be missing.
var size = text.Pattern(`(?i)^([0-9]+(?:\.[0-9]+)?)(?:([kmgt]?)i?b|([kmgt])i?)?$`)

// Limit returns the limit in bytes that --memory-limit sets, or half of what is available to the process.
func Limit(flag string) (int64, error) {
	if flag == "" {
		return available() / 2, nil
	}
	bad := fmt.Errorf("--memory-limit must be a size such as 512MB or 8GB, not %q", flag)
	m := size().FindStringSubmatch(flag)
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

// Keeper keeps the process within its memory limit. Searches count their own memory. A Keeper is for all the rest,
// reading and evidence: it looks at what the process really holds, and if that is too much it ends the work that has
// gone on for longest.
type Keeper struct {
	mu    sync.Mutex
	works []*work // the oldest first
}

// work is a stage of a job that a Keeper can end.
type work struct{ end context.CancelCauseFunc }

// A Keeper looks every keeperTick. The memory of work that it ended should have come back after keeperWait looks. The
// process may hold more than the limit: keeperLive for its own data, keeperCollected with garbage that is not
// collected yet.
const (
	keeperTick      = 10 * time.Millisecond
	keeperWait      = 10
	keeperLive      = 16 << 20
	keeperCollected = 64 << 20
)

// Within returns a context that ends if there is not enough memory. The caller must release it.
func (k *Keeper) Within(ctx context.Context) (_ context.Context, release context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	w := &work{end}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.works = append(k.works, w)
	return ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.works = slices.DeleteFunc(k.works, func(x *work) bool { return x == w })
		end(nil)
	}
}

type keeperKey struct{}

// shared is a Keeper for all the work of a process, and its limit.
type shared struct {
	Keeper
	limit int64
}

// Sharing returns a context for works that share one limit, and keeps the process within it until the context is done.
func Sharing(ctx context.Context, limit int64) context.Context {
	s := &shared{limit: limit}
	go s.Watch(ctx, limit)
	return context.WithValue(ctx, keeperKey{}, s)
}

// Shared returns the Keeper and the limit of a context that Sharing returned, or nil and 0.
func Shared(ctx context.Context) (*Keeper, int64) {
	if s, ok := ctx.Value(keeperKey{}).(*shared); ok {
		return &s.Keeper, s.limit
	}
	return nil, 0
}

// Watch keeps the process within the limit until the context is done. A limit of 0 means none.
func (k *Keeper) Watch(ctx context.Context, limit int64) {
	if limit == 0 {
		return
	}
	limit = min(limit, math.MaxInt64/2)
	debug.SetMemoryLimit(limit + keeperLive)
	tick := time.NewTicker(keeperTick)
	defer tick.Stop()
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	for wait := 0; ; wait-- {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(held)
		live, all := int64(held[0].Value.Uint64()), int64(held[1].Value.Uint64())
		if wait <= 0 && (live > limit+keeperLive || all > limit+keeperCollected) {
			k.endOldest()
			wait = keeperWait
		}
	}
}

func (k *Keeper) endOldest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.works) > 0 {
		k.works[0].end(limits.ErrOutOfMemory)
		k.works = k.works[1:]
	}
}

// unknown is taken to be available where the system does not say.
const unknown = 4 << 30
