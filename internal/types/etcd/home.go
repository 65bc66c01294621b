package etcd

import (
	"clew/internal/home"
)

// Home is what clew knows about etcd.
var Home = home.Home{Place: 15, Types: []home.Type{{Definition: &definition}}}
