// Package bank is the home of bank: accounts with transfers between them.
package bank
