// Package kit has what tests of several rooms share: how they read, check and generate histories, and where files are.
package kit
