package store

import _ "clew/internal/types" // the models that records name
