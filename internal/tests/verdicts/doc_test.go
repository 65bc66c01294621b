// Package verdicts tests that verdicts and cores are right: all engines and decisions agree with the oracle, with each other and
// with what a generator promises. Its fuzz targets ask that of any text.
package verdicts_test
