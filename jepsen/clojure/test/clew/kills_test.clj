(ns clew.kills-test
  "Kills the JVM of a test, or clew in the middle of checks, at random moments. No process
  may be left after two seconds, no event that was acknowledged may be lost, and no verdict
  may be wrong. The tests do so a few times; for more,

    MAIN=clew.kills-test test/run 100 900 7

  kills 100 JVMs, and clew 900 times, from seed 7."
  (:require [clew.checker :as clew]
            [clew.checker-test :refer [bad check eventually file good hard in-jvm running? script stored]]
            [clew.scenarios-test :refer [cas checked op r register run w]]
            [clew.watch :as watch]
            [clojure.java.io :as io]
            [clojure.java.shell :refer [sh]]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]]
            [jepsen.generator :as gen])
  (:import (java.io File FileOutputStream OutputStream)
           (java.util Random)))

;; The JVM

(deftype Acknowledged [inner ^OutputStream out]
  gen/Generator
  (op [_ test context]
    (when-let [[op inner] (gen/op inner test context)]
      [op (Acknowledged. inner out)]))
  (update [_ test context event]
    (let [inner (gen/update inner test context event)]
      (.write out (.getBytes (str (:start-time test) "\n")))
      (Acknowledged. inner out))))

(defn endless
  "A watched test that does not end. Its first wrong operation is the n-th; for every
  event that the watch has seen there is a line in a file."
  [name acknowledged command n]
  (let [i       (atom 0)
        options {:model :cas-register, :init 0, :command command}]
    (run name (register 0)
         (Acknowledged. (watch/watch options (gen/clients (fn [_ _]
                                                            (if (= n (swap! i inc))
                                                              (op :cas [7 8] :lost)
                                                              ((rand-nth [r w cas]))))))
                        (FileOutputStream. ^String acknowledged))
         (clew/linearizable options))))

(defn lines [^File f] (if (.exists f) (str/split-lines (slurp f)) []))

(defn kill-jvm!
  "Kills a JVM up to a second after its test has begun. Returns what is wrong then, nil
  if nothing is."
  [^Random random i]
  (let [name    (str "killed " i)
        pids    (file ".pids")
        acked   (file ".acked")
        command (script (str "echo $$ >> " (.getAbsolutePath ^File pids)) "exec clew \"$@\"")
        n       (if (.nextBoolean random) (.nextInt random 300) -1)
        log     (file ".log")
        jvm     (in-jvm `(do (require '~'clew.kills-test)
                             ((resolve '~'clew.kills-test/endless) ~name ~(.getAbsolutePath ^File acked) ~command ~n))
                        log)]
    (try
      (when-not (eventually #(seq (remove str/blank? (lines acked))))
        (throw (Exception. ^String (slurp log))))
      (Thread/sleep (.nextInt random 1000))
      (.destroyForcibly jvm)
      (.waitFor jvm)
      (let [_        (eventually #(not-any? running? (lines pids)))
            left     (filterv running? (lines pids))
            known    (lines acked)
            test     {:name name, :start-time (first known)}
            recorded (slurp (stored test "clew.jsonl"))
            wrong?   (re-find #"\"type\":\"ok\",\"f\":\"cas\",\"value\":\{\"edn\":\"\[7 8\]\"\}.*\n" recorded)
            result   (checked test "--model" "cas-register" "--init" "0")]
        (cond
          (seq left)                                             {:left left}
          (< (get-in result [:stats :events] 0) (count known))   {:acknowledged (count known), :result result}
          (not= (not wrong?) (:valid? result))                   {:wrong wrong?, :result result}))
      (finally
        (.destroyForcibly jvm)
        (run! #(sh "kill" "-9" %) (filter running? (lines pids)))))))

;; Clew

(defn kill-clew!
  "Kills the process that decides checks while it has four of them. Returns the verdicts
  that are wrong, nil if none is."
  [^Random random]
  (let [checks (doall (for [[h verdict] [[good true] [bad false] [(vec (take 40 hard)) true] [bad false]]
                            :let [model (if (< 10 (count h)) :multi-register :register)]]
                        [verdict (future (check {:model model} h))]))]
    (Thread/sleep 0 (.nextInt random 1000000))
    (Thread/sleep (.nextInt random 10))
    (doseq [{:keys [^Process process]} (remove keyword? (vals @@#'clew/residents))]
      (.destroyForcibly process))
    (seq (for [[verdict result] checks
               :when (not= verdict (:valid? @result))]
           [verdict @result]))))

(defn clew-faults [kills random] (doall (remove nil? (repeatedly kills #(kill-clew! random)))))
(defn jvm-faults [kills random] (doall (keep #(kill-jvm! random %) (range kills))))

(deftest nothing-is-lost-when-jvm-or-clew-is-killed
  (let [random (Random.)]
    (is (empty? (clew-faults 20 random)))
    (is (empty? (jvm-faults 3 random)))))

(defn -main [jvms clews seed]
  (let [random (Random. (Long/parseLong seed))
        wrong  (for [[what kills faults] [["clew" clews clew-faults] ["JVMs" jvms jvm-faults]]
                     :let [start (System/nanoTime)
                           wrong (faults (Long/parseLong kills) random)]]
                 (do (println kills "kills of" what "in" (quot (- (System/nanoTime) start) 1000000000) "s:" (count wrong) "faults")
                     (run! prn wrong)
                     (count wrong)))
        code   (if (zero? (apply + wrong)) 0 1)]
    (shutdown-agents)
    (System/exit code)))
