// Package ownmodels tests users' own models: a Definition, Func, and files in Starlark, beside the built-in models that are their
// twins.
package ownmodels_test
