(ns clew.models-test
  "Models of Knossos's kind that are a test's own: clew asks the JVM for their steps."
  (:require [clew.checker :as clew]
            [clew.checker-test :refer [check file history named pids script speaking-script]]
            [clew.knossos-test :as knossos]
            [clojure.java.io :as io]
            [clojure.java.shell :refer [sh]]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]]
            [jepsen.checker :as checker]
            [jepsen.independent :as independent]
            [knossos.model :as model])
  (:import (java.util Random)))

(defrecord Register [value]
  knossos.model.Model
  (step [_ op]
    (case (:f op)
      :write (Register. (:value op))
      :cas   (let [[from to] (:value op)]
               (if (= from value)
                 (Register. to)
                 (model/inconsistent (str "can't CAS " value " from " from " to " to))))
      :read  (if (or (nil? (:value op)) (= value (:value op)))
               (Register. value)
               (model/inconsistent (str "can't read " (:value op) " from register " value))))))

(defrecord Bag [items]
  knossos.model.Model
  (step [this {:keys [f value]}]
    (case f
      :put  (update this :items conj value)
      :take (if (contains? items value)
              (update this :items disj value)
              (model/inconsistent (str "no " (pr-str value)))))))

(deftest a-model-of-ones-own-is-decided-as-the-built-in-one
  (let [r (Random. 3)]
    (dotimes [_ 150]
      (let [h     (knossos/history r (knossos/objects "cas-register") (+ 2 (.nextInt r 12)))
            what  (juxt :valid? (comp :index :op) (comp :index :previous-ok))
            own   (check {:model (->Register 0), :semantics :knossos} h)
            ours  (check {:model (model/cas-register 0), :semantics :knossos} h)]
        (is (= (what ours) (what own)) (pr-str h own))
        (is (= (set (map (comp :value :value :model) (:configs ours)))
               (set (map (comp :value :model) (:configs own)))))))))

