package fastpath

import "clew/models"

// withInitial is c after operations that put the initial elements into the
// container, one after the other. They have the first rows and events.
func withInitial(c *models.Columns, init []int32, kind models.Kind) *models.Columns {
	if len(init) == 0 {
		return c
	}
	k := int32(len(init))
	all := &models.Columns{Events: c.Events + 2*k, Stop: c.Stop}
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

// withoutInitial is a decision about the columns of withInitial as one about c;
// k is the number of initial elements.
func (d Decision) withoutInitial(k int32) Decision {
	if k == 0 {
		return d
	}
	back := func(rows []int32) []int32 {
		var own []int32
		for _, i := range rows {
			if i >= k {
				own = append(own, i-k)
			}
		}
		return own
	}
	named := func(i int32) int32 { return max(i-k, Initial) }
	d.Witness, d.Core = back(d.Witness), back(d.Core)
	for n, i := range d.Why.Ops {
		d.Why.Ops[n] = named(i)
	}
	if d.Fail >= 0 {
		d.Fail -= 2 * k
	}
	if d.Bound >= 0 {
		d.Bound -= 2 * k
	}
	if d.Reason.Cause != NotAmbiguous {
		d.Reason.Reader = named(d.Reason.Reader)
		for n, i := range d.Reason.Producers {
			d.Reason.Producers[n] = named(i)
		}
	}
	return d
}
