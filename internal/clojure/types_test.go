package clojure

import _ "clew/internal/types" // whose order of values is held against Clojure's
