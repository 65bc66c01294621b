package models_test

import _ "clew/internal/types" // the data types
