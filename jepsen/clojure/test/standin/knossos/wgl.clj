(ns knossos.wgl
  "A stand-in for Knossos's searches: all configurations after each event, without
  any cleverness."
  (:require [knossos.model :as model]))

(defn- operations
  "The history's events as [:invoke op] and [:ok op completion] in order, where op
  has the value that counts. Failed operations are left out."
  [history]
  (let [ends (loop [open {}, ends {}, [e & more] history]
               (cond
                 (nil? e)               ends
                 (= :invoke (:type e)) (recur (assoc open (:process e) (:index e)) ends more)
                 :else                  (recur (dissoc open (:process e)) (assoc ends (open (:process e)) e) more)))
        from (into {} (map (fn [[i e]] [(:index e) i])) ends)
        by-i (into {} (map (juxt :index identity)) history)
        of   (fn [i] (let [end (ends i)]
                       (cond-> (select-keys (by-i i) [:index :f :value])
                         (= :ok (:type end)) (assoc :value (:value end)))))]
    (for [e history
          :let [i (if (= :invoke (:type e)) (:index e) (from (:index e)))]
          :when (not= :fail (:type (ends i)))
          :when (#{:invoke :ok} (:type e))]
      [(:type e) (of i) e])))

(defn- closed
  "All configurations [model, ops not yet linearized] that some can become."
  [configs]
  (loop [seen configs, fresh configs]
    (let [next (into #{} (comp (mapcat (fn [[m pending]]
                                         (for [op pending
                                               :let [m' (model/step m op)]
                                               :when (not (model/inconsistent? m'))]
                                           [m' (disj pending op)])))
                               (remove seen))
                     fresh)]
      (if (empty? next)
        seen
        (recur (into seen next) next)))))

(defn analysis [model history _]
  (loop [configs #{[model #{}]}, previous nil, [[type op e] & more] (operations history)]
    (if (nil? type)
      {:valid? true}
      (if (= :invoke type)
        (recur (into #{} (map (fn [[m pending]] [m (conj pending op)])) configs) previous more)
        (let [left (into #{} (remove (fn [[_ pending]] (pending op))) (closed configs))]
          (if (empty? left)
            {:valid? false, :op e, :previous-ok previous}
            (recur left e more)))))))
