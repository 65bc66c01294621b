(ns clew.testfile-test
  "Writes tests as Jepsen stores them (test.jepsen), with the Fressian that Jepsen
  uses, and has clew read them back. `run` beside this folder runs it. With the
  arguments `write FOLDER` it writes the files that the tests of clew itself read."
  (:require [clojure.data.fressian :as fress]
            [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.java.shell :refer [sh]]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]])
  (:import (java.io ByteArrayOutputStream File RandomAccessFile)
           (java.nio ByteBuffer)
           (java.util ArrayList HashSet)
           (java.util.zip CRC32)
           (org.fressian Writer)
           (org.fressian.handlers WriteHandler)))

;; What Jepsen has classes for

(defrecord Op [index time type process f value])
(defrecord BlockRef [id])
(defrecord Register [value])
(deftype DateTime [text])
(deftype MultiSet [multiplicities])
(deftype OldVector [items])
(deftype Strange [tag fields])

(defn op "An op of a map." [m] (map->Op m))

(defn tagged [tag fields]
  (reify WriteHandler
    (write [_ w x]
      (let [xs (fields x)]
        (.writeTag ^Writer w tag (count xs))
        (doseq [x xs] (.writeObject ^Writer w x))))))

(def handlers
  (-> {clojure.lang.Atom              {"atom" (tagged "atom" (fn [a] [@a]))}
       DateTime                       {"date-time" (tagged "date-time" (fn [d] [(.text ^DateTime d)]))}
       MultiSet                       {"multiset" (tagged "multiset" (fn [s] [(.multiplicities ^MultiSet s)]))}
       OldVector                      {"vec" (tagged "vec" (fn [v] [(.items ^OldVector v)]))}
       java.time.Instant              {"instant" (tagged "instant" (fn [i] [(str i)]))}
       Throwable                      {"throwable" (tagged "throwable" (fn [t] [(Throwable->map t)]))}
       clojure.lang.PersistentHashSet {"persistent-hash-set" (tagged "persistent-hash-set" (fn [s] [(seq s)]))}
       clojure.lang.PersistentTreeSet {"persistent-sorted-set" (tagged "persistent-sorted-set" (fn [s] [(seq s)]))}
       clojure.lang.MapEntry          {"map-entry" (tagged "map-entry" (fn [e] [(key e) (val e)]))}
       BlockRef                       {"block-ref" (tagged "block-ref" (fn [r] [(:id r)]))}
       Byte                           {"byte" (reify WriteHandler
                                                (write [_ w b] (.writeTag ^Writer w "byte" 1) (.writeInt ^Writer w (short b))))}
       Strange                        {"any" (reify WriteHandler
                                               (write [_ w x]
                                                 (.writeTag ^Writer w (.tag ^Strange x) (count (.fields ^Strange x)))
                                                 (doseq [f (.fields ^Strange x)] (.writeObject ^Writer w f))))}
       Op                             {"jepsen.history.Op"
                                       (reify WriteHandler
                                         (write [_ w o]
                                           (doto ^Writer w
                                             (.writeTag "jepsen.history.Op" 7)
                                             (.writeInt (:index o))
                                             (.writeInt (:time o))
                                             (.writeObject (:type o) true)
                                             (.writeObject (:process o))
                                             (.writeObject (:f o) true)
                                             (.writeObject (:value o))
                                             (.writeObject (not-empty (dissoc (into {} o) :index :time :type :process :f :value))))))}}
      (merge fress/clojure-write-handlers)
      fress/associative-lookup
      fress/inheritance-lookup))

(defn fressian
  "The bytes of objects in one stream. ::reset and ::footer are what they say."
  [objects]
  (let [out (ByteArrayOutputStream.)
        w   (fress/create-writer out :handlers handlers)]
    (doseq [x objects]
      (case x
        ::reset  (.resetCaches ^org.fressian.FressianWriter w)
        ::footer (.writeFooter ^Writer w)
        (fress/write-object w x)))
    (.toByteArray out)))

;; Blocks

(def types {:index 1, :fressian 2, :partial-map 3, :stream 4, :big-vector 5})

