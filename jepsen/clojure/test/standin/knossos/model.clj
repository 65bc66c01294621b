(ns knossos.model
  "A stand-in for Knossos's models: the plugin knows them by their classes."
  (:refer-clojure :exclude [set]))

(defprotocol Model
  (step [model op]))

(defrecord Inconsistent [msg]
  Model
  (step [this _] this))

(defn inconsistent [msg] (->Inconsistent msg))
(defn inconsistent? [model] (instance? Inconsistent model))

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

(defn- saw [now seen] (or (nil? seen) (= now seen)))

(defn- without [bag x]
  (let [[before from] (split-with #(not= x %) bag)]
    (sort (concat before (rest from)))))

(defn- stepped
  "The model after an operation, nil if that is inconsistent."
  [model {:keys [f value]}]
  (case [(symbol (.getSimpleName (class model))) f]
    ([Register :read] [CASRegister :read])   (when (saw (:value model) value) model)
    ([Register :write] [CASRegister :write]) (assoc model :value value)
    [CASRegister :cas]         (when (= (first value) (:value model)) (assoc model :value (second value)))
    [MultiRegister :txn]       (reduce (fn [m [f k v]]
                                         (cond
                                           (= :write f)  (assoc m k v)
                                           (saw (get m k) v) m
                                           :else         (reduced nil)))
                                       model value)
    [Mutex :acquire]           (when-not (:locked? model) (assoc model :locked? true))
    [Mutex :release]           (when (:locked? model) (assoc model :locked? false))
    [Set :add]                 (update model :s conj value)
    [Set :read]                (when (= (:s model) value) model)
    [UnorderedQueue :enqueue]  (update model :pending #(sort (conj % value)))
    [UnorderedQueue :dequeue]  (when (some #{value} (:pending model)) (update model :pending without value))
    [FIFOQueue :enqueue]       (update model :pending conj value)
    [FIFOQueue :dequeue]       (when (and (some? value) (= value (peek (:pending model)))) (update model :pending pop))))

(extend-type Object
  Model
  (step [model op]
    (or (stepped model op) (inconsistent (str (pr-str op) " in " (pr-str model))))))
