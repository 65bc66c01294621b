// Package files opens files, compressed or not. Its errors name the file and what is wrong with it, but not the
// system call.
package files
