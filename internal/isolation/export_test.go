package isolation

import (
	"math/rand/v2"

	"clew/models"
)

// Drawn are small transactions, for tests outside of the package.
type Drawn struct {
	Text string
	txns []ttxn
	keys int
}

// Draw makes small transactions.
func Draw(seed uint64) Drawn {
	r := rand.New(rand.NewPCG(seed, 1))
	txns, keys := draw(r, 2+r.IntN(5), 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(3))
	return Drawn{text(txns), txns, keys}
}

// At says whether the transactions are at a level by its definition.
func (d *Drawn) At(level models.Level) bool { return twin(d.txns, d.keys, level) }
