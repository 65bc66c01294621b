// Package processgroup ends commands together with everything that they have started.
package processgroup
