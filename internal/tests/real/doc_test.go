// Package real tests verdicts and evidence on real histories, on those of Knossos and of other monitors, and on their programs'
// own results. Most tests need CLEW_HISTORIES.
package real_test
