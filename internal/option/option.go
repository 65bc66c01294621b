// Package option names the options of clew in messages. The library calls an option by the Go field that sets it. A
// program whose options are flags calls AsFlags, once, before anything else; then all messages name flags.
package option

// Option is an option as messages name it: by its field, or by its flag.
type Option struct{ Field, Flag string }

func (o Option) String() string {
	if asFlags {
		return o.Flag
	}
	return o.Field
}

var asFlags bool

// AsFlags makes all messages of the process name flags.
func AsFlags() { asFlags = true }

// The options that messages name, other than the parameters of models, which name themselves.
var (
	AllClients  = Option{"jepsen.Options.AllClients", "--clients all"}
	ClockError  = Option{"jepsen.Options.ClockError", "--clock-error"}
	Independent = Option{"Options.Independent", "--independent"}
	Keyless     = Option{"Options.Keyless", "--keyless every"}
	Knossos     = Option{"Spec.Knossos", "--semantics knossos"}
	Verify      = Option{"Options.Verify", "--verify"}
	Follow      = Option{"clew.Follow", "--follow"}
	Witness     = Option{"Result.Witness", "--witness"}
	WitnessFile = Option{"Result.WriteWitness", "clew check --witness FILE"}
)
