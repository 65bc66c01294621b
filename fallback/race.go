package fallback

import (
	"context"

	"clew/internal/limits"
	"clew/models"
)

// Race runs engines side by side, each with its share of the memory, and takes
// the first verdict: a Relay without turns.
type Race []Engine

// Name implements Engine.
func (Race) Name() string { return "competition" }

// Decide implements Engine.
func (r Race) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) Answer {
	return Relay{Engines: r}.Decide(ctx, ops, lim)
}
