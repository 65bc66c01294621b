// Package campaign compares everything in clew that decides histories. It makes small
// random histories of every model and every way to read it. The oracle and a naive
// reading decide them, and all engines and their evidence are compared with that. It also
// makes changes that must not change a verdict (relations.go). Tests take a few histories
// of each, and make campaign takes as many as there is time for.
package campaign
