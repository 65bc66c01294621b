package gen

// LongElements is how many elements take as many bytes as an event.
const LongElements = 12
