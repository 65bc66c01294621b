// Package explanations tests what is said of a verdict: the conversations of testdata/cases and of the data types, the stories,
// the kinds of failures, and that text, pictures and pages agree.
package explanations_test
