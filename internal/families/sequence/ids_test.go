package sequence

import (
	"math"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// idsType returns a generator of ids from 0 to 5: A and B are the id.
func idsType(name string, grow bool) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.IDsShape{Growing: grow, Numbers: []int64{math.MinInt64, 0, 1, 2, 30, math.MaxInt64}}, c, want)
		},
		Spec: oracle.Spec{Step: func(dst []string, op models.Op, s string) []string {
			id := string(rune('a' + op.A))
			if strings.Contains(s, id) || grow && s > id {
				return dst
			}
			if grow {
				s = ""
			}
			return append(dst, s+id)
		}},
		Says: func(models.Op) bool { return false },
		// Any operations are a choice.
		Closed: func(*models.Columns, fastpath.Decision) func(oracle.Set) bool {
			return func(oracle.Set) bool { return true }
		},
	}
	for id := range int32(6) {
		k.Completed = append(k.Completed, models.Op{Kind: models.Generate, A: id, B: id})
	}
	k.Crashed = k.Completed[:1]
	k.Like = func(models.Op) []models.Op { return k.Completed }
	return k
}

var idsTypes = []*testkit.Type{idsType("distinct ids", false), idsType("growing ids", true)}

func TestEverySmallGeneratorOfIDs(t *testing.T) {
	testkit.EverySmall(t, 3, 4, (*testkit.Type).Alphabet, idsTypes...)
}

func TestRandomGeneratorsOfIDs(t *testing.T) { testkit.RandomHistories(t, idsTypes...) }

func TestGapsInGeneratorsOfIDsDoNotMatter(t *testing.T) { testkit.GapsDoNotMatter(t, idsTypes...) }

func TestAnIDWithoutANumberIsNotDecided(t *testing.T) {
	d := testkit.Decide(Path, models.IDsShape{Growing: true, Numbers: []int64{7}}, testkit.Columns(
		testkit.At(models.Generate, 0, 0, 0, 1), testkit.At(models.Generate, 1, 1, 2, 3)), fastpath.WantFailure)
	testkit.Expect(t, d, jepsen.Unknown, -1, nil, nil)
}
