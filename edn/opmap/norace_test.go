//go:build !race

package opmap

const raceFactor = 1
