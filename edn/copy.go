package edn

// Copier copies forms from one table into another, each form once. It serves
// texts whose parts are read concurrently, each part into a table of its own.
type Copier struct {
	from, to *Values
	ids      []ID // by form of from: its ID in to, Nil if not copied yet
	items    []ID // of the collections being copied
}

// CopierInto returns a copier from v into another table. Nothing may be added to v afterwards.
func (v *Values) CopierInto(to *Values) *Copier {
	c := &Copier{from: v, to: to, ids: make([]ID, len(v.forms))}
	c.ids[False], c.ids[True] = False, True
	return c
}

// ID returns the form's ID in the other table.
func (c *Copier) ID(id ID) ID {
	if to := c.ids[id]; to != Nil || id == Nil {
		return to
	}
	to := c.copied(id)
	c.ids[id] = to
	return to
}

func (c *Copier) copied(id ID) ID {
	f := &c.from.forms[id]
	switch {
	case f.plain():
		return c.to.InternInt(f.at)
	case f.kind.collection():
		base := len(c.items)
		for _, item := range c.from.items(id) {
			c.items = append(c.items, c.ID(item))
		}
		to := c.to.intern(f.kind, c.items[base:])
		c.items = c.items[:base]
		return to
	}
	return c.to.internText(f.kind, c.from.texts[f.n])
}

// internText interns a scalar other than a plain integer from its kind and
// text. It parses forms that are neither short nor frequent.
func (v *Values) internText(kind Kind, text string) ID {
	switch kind {
	case KindString:
		return v.InternString(text)
	case KindKeyword:
		return v.InternKeyword(text)
	case KindSymbol:
		return v.InternSymbol(text)
	}
	if id, ok := v.tokens[text]; ok && v.forms[id].kind == kind {
		return id
	}
	id, err := v.ParseLenient([]byte(text))
	if err != nil {
		return v.addText(KindOpaque, text)
	}
	return id
}
