// Package certificate writes what proves a verdict, so that an independent program
// can check it. docs/certificate.md describes its contents and why they suffice,
// and docs/certificate/check.py is such a program. The package writes
// the evidence of a result, and adds to a core what else belongs to it. What proves a level
// is not in a result: package isolation decides it again.
package certificate
