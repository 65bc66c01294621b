// Package forget says which operations of a history that goes on can be forgotten once they have been decided: whatever
// comes later, the same completions fail without them. So a history without end can be decided in bounded memory.
//
// Each file has the rule of a shape (models.Shape), and says why it holds. Models without a rule, and histories that are
// ambiguous, keep everything. A rule says which operations are kept, or in which state the model goes on (see settle.go).
//
// It also says how old the values are that operations saw: Ages does in one pass, and Behind of operations that are held.
package forget
