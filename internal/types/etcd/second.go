package etcd

import "clew/internal/second"

// Second is the second reading of etcd, for tests.
var Second = map[string]second.Reading{}
