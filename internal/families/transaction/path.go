package transaction

import (
	"clew/fastpath"
	"clew/models"
)

// Path is the family of transactions.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.TxnListsShape:
		path = fastpath.PathOf(s, listAppend)
	case models.TxnRegistersShape:
		path = fastpath.PathOf(s, rwRegister)
	}
	return path, ""
}
