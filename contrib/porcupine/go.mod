module clew/contrib/porcupine

go 1.25.0

require (
	clew v0.0.0
	github.com/anishathalye/porcupine v1.3.1
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	olympos.io/encoding/edn v0.0.0-20201019073823-d3554ca0b0a3 // indirect
)

replace clew => ../../
