package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
	"time"
)

// debian returns the version as Debian orders versions. A version before a release
// has a tilde, as in 1.2.3~rc.1-1 or 0.0.0~20261122133325.f01a681e4c9d-1.
func (c *common) debian() string {
	version, before, _ := strings.Cut(strings.TrimPrefix(c.version, "v"), "-")
	if before != "" {
		version += "~" + strings.ReplaceAll(before, "-", ".")
	}
	return version + "-1"
}

// deb returns a Debian package: an ar archive of two tarballs, one with what dpkg
// has to know and one with the files. It needs no other package and runs no
// script.
func (c *common) deb(program []byte, arch string) ([]byte, error) {
	files := c.installed(program)
	size, sums := 0, strings.Builder{}
	for _, f := range byName(files) {
		size += (len(f.data) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf(`Package: clew
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: devel
Priority: optional
Description: checker of linearizability for Jepsen histories
 clew reads a history of operations on a concurrent object, such as Jepsen
 writes, and says whether it is linearizable. If it is, clew shows a witness;
 if it is not, the operation that cannot be explained, a picture of it, and the
 few operations that contradict each other.
`, c.debian(), arch, c.author, size)
	first, err := tarball([]file{{"control", []byte(control), false}, {"md5sums", []byte(sums.String()), false}}, c.time)
	if err != nil {
		return nil, err
	}
	second, err := tarball(files, c.time)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, member := range []file{{name: "debian-binary", data: []byte("2.0\n")}, {name: "control.tar.gz", data: first}, {name: "data.tar.gz", data: second}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, c.time.Unix(), 0, 0, "100644", len(member.data))
		b.Write(member.data)
		if len(member.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// overrides are for lintian.
const overrides = `# A release for every Linux is linked to nothing.
clew: statically-linked-binary
# The package is the project's own, not an upload to Debian.
clew: initial-upload-closes-no-bugs *
`

// installed returns the files that the package installs.
func (c *common) installed(program []byte) []file {
	const doc = "usr/share/doc/clew/"
	var others strings.Builder
	for _, e := range c.licenses {
		fmt.Fprintf(&others, "  %s %s\n    %s, %s\n", e.Module, e.Version, e.License, e.Owner)
	}
	copyright := fmt.Sprintf(`Copyright %d The clew authors

clew is licensed under the Apache License, Version 2.0. On Debian systems its text
is in /usr/share/common-licenses/Apache-2.0.

The program is built from code of others, too. The texts of their licenses are in
%s.gz beside this file. Copyright by them:

%s`, c.time.UTC().Year(), thirdPartyName, &others)
	news := fmt.Sprintf("clew (%s) unstable; urgency=medium\n\n  * Version %s; changelog.gz says what is new.\n\n -- %s  %s\n",
		c.debian(), c.version, c.author, c.time.UTC().Format(time.RFC1123Z))
	files := []file{
		{"usr/bin/clew", program, true},
		{"usr/share/man/man1/clew.1.gz", gzipped(c.man), false},
		{"usr/share/bash-completion/completions/clew", c.completion["bash"], false},
		{"usr/share/zsh/vendor-completions/_clew", c.completion["zsh"], false},
		{"usr/share/fish/vendor_completions.d/clew.fish", c.completion["fish"], false},
		{"usr/share/lintian/overrides/clew", []byte(overrides), false},
		{doc + "copyright", []byte(copyright), false},
		{doc + "changelog.Debian.gz", gzipped([]byte(news)), false},
		{doc + thirdPartyName + ".gz", gzipped(c.thirdParty), false},
	}
	for _, d := range c.docs {
		switch d.name {
		case "LICENSE": // copyright names it
		case "CHANGELOG.md":
			files = append(files, file{doc + "changelog.gz", gzipped(d.data), false})
		default:
			files = append(files, file{doc + d.name, d.data, false})
		}
	}
	return files
}
