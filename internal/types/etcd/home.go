package etcd

import (
	"clew/internal/gen"
	"clew/internal/home"
)

// Home is what clew knows about etcd.
var Home = home.Home{Place: 15, Types: []home.Type{{Definition: &definition, Generated: gen.Model{New: newObject, Bugs: bugs, Keyed: true, Leases: true}}}}
