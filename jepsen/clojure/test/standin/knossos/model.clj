(ns knossos.model
  "A stand-in for Knossos's models: the plugin knows them by their classes."
  (:refer-clojure :exclude [set]))

(defrecord NoOp [])
(defrecord Register [value])
(defrecord CASRegister [value])
(defrecord MultiRegister [])
(defrecord Mutex [locked?])
(defrecord Set [s])
(defrecord UnorderedQueue [pending])
(defrecord FIFOQueue [pending])

(def noop (->NoOp))
(defn register ([] (->Register nil)) ([x] (->Register x)))
(defn cas-register ([] (->CASRegister nil)) ([x] (->CASRegister x)))
(defn multi-register [m] (map->MultiRegister m))
(defn mutex [] (->Mutex false))
(defn set [] (->Set #{}))
(defn unordered-queue [] (->UnorderedQueue []))
(defn fifo-queue [] (->FIFOQueue clojure.lang.PersistentQueue/EMPTY))
