(* Coq's numbers of OCaml's, which are trusted: each has its own. *)

open Proved

(* A number shares all but its first digit with others; those that were reserved are only made once. *)
let small = ref [| XH; XH |]
let digit n rest = if n land 1 = 1 then XI rest else XO rest
let reserve n =
  let have = Array.length !small in
  if n >= have then begin
    let more = Array.make (n + 1) XH in
    Array.blit !small 0 more 0 have;
    for i = have to n do more.(i) <- digit i more.(i lsr 1) done;
    small := more end
let rec pos n = if n < Array.length !small then !small.(max n 1) else digit n (pos (n lsr 1))
(* The same digits from the other end, after the first one. Numbers that follow each other are neighbours in a map, since that begins with the last digit. *)
let turned = ref [| XH; XH |]
let rec from_the_other_end n =
  if n < Array.length !turned then !turned.(n)
  else begin
    let half = Array.length !turned in  (* a power of two, as many as have no more digits than those that are there *)
    let one_more i = if i < half / 2 then XO !turned.(i + (half / 2)) else XI !turned.(i) in
    turned := Array.append !turned (Array.init half one_more);
    from_the_other_end n end
let rec int_of_pos = function XH -> 1 | XO p -> 2 * int_of_pos p | XI p -> (2 * int_of_pos p) + 1
let z n = if n = 0 then Z0 else if n > 0 then Zpos (pos n) else Zneg (pos (-n))
let int_of_z = function Z0 -> 0 | Zpos p -> int_of_pos p | Zneg p -> - (int_of_pos p)
