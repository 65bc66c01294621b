package edn

// Copier copies forms from one table into another, each of them once. It is for
// texts that are read in parts side by side, each part into a table of its own.
type Copier struct {
	from, to *Values
	ids      []ID // by form of from: the same in to, Nil if not copied yet
	items    []ID // of the collections that are being copied
}

// CopierInto returns a copier of the forms of v, to which no more must be added,
// into another table.
func (v *Values) CopierInto(to *Values) *Copier {
	c := &Copier{from: v, to: to, ids: make([]ID, len(v.forms))}
	c.ids[False], c.ids[True] = False, True
	return c
}

// ID is the form in the other table.
func (c *Copier) ID(id ID) ID {
	if to := c.ids[id]; to != Nil || id == Nil {
		return to
	}
	to := c.copied(id)
	c.ids[id] = to
	return to
}

// copied is a form's copy, made anew. Forms that are neither small nor frequent are
// read again from their text.
func (c *Copier) copied(id ID) ID {
	f := &c.from.forms[id]
	switch f.kind {
	case KindInt:
		if f.n == 0 {
			return c.to.InternInt(f.at)
		}
	case KindString:
		return c.to.InternString(c.from.texts[f.n])
	case KindKeyword:
		return c.to.InternKeyword(c.from.texts[f.n])
	case KindSymbol:
		return c.to.InternSymbol(c.from.texts[f.n])
	case KindVector, KindList, KindSet, KindMap, KindTagged:
		base := len(c.items)
		for _, item := range c.from.items(id) {
			c.items = append(c.items, c.ID(item))
		}
		to := c.to.intern(f.kind, c.items[base:])
		c.items = c.items[:base]
		return to
	}
	text := c.from.texts[f.n]
	if to, ok := c.to.tokens[text]; ok && c.to.forms[to].kind == f.kind {
		return to
	}
	to, err := c.to.ParseLenient([]byte(text))
	if err != nil {
		return c.to.addText(KindOpaque, text)
	}
	return to
}
