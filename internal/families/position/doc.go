// Package position decides histories whose operations say where they stand in the order of updates, for any model that
// counts them (models.Positions).
package position
