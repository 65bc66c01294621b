(ns jepsen.generator
  "A stand-in: see jepsen.checker beside it. A generator is a function of no
  arguments that returns an op, or nil at its end.")

(defn mix [gens] #((rand-nth gens) nil nil))

(defn limit [n gen]
  (let [left (atom n)]
    #(when-not (neg? (swap! left dec))
       (gen))))

(defn clients [gen] gen)
