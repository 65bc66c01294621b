(ns jepsen.generator
  "A stand-in: see jepsen.checker beside it. Generators are values, as in Jepsen since
  0.2. The context is {:thread :client or :nemesis, :busy how many clients are at work}."
  (:refer-clojure :exclude [update]))

(defprotocol Generator
  (update [gen test context event])
  (op [gen test context]))

; A map is an op once, a function returns one as often as it is asked.
(extend-protocol Generator
  nil
  (update [_ _ _ _])
  (op [_ _ _])
  clojure.lang.IPersistentMap
  (update [gen _ _ _] gen)
  (op [gen _ _] [gen nil])
  clojure.lang.Fn
  (update [gen _ _ _] gen)
  (op [gen test context]
    (when-let [o (gen test context)]
      [o gen])))

(defn- all [gens test context event]
  (mapv #(update % test context event) gens))

(defrecord Mix [gens]
  Generator
  (update [_ test context event] (Mix. (all gens test context event)))
  (op [_ test context]
    (let [i (rand-int (count gens))]
      (when-let [[o gen] (op (gens i) test context)]
        [o (Mix. (assoc gens i gen))]))))

(defrecord Limit [left gen]
  Generator
  (update [_ test context event] (Limit. left (update gen test context event)))
  (op [_ test context]
    (when (pos? left)
      (when-let [[o gen] (op gen test context)]
        [o (Limit. (if (= :pending o) left (dec left)) gen)]))))

(defrecord Only [thread gen]
  Generator
  (update [_ test context event] (Only. thread (update gen test context event)))
  (op [this test context]
    (if (= thread (:thread context))
      (when-let [[o gen] (op gen test context)]
        [o (Only. thread gen)])
      [:pending this])))

(defrecord Both [a b]
  Generator
  (update [_ test context event] (Both. (update a test context event) (update b test context event)))
  (op [_ test context]
    (let [[o a' :as from-a] (op a test context)]
      (if (and from-a (not= :pending o))
        [o (Both. a' b)]
        (when-let [[o b'] (or (op b test context) (when from-a [:pending nil]))]
          [o (Both. a' b')])))))

(defrecord Phases [gens]
  Generator
  (update [_ test context event] (Phases. (all gens test context event)))
  (op [this test context]
    (when-let [[gen & more] (seq gens)]
      (if-let [[o gen] (op gen test context)]
        [o (Phases. (cons gen more))]
        (if (zero? (:busy context))
          (op (Phases. more) test context)
          [:pending this])))))

(defn mix [gens] (->Mix (vec gens)))
(defn limit [n gen] (->Limit n gen))
(defn clients [gen] (->Only :client gen))
(defn nemesis [of-nemesis of-clients] (->Both (->Only :nemesis of-nemesis) (clients of-clients)))
(defn phases
  "Each generator begins when the operations of the one before it have ended."
  [& gens]
  (->Phases gens))
