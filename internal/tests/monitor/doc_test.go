// Package monitor tests what is said while a history comes: the anomalies, diagnoses, states and witnesses of monitors, and what
// ends Follow.
package monitor_test
