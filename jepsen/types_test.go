package jepsen_test

import _ "clew/internal/types" // whose histories are generated
