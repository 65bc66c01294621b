package text

import (
	"slices"
	"strconv"
	"strings"
)

// OneOf is a list in words, such as "text, edn or json".
func OneOf(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Count is a number of things, of which there may be one: "1 operation", "2 operations".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// DidYouMean is a question about a word that is none of the known ones, "" if none is
// like it, and else with a blank at its end: "did you mean --model? ".
func DidYouMean(word string, known []string) string {
	if like := similar(word, known); len(like) > 0 {
		return "did you mean " + OneOf(like) + "? "
	}
	return ""
}

// IsLike says whether a word is another one with few mistakes in it.
func IsLike(word, known string) bool {
	allowed := 1
	if len(known) >= longWord {
		allowed = 2
	}
	return mistakes([]rune(word), []rune(known)) <= allowed
}

// similar is the known words that are like a word: the same but for case and what
// parts its parts, else those with the fewest mistakes, else those that it is a part
// of, as queue is of fifo-queue.
func similar(word string, known []string) []string {
	if len(word) > longestWord {
		return nil
	}
	word = plain(word)
	allowed := 1
	if len(word) >= longWord {
		allowed = 2
	}
	fewest := allowed
	var like, parts []string
	for _, name := range known {
		if len(name) > longestWord {
			continue
		}
		other := plain(name)
		switch n := mistakes([]rune(word), []rune(other)); {
		case n > fewest || n >= len(word):
		case n < fewest:
			fewest, like = n, []string{name}
		default:
			like = append(like, name)
		}
		if slices.Contains(strings.Split(other, "-"), word) {
			parts = append(parts, name)
		}
	}
	if len(like) > 0 {
		return like
	}
	return parts
}

// longestWord is how many bytes a word has at most that may be a mistyped one.
const longestWord = 100

// longWord is how many characters a word has in which there may be two mistakes.
const longWord = 6

// plain is a name without what marks it as a keyword or a flag, in lower case, its
// parts parted by dashes.
func plain(name string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimLeft(name, ":-")))
}

// mistakes is how many characters must be put in, left out, exchanged for another, or
// swapped with the next, until a is b.
func mistakes(a, b []rune) int {
	var rows [3][]int // two lines ago, the last one, and this one
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[2] {
		rows[2][j] = j
	}
	for i := range a {
		rows[0], rows[1], rows[2] = rows[1], rows[2], rows[0]
		rows[2][0] = i + 1
		for j := range b {
			n := rows[1][j]
			if a[i] != b[j] {
				n++
			}
			n = min(n, rows[1][j+1]+1, rows[2][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				n = min(n, rows[0][j-1]+1)
			}
			rows[2][j+1] = n
		}
	}
	return rows[2][len(b)]
}
