;; Answers for the test beside it: clojure.main ask.clj QUESTIONS. A line of QUESTIONS is a
;; form in Base64, and is answered by its hash, or by - if Clojure does not read it; or it is
;; "= I J", about the forms of two lines. That is answered by = (true or false), compare (-1,
;; 0, 1, or - if it throws), and compare again with numbers as exact as they are.
(require '[clojure.edn :as edn] '[clojure.string :as str])

(defrecord Unknown [tag form])

(defn parse [text]
  ;; A fresh NaN each time, as programs compute them: Clojure's reader always gives one object.
  (let [in (java.io.PushbackReader. (java.io.StringReader. (str/replace text "##NaN" "#clew/nan 0")))
        options {:readers {'clew/nan (fn [_] (Double. Double/NaN))} :default ->Unknown :eof ::end}
        form (edn/read options in)]
    (if (or (= ::end form) (not= ::end (edn/read options in)))
      (throw (RuntimeException. "not one form"))
      form)))

(defn exact [x]
  (if (and (double? x) (not (Double/isInfinite x)) (not (Double/isNaN x)))
    (rationalize (BigDecimal. (double x)))
    (if (decimal? x) (rationalize x) x)))

(defn compare-exactly [x y]
  (compare x y) ; It throws where that does.
  (cond
    (and (number? x) (number? y))
    (cond (or (not (== x x)) (not (== y y))) (throw (ArithmeticException. "NaN"))
           (or (= ##Inf x) (= ##-Inf y)) (if (= x y) 0 1)
          (or (= ##-Inf x) (= ##Inf y)) (if (= x y) 0 -1)
          :else (compare (exact x) (exact y)))
    (and (vector? x) (vector? y) (= (count x) (count y)))
    (or (first (remove zero? (map (fn [x y]
                                    (let [c (Long/signum (compare-exactly x y))]
                                      (if (= c (Long/signum (compare x y))) c (throw (ArithmeticException. "inexact")))))
                                  x y)))
        0)
    :else (compare x y)))

(defn sign [f x y]
  (try (Long/signum (f x y)) (catch Throwable _ "-")))

(let [forms (java.util.ArrayList.)
      decoder (java.util.Base64/getDecoder)]
  (with-open [in (clojure.java.io/reader (first *command-line-args*))]
    (doseq [line (line-seq in)]
      (if (str/starts-with? line "= ")
        (let [[i j] (map parse-long (rest (str/split line #" ")))
              x (.get forms i), y (.get forms j)]
          (println (= x y) (sign compare x y) (sign compare-exactly x y)))
        (let [form (try (parse (String. (.decode decoder ^String line) "UTF-8")) (catch Throwable _ ::unreadable))]
          (.add forms form)
          (println (if (= ::unreadable form) "-" (hash form))))))))
