package transaction

import (
	"clew/fastpath"
	"clew/models"
)

// Path is the family of transactions.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	if s, ok := shape.(models.TxnListsShape); ok {
		path = fastpath.PathOf(s, listAppend)
	}
	return path, ""
}
