package text

import (
	"slices"
	"strconv"
	"strings"
)

// OneOf returns a list in words, such as "text, edn or json".
func OneOf(list []string) string { return joined(list, " or ") }

// AllOf returns a list in words, such as "junit, sarif and github".
func AllOf(list []string) string { return joined(list, " and ") }

func joined(list []string, word string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + word + list[last]
}

// Count returns a number of things in words: "1 operation", "2 operations".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// DidYouMean returns a question about an unknown word, with a blank at its end: "did
// you mean --model? ". It returns "" if no known word is like it.
func DidYouMean(word string, known []string) string {
	if like := similar(word, known); len(like) > 0 {
		return "did you mean " + OneOf(like) + "? "
	}
	return ""
}

// IsLike says whether a word is another one with a few mistakes in it.
func IsLike(word, known string) bool {
	allowed := 1
	if len(known) >= longWord {
		allowed = 2
	}
	return mistakes([]rune(word), []rune(known)) <= allowed
}

// similar returns the known words that are like a word. These are the words that
// differ only in case and separators, or else those with the fewest mistakes.
// Failing that, they are the words that contain it, as fifo-queue contains queue.
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

// longestWord is how many bytes a mistyped word has at most.
const longestWord = 100

// longWord is how many characters a word needs to allow two mistakes.
const longWord = 6

// plain returns a name without the marks of a keyword or a flag, in lower case,
// with its parts separated by dashes.
func plain(name string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimLeft(name, ":-")))
}

// mistakes returns how many characters must be inserted, left out, replaced, or
// swapped with the next one to turn a into b.
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
