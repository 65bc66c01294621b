// Package second decides small histories a second time, for tests. It uses nothing of clew:
// reading, pairing and models are written again, with values and states as strings. The
// models are in the homes of the data types (second.go); package types/seconds registers
// them. It reads only what package gen writes.
//
// second.go decides, and replay.go checks a given order.
package second
