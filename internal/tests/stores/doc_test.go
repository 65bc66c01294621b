// Package stores tests how all histories of a store are checked, merged and reported.
package stores_test
