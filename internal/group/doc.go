// Package group ends commands together with everything that they have started.
package group
