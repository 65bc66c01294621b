// Package home is what a data type's home consists of, and what several homes share: how
// states print, numbers and pairs as states, sets of values, and how first reads show what
// was there initially.
//
// home.go has Home and Type. print.go turns states into records; numbers.go, pairs.go,
// members.go, pervalue.go and greatest.go are states and parts of runs; opening.go finds
// initial values.
package home
