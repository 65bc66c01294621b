(ns knossos.linear
  "A stand-in: see knossos.wgl beside it."
  (:require [knossos.wgl :as wgl]))

(def analysis wgl/analysis)
