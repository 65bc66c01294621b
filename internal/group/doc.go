// Package group ends commands with everything that they have started.
package group
