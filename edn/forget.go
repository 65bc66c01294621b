package edn

// mostNames bounds the keywords and symbols that are lasting.
const mostNames = 1024

// Settle says that nothing is being interned. Forms that were there before the last new keyword or symbol are lasting,
// up to a bound: texts repeat names.
func (v *Values) Settle() {
	if names := len(v.keywords) + len(v.symbols); names != v.names && names <= mostNames {
		v.names, v.lasting = names, len(v.forms)
	}
}

// Forget drops all forms that are neither lasting nor kept, so that the table of a text without end stays small. It
// changes the IDs that it is given, in place, to those that the kept forms have afterwards. All other IDs of forms that
// are not lasting will be given to other forms. Linear time.
func (v *Values) Forget(keep []*ID) {
	v.Settle()
	between := NewLooseValues()
	out := v.CopierInto(between)
	for _, id := range keep {
		*id = out.ID(*id)
	}
	v.truncate(v.lasting)
	back := between.CopierInto(v)
	for _, id := range keep {
		*id = back.ID(*id)
	}
}

// truncate drops all forms from n on.
func (v *Values) truncate(n int) {
	v.forgot++
	texts, arena := len(v.texts), int64(0) // where what is kept ends
	for id := n; id < len(v.forms); id++ {
		switch f := &v.forms[id]; {
		case f.plain():
			if f.at >= 0 && f.at < int64(len(v.dense)) {
				v.dense[f.at] = Nil
			}
		case !f.kind.collection():
			texts = min(texts, int(f.n))
			if names := v.textsOf(f.kind); names[v.texts[f.n]] == ID(id) {
				delete(names, v.texts[f.n])
			}
		}
	}
	clear(v.texts[texts:]) // so that nothing holds them
	v.texts = v.texts[:texts]
	v.forms, v.class = v.forms[:n], v.class[:n]
	clear(v.table)
	clear(v.sparse)
	v.used, v.others = 0, 0
	for id := range v.forms {
		switch f := &v.forms[id]; {
		case f.plain():
			v.enterInt(f.at, ID(id))
		case f.kind.collection():
			arena = max(arena, f.at+int64(f.n))
			if !f.nan {
				v.enter(slot{hashItems(f.kind, v.items(ID(id))), ID(id)})
				if f.kind == KindSet && v.Same(ID(id)) == ID(id) {
					v.joinSet(ID(id))
				}
			}
		}
	}
	last := arena >> chunkBits
	clear(v.arena[last+1:])
	v.arena = v.arena[:last+1]
	v.arena[last] = v.arena[last][:arena&(1<<chunkBits-1)]
	clear(v.lists)
}

// textsOf returns the table of the scalars of a kind by their texts.
func (v *Values) textsOf(kind Kind) map[string]ID {
	switch kind {
	case KindString:
		return v.strings
	case KindKeyword:
		return v.keywords
	case KindSymbol:
		return v.symbols
	}
	return v.tokens
}
