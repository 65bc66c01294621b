(ns jepsen.generator
  "A stand-in: see jepsen.checker beside it. A generator is a map, which is an op
  once; or a function of the test and a context, which returns an op, :pending, or nil
  at its end. The context is {:thread :client or :nemesis, :busy how many are at work}.")

(declare limit)

(defn op
  "The next op of a generator."
  [gen test context]
  (when gen
    (gen test context)))

(defn- once [gen]
  (if (map? gen)
    (limit 1 (constantly gen))
    gen))

(defn mix [gens]
  (let [gens (mapv once gens)]
    #(op (rand-nth gens) %1 %2)))

(defn limit [n gen]
  (let [left (atom n)
        gen  (once gen)]
    #(when (pos? @left)
       (let [o (op gen %1 %2)]
         (when (map? o)
           (swap! left dec))
         o))))

(defn- only [thread gen]
  (let [gen (once gen)]
    #(when (= thread (:thread %2))
       (op gen %1 %2))))

(defn clients [gen] (only :client gen))

(defn nemesis [of-nemesis of-clients]
  (let [n (only :nemesis of-nemesis)
        c (clients of-clients)]
    #(or (op n %1 %2) (op c %1 %2))))

(defn phases
  "Each generator begins when the operations of the one before it have ended."
  [& gens]
  (let [left (atom (mapv once gens))]
    (fn [test context]
      (when-let [gen (first @left)]
        (or (op gen test context)
            (if (zero? (:busy context))
              (do (swap! left rest)
                  (recur test context))
              :pending))))))
