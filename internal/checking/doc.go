// Package checking does what clew check and package api share: it reads what flags or options say of a search, decides a
// history as they say, and tells the warnings. It also does what clew monitor and package api share: the lines about
// anomalies. It knows neither command lines nor requests.
package checking
