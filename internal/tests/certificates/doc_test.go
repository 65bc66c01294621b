// Package certificates tests that programs that share nothing with clew prove its certificates, and that they refuse whatever was
// changed in one.
package certificates_test
