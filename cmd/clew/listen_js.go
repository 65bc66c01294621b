package main

import (
	"errors"

	"github.com/urfave/cli/v2"
)

// errNoServers says that this clew cannot open ports. It is also half the size of one that could.
var errNoServers = errors.New("clew for WebAssembly has no servers; a clew that is built for this system has them")

func (r *runner) serve(*cli.Context) error { return errNoServers }

func (s *served) listen(string) (at string, close func() error, err error) {
	return "", nil, errNoServers
}
