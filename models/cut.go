package models

// Cut is a prefix of operations. Its rows are numbered from 0 again, and Rows says which
// rows of the whole they are.
type Cut struct {
	*Operations
	Rows []Row
}

// Whole replaces rows of the cut with their rows in the whole, in place. Negative numbers,
// which stand for no row, stay as they are.
func (c Cut) Whole(rows ...[]Row) {
	for _, list := range rows {
		for i, row := range list {
			if row >= 0 {
				list[i] = c.Rows[row]
			}
		}
	}
}