(defn block [type ^bytes data]
  (let [header (fn [crc] (-> (ByteBuffer/allocate 28)
                             (.putLong (+ 28 (alength data))) (.putInt crc) (.putShort (types type)) .array))
        crc    (doto (CRC32.) (.update data) (.update ^bytes (header 0)))]
    (byte-array (concat (header (unchecked-int (.getValue crc))) data))))

(defn numbers "Numbers, each [bits n], one after another." [& pairs]
  (let [buffer (ByteBuffer/allocate (/ (reduce + (map first pairs)) 8))]
    (doseq [[bits n] pairs]
      (if (= 64 bits) (.putLong buffer n) (.putInt buffer n)))
    (.array buffer)))

(defn write-file
  "Writes a test as Jepsen does while it runs: the test, then chunk after chunk of
  its history, each with a new vector of chunks and a new index, then the results
  and the test again. With `:killed`, the last chunk is not finished, and nothing
  comes behind it."
  [path test chunks & {:keys [results version killed] :or {version 1}}]
  (let [f      (doto (RandomAccessFile. (io/file path) "rw") (.setLength 0))
        blocks (atom (sorted-map))
        root   (atom 0)
        id!    #(inc (reduce max 0 (keys @blocks)))
        put!   (fn [id type data]
                 (let [at (.length f)]
                   (swap! blocks assoc id at)
                   (.seek f at)
                   (.write f ^bytes (block type data))
                   id))
        index! (fn []
                 (let [id (id!), at (.length f)]
                   (swap! blocks assoc id at)
                   (put! id :index (apply numbers [32 @root] (mapcat (fn [[id at]] [[32 id] [64 at]]) @blocks)))
                   (.seek f 10)
                   (.writeLong f at)))
        test!  (fn [test] (reset! root (put! (id!) :fressian (fressian [test]))) (index!))]
    (.write f (byte-array (concat (.getBytes "JEPSEN") (numbers [32 version] [64 0]))))
    (let [history (put! (id!) :fressian (fressian [(when (zero? version) (apply concat chunks))]))
          test    (assoc test :history (->BlockRef (int history)))]
      (test! test)
      (when (= 1 version)
        (loop [chunks chunks, first 0, entries []]
          (when-let [chunk (clojure.core/first chunks)]
            (let [id (id!), data (fressian chunk)]
              (if (and killed (not (next chunks)))
                (do (.seek f (+ 28 (.length f))) (.write f ^bytes data))
                (let [entries (conj entries [64 first] [32 id])
                      next    (+ first (count (remove keyword? chunk)))]
                  (put! id :stream data)
                  (put! history :big-vector (apply numbers [64 next] entries))
                  (index!)
                  (recur (rest chunks) next entries)))))))
      (when-not killed
        (test! test)
        (if-not results
          (test! test)
          (let [more (put! (id!) :partial-map (byte-array (concat (numbers [32 0]) (fressian [(dissoc results :valid?)]))))
                id   (put! (id!) :partial-map (byte-array (concat (numbers [32 more]) (fressian [(select-keys results [:valid?])]))))]
            (test! (assoc test :results (->BlockRef (int id))))))))
    (.close f)))

(defn write-edn [path ops]
  (spit path (str/join (map (fn [o] (str (pr-str (if (string? o) (symbol o) (into {} o))) "\n")) ops))))

;; Histories

(defn register
  "A history of n operations of a register by 10 processes, of which some crash and
  some fail. Each value is written once."
  [n]
  (->> (range n)
       (mapcat (fn [i]
                 (let [write? (even? i)
                       o      {:process (mod i 10), :f (if write? :write :read)}
                       v      (* 2 (quot i 2))]
                   [(assoc o :type :invoke, :value (when write? v))
                    (case (int (mod i 97))
                      13 (if write? (assoc o :type :info, :value v, :error "no answer") (assoc o :type :fail, :value nil, :error [:not-found "no such key"]))
                      (assoc o :type :ok, :value v, :node (str "n" (inc (mod i 5)))))])))
       (map-indexed (fn [i o] (assoc o :index i, :time (* 54321 i))))
       (map op)))

