package forms

import _ "clew/internal/types" // whose histories are generated
