package fastpath

import "clew/models"

// WithInitial returns c preceded by operations that put the initial elements
// into the container, one after another. These have the first rows and events.
func WithInitial(c *models.Columns, init []int32, kind models.Kind) *models.Columns {
	if len(init) == 0 {
		return c
	}
	k := int32(len(init))
	all := &models.Columns{Events: c.Events + 2*k}
	for i, v := range init {
		all.Append(2*int32(i), 2*int32(i)+1, models.Op{Kind: kind, A: v})
	}
	for i := range c.Inv {
		res := c.Res[i]
		if res != models.Open {
			res += 2 * k
		}
		all.Append(c.Inv[i]+2*k, res, c.Op(int32(i)))
	}
	return all
}

// WithoutInitial turns a decision about the columns that WithInitial
// returned into one about its argument. k is the number of initial elements.
func (d Decision) WithoutInitial(k int) Decision {
	if k == 0 {
		return d
	}
	n := int32(k)
	back := func(rows []models.Row) []models.Row {
		var own []models.Row
		for _, i := range rows {
			if i >= n {
				own = append(own, i-n)
			}
		}
		return own
	}
	named := func(i models.Row) models.Row { return max(i-n, Initial) }
	d.Witness, d.Before, d.Core = back(d.Witness), back(d.Before), back(d.Core)
	d.Why.Renumber(named)
	d.Reason.Renumber(named)
	for _, event := range []*int32{&d.FailEvent, &d.BoundEvent} {
		if *event >= 0 {
			*event -= 2 * n
		}
	}
	return d
}