(def values
  "Values, and how they print if that is not what pr says."
  (let [keys (map #(keyword (str "key-" %)) (range 40))]
    (concat
      (for [n [0 1 63 64 4095 4096 524287 524288 33554431 33554432 8589934591 8589934592 2199023255551 2199023255552 140737488355327
               562949953421311 562949953421312 Long/MAX_VALUE], n [n (- n)]]
        [n])
      [[Long/MIN_VALUE] [nil] [true] [false] [12N] [-12N] [99999999999999999999N] [-99999999999999999999N] [(biginteger 5)] [(biginteger -256)]
       [1/2] [-22/7] [(/ 99999999999999999999N 7)]
       [1.5M] [-1.50M] [0M] [1E+3M] [1e400M] [0.000001M] [0.0000001M] [123.456M] [-0.05M]
       [0.0] [1.0] [-0.0] [1.5] [-1e300] [1e-7] [1e7] [##Inf] [##-Inf] [(float 0.1)] [(float 1e10)]
       [\a] [\space] [\newline] [\é] [\( "\\("] [(char 1) "\\u0001"]
       [""] ["a"] ["seven 7"] ["eight 88"] ["a \"quoted\"\n\ttext\\"] ["é ü ß"] ["\uD83D\uDE00 smiles"] [(apply str (repeat 20000 "long "))] [(apply str (repeat 30000 "é\uD83D\uDE00"))]
       [:a] [:a/b] [:nil] ['a] ['a/b] ['clojure.core$map$fn__5851] ['<init>] [(keyword "a b") "#keyword \"a b\""] [(symbol "a b") "#symbol \"a b\""]
       [[]] [[1 [2 [3]]]] ['()] ['(1 2)] [(map inc [1 2])] [(vec (range 20))] [(ArrayList. [1 2]) "[1 2]"] [(->OldVector [1 2]) "[1 2]"]
       [#{}] [#{1 2}] [#{:a #{nil}}] [(sorted-set 3 1 2)] [(sorted-set)] [(HashSet. [1 2]) "#{1 2}"]
       [{}] [{:a 1}] [{[1] {nil #{1}}}] [(zipmap (range 40) (range 40 80))] [(zipmap keys keys)] [(zipmap keys (reverse keys))]
       [(first {:a 1})] [(->MultiSet {:a 2, :b 1}) "#multiset {:a 2, :b 1}"]
       [(->Register 5) "#clew.testfile_test.Register{:value 5}"] [(->Register (->Register nil)) "#clew.testfile_test.Register{:value #clew.testfile_test.Register{:value nil}}"]
       [#inst "2025-06-23T19:42:00.476Z"] [#inst "1969-12-31T23:59:59.999Z"]
       [(java.time.Instant/parse "2025-06-23T19:42:00.476Z") "#inst \"2025-06-23T19:42:00.476Z\""]
       [(->DateTime "20250623T194200.476Z") "#inst \"2025-06-23T19:42:00.476Z\""] [(->DateTime "20250623T214200.476+0200") "#inst \"2025-06-23T19:42:00.476Z\""]
       [#uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"] [#"a.b" "#\"a.b\""] [(java.net.URI. "http://a/b") "#uri \"http://a/b\""]
       [(byte -3)] [(short 300)] [(int 70000)] [(atom [1]) "#atom [1]"]
       (let [t (doto (ex-info "broken" {:a 1}) (.setStackTrace (make-array StackTraceElement 0)))]
         [t (str "#error " (pr-str (Throwable->map t)))])
       [(byte-array [1 -1 0]) "#bytes [1 -1 0]"] [(byte-array 70000 (byte 1)) (str "#bytes " (vec (repeat 70000 1)))]
       [(int-array [1 -1]) "#ints [1 -1]"] [(long-array [1 -1]) "#longs [1 -1]"] [(float-array [0.1]) "#floats [0.1]"] [(double-array [0.1 1]) "#doubles [0.1 1.0]"]
       [(boolean-array [true false]) "#booleans [true false]"] [(object-array [1 :a]) "#objects [1 :a]"]
       [(->Strange "strange" [1 [2]]) "#strange [1 [2]]"] [(->Strange "a b" [1]) "#fressian [\"a b\" [1]]"]
       [(op {:index 1, :time 2, :type :ok, :process 3, :f :read, :value 4, :node "n1"}) "{:index 1, :time 2, :type :ok, :process 3, :f :read, :value 4, :node \"n1\"}"]
       [(->BlockRef 5) "#block-ref [5]"]])))

(defn of-values
  "A history with each of the values in an op, and the same as text: in :value, and
  under another key."
  []
  (->> values
       (mapcat (fn [[x & [text]]]
                 (let [text (or text (pr-str x))]
                   [[{:type :invoke, :process 0, :f :write, :value x} text nil]
                    [{:type :ok, :process 0, :f :write, :value x, :error x} text text]])))
       (map-indexed (fn [i [o value error]]
                      [(op (assoc o :index i, :time (* 1000 i)))
                       (str "{:index " i ", :time " (* 1000 i) ", :type " (:type o) ", :process 0, :f :write, :value " value
                            (when error (str ", :error " error)) "}")]))))

(defn results
  "What checkers say of a history of a register whose last operation read a value."
  [ops]
  (let [op (last ops)]
    {:valid? true
     :perf   {:valid? true}
     :linear {:valid?      true
              :analyzer    :linear
              :configs     [{:model (->Register (:value op)), :last-op op, :pending []}]
              :final-paths #{}}}))

(defn write-all
  "Writes the files that clew's own tests read."
  [folder]
  (let [file #(io/file folder %)]
    (.mkdirs (io/file folder))
    (let [ops (filter #(< (count (second %)) 5000) (of-values))]
      (write-file (file "values.jepsen") {:name "values"}
                  [(concat (take 100 (map first ops)) [::reset] (take 20 (drop 100 (map first ops))) [::footer] (drop 120 (map first ops)))])
      (write-edn (file "values.edn") (map second ops)))
    (let [ops (register 100)]
      (write-file (file "chunks.jepsen") {:name "chunks"} (partition-all 80 ops) :results (results ops))
      (write-file (file "killed.jepsen") {:name "killed"} (partition-all 80 ops) :killed true)
      (write-file (file "version0.jepsen") {:name "old"} [(map #(into {} (dissoc % :index)) ops)] :version 0)
      (write-edn (file "chunks.edn") ops))))

;; Tests

(defn clew [& args]
  (let [{:keys [exit out err]} (apply sh "clew" args)]
    (when (str/blank? out) (println err))
    {:exit exit, :out out, :err err}))

(defn converted
  "The ops that clew reads in a file, as EDN lines."
  [path]
  (str/split-lines (:out (clew "convert" "--to" "edn" (str path)))))

(def readers {:default tagged-literal, :readers {'clew.testfile_test.Register map->Register}})

(deftest values-are-read-as-they-print
  (let [ops  (of-values)
        path (File/createTempFile "values" ".jepsen")]
    (write-file path {:name "values"} [(map first ops)])
    (let [lines (converted path)]
      (is (= (count ops) (count lines)))
      (doseq [[line [o text]] (map vector lines ops)
              :when (not (re-find #"#\"|##" text))] ; which Clojure's reader of EDN does not read, or calls different
        (is (= (edn/read-string readers text) (edn/read-string readers line)) (subs text 0 (min 200 (count text))))))))

(deftest a-long-history-is-read-in-its-chunks
  (let [ops  (vec (register 50000))
        path (File/createTempFile "long" ".jepsen")]
    (write-file path {:name "long"} (partition-all 16384 ops) :results (results ops))
    (is (= (map #(into {} %) ops) (map edn/read-string (converted path))))
    (is (= 0 (:exit (clew "check" "--model" "register" (str path)))))
    (is (re-find #"^clew: .* the file is cut off"
                 (do (with-open [f (RandomAccessFile. path "rw")] (.setLength f (- (.length f) 100000)))
                     (:err (clew "check" "--model" "register" (str path))))))))

(defn -main [& args]
  (if (= "write" (first args))
    (do (write-all (second args)) (shutdown-agents))
    (let [{:keys [pass fail error]} (clojure.test/run-tests 'clew.testfile-test)]
      (shutdown-agents)
      (System/exit (if (and (pos? pass) (zero? (+ fail error))) 0 1)))))
