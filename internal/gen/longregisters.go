package gen

// LongestText is how many pieces a string has before it is replaced.
const LongestText = 10
