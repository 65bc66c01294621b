package fastpath

import "clew/models"

// WithInitial decides c preceded by operations that put the initial elements into the
// container, one after another. These have the first rows and events.
func WithInitial(c *models.Columns, init []int32, kind models.Kind, decide func(all *models.Columns) Decision) Decision {
	if len(init) == 0 {
		return decide(c)
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
	d := decide(all)
	back := func(rows []models.Row) []models.Row {
		var own []models.Row
		for _, i := range rows {
			if i >= k {
				own = append(own, i-k)
			}
		}
		return own
	}
	named := func(i models.Row) models.Row { return max(i-k, Initial) }
	d.Witness, d.Before, d.Core = back(d.Witness), back(d.Before), back(d.Core)
	d.Why.Renumber(named)
	d.Reason.Renumber(named)
	for _, event := range []*int32{&d.FailEvent, &d.BoundEvent} {
		if *event >= 0 {
			*event -= 2 * k
		}
	}
	return d
}