(deftest results-have-the-models-themselves
  (let [test (named "a model of one's own")
        own  (checker/check (clew/linearizable {:model (->Bag #{})}) test (history [0 :put :a] [1 :put "b"] [0 :take :c] [1 :take :a]) {})]
    (is (false? (:valid? own)))
    (is (= 5 (:index (:op own))) (pr-str own))
    (is (= [(->Bag #{:a "b"})] (map :model (:configs own))))
    (is (instance? Bag (:model (first (:configs own)))))
    (is (= [[(->Bag #{:a "b"}) '{:tag knossos.model.Inconsistent, :value {:msg "no :c"}}]] (map #(map :model %) (:final-paths own))))
    (is (= (->Bag #{"b"}) (:model (check {:model (->Bag #{})} (history [0 :put :a] [1 :put "b"] [0 :take :a])))))
    (is (re-find #"no :c" (:explanation own)))
    (is (= {:asked-model "clew.models_test.Bag"} (dissoc (:clew own) :version :independent :semantics)))
    (is (some #(and (= "clew-Bag.svg" (.getName ^java.io.File %)) (re-find #":take :c" (slurp %))) (file-seq (io/file "store"))))))

(deftest values-that-edn-cannot-hold-are-the-models-own
  (let [[a b] [(Object.) (Object.)]
        run   #(check {:model (->Bag #{})} (history [0 :put a] [0 :take %]))]
    (is (true? (:valid? (run a))))
    (is (false? (:valid? (run b))))
    (is (= [[#{a}]] (map #(map (comp :items :model) (butlast %)) (:final-paths (run b)))) "the object itself")))

(deftest keys-have-models-of-ones-own
  (let [h (vec (map-indexed #(assoc %2 :index %1)
                            (concat (for [k [1 2 3], op (history [0 :write 1] [1 :read nil (if (= 2 k) 5 1)])]
                                      (update op :value (partial independent/tuple k))))))]
    (doseq [checker [(clew/independent {:model (->Register nil)}) (independent/checker (clew/linearizable {:model (->Register nil)}))]]
      (let [result (checker/check checker (named "own keys") h {})]
        (is (= [false [2]] ((juxt :valid? :failures) result)) (pr-str result))
        (is (= [(->Register 1)] (map :model (:configs (get-in result [:results 2])))))))))

(defrecord Broken [what]
  knossos.model.Model
  (step [this op]
    (case what
      :throws   (/ 1 0)
      :overflow (model/step this op)
      :nil      nil
      :sleeps   (do (Thread/sleep 100000) this))))

(deftest a-step-that-fails-is-no-verdict
  (doseq [[what says] {:throws "Divide by zero", :overflow "StackOverflowError", :nil "its step returned nil"}]
    (let [result (check {:model (->Broken what)} (history [0 :write 1]))]
      (is (= [:unknown :command-failed] ((juxt :valid? :error) result)))
      (is (str/includes? (:message result) says) (pr-str result))))
  (let [result (check {:model (->Broken :sleeps), :time-limit 200} (history [0 :write 1]))]
    (is (= [:unknown :timeout] ((juxt :valid? :cause) result)) (pr-str result)))
  (is (true? (:valid? (check {:model (->Register 0)} (history [0 :write 1])))) "others go on"))

(defrecord Fifo [items]
  knossos.model.Model
  (step [_ {:keys [f value]}]
    (case f
      :enq (Fifo. (conj items value))
      :deq (if (= value (nth items 0))
             (Fifo. (subvec items 1))
             (model/inconsistent "another one is first")))))

(deftest a-step-that-need-not-happen-may-fail
  (is (true? (:valid? (check {:model (->Fifo [])} (history [0 :enq 1] [0 :deq 1]))))))

(defrecord Long* [items]
  knossos.model.Model
  (step [_ op] (Long*. (vec (range (:value op))))))

(deftest a-state-may-be-of-any-size
  (doseq [n [10000 20000 200000]]
    (let [result (check {:model (->Long* [])} (history [0 :fill n]))]
      (is (true? (:valid? result)) (str n ": " (:message result)))
      (is (= n (count (:items (:model result)))) "the state itself"))))

(defrecord Slow [items]
  knossos.model.Model
  (step [_ op]
    (Thread/sleep 10)
    (Slow. (conj items (:value op)))))

(deftest slow-steps-are-asked-for-as-they-are-needed
  (let [result (check {:model (->Slow #{}), :time-limit 10000} (apply history (for [i (range 40)] [0 :add i])))]
    (is (true? (:valid? result)) (pr-str result))))

(deftest values-of-keys-come-without-the-key
  (doseq [v [7 8]]
    (is (= (= 7 v) (:valid? (check {:model (->Register 7), :independent true}
                                   (for [op (history [0 :read v])] (update op :value (partial independent/tuple 1)))))))))

(defrecord Odd [how items]
  knossos.model.Model
  (step [_ op]
    (case how
      :deep      (Odd. how [(:value op) items])
      :interrupt (throw (InterruptedException. "no"))
      :message   (throw (proxy [RuntimeException] [] (toString [] (throw (Error. "none"))))))))

(deftest what-a-step-throws-hangs-nothing
  (is (true? (:valid? (check {:model (->Odd :deep nil)} (apply history (for [i (range 3000)] [0 :push i]))))))
  (doseq [how [:interrupt :message]]
    (is (= :command-failed (:error (check {:model (->Odd how nil)} (history [0 :push 1])))) how)))

(deftest a-checker-is-made-at-once
  (let [start (System/nanoTime)]
    (clew/linearizable {:model (->Register 0)})
    (is (< (- (System/nanoTime) start) 9e9) "its model is asked for nothing that nobody answers")))

(deftest checks-with-models-of-ones-own-run-side-by-side
  (let [checks (doall (for [i (range 20)]
                        (future (check {:model (if (= 0 (mod i 5)) (->Broken :sleeps) (->Register 0)), :time-limit 5000}
                                       (history [0 :write i] [1 :read nil (if (even? i) i -1)])))))]
    (doseq [[i c] (map-indexed vector checks)]
      (is (= (if (= 0 (mod i 5)) :unknown (even? i)) (:valid? @c)) i))))

(defrecord Killing [kill]
  knossos.model.Model
  (step [this _]
    (kill)
    this))

(deftest a-clew-that-is-killed-is-asked-again
  (let [f      (file ".pids")
        killed (atom false)
        kill   #(when (compare-and-set! killed false true)
                  (sh "kill" "-9" (first (pids f 1))))
        result (check {:model (->Killing kill), :command (speaking-script f)} (history [0 :write 1]))]
    (is (true? (:valid? result)) (pr-str result))
    (is (= [true 2] [@killed (count (pids f 2))]))))

(deftest what-clew-cannot-ask-for
  (is (= :cannot-run (:error (check {:model (->Register 0), :command [(.getPath ^java.io.File (file "-none"))]} (history [0 :write 1])))))
  (let [result (check {:model (->Register 0), :command (script "exit 254")} (history [0 :write 1]))]
    (is (= :cannot-run (:error result)))
    (is (re-find #"serve --stdio" (:message result)))))
