//go:build !race

package edn

const raceFactor = 1
