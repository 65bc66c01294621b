(* What need not be trusted: a search for the configurations that are checked. *)

open Lists
open Numbers

open Proved

exception Too_hard

(* All of a state: OCaml's own hash only looks at how it begins. *)
let rec whole h x =
  if Obj.is_int x then (h * 31) + Obj.obj x
  else if Obj.tag x >= Obj.no_scan_tag || Obj.size x = 0 then (h * 31) + Hashtbl.hash x
  else begin
    let last = Obj.size x - 1 and h = ref ((h * 31) + Obj.tag x) in
    for i = 0 to last - 1 do h := whole !h (Obj.field x i) done;
    whole !h (Obj.field x last) end

(* Whether a state is another one than those that were kept, which are the ones of the call before, and perhaps one more at the front. Of many, only
   those with the same hash are compared. *)
let distinct c =
  let known = ref [] and table = Hashtbl.create 1000 in
  let add e = Hashtbl.add table (whole 0 (Obj.repr e)) e in
  fun kept e -> match e with
    | [ e ] when List.compare_length_with kept 10 < 0 -> not (List.exists (fun k -> c.eqb_of k e) kept)
    | [ e ] ->
      if kept != !known then begin
        if List.tl kept == !known then add (List.hd kept) else (Hashtbl.reset table; List.iter add kept);
        known := kept end;
      not (List.exists (fun k -> c.eqb_of k e) (Hashtbl.find_all table (whole 0 (Obj.repr e))))
    | _ -> true

(* What a configuration shares with those that cover it: the state, and which operations that return have happened. *)
let shared required (e, d) = (e, List.filter required d)
let number c = Hashtbl.hash_param 1000 4000 c land 0x3fffffff
let hash required c = pos (number (shared required c) + 1)

(* Of configurations, each with what has happened in it and what it is compared with. States may be large,
   so a search also ends after so many seconds of processor time. *)
let limit = 10_000_000
let patience = 20.0

let search (type call est) (c : (call, est) checker) required =
  let worked = ref 0 and begun = Sys.time () in
  let module Seen = Hashtbl.Make (struct
      type t = est config
      let equal (e, d) (e', d') = d = d' && c.eqb_of e e'
      let hash = number
    end) in
  fun (watched : ((call, unit) op * (call, unit) op list) list) (pending : (call, unit) op list) (target : (call, unit) op) (layer : est config list) ->
    let free = Seen.create 64, ref [] and pledged = Seen.create 64, ref [] in
    (* Those in which fewer operations that never return have happened come first, since they cover others. *)
    let todo = Array.make (List.length pending + 1) [] and level = ref 0 in
    let reach exactly ((seen, found) as kind) ((e, d) as config) =
      let key = shared required config in
      let others = try Seen.find seen key with Not_found -> [] in
      if not (List.exists (fun d' -> if exactly then d' = d else under pending d' d) others) then begin
        worked := !worked + 1 + List.length d + List.length others;
        if !worked > limit || Sys.time () -. begun > patience then raise Too_hard;
        Seen.replace seen key (d :: others);
        found := config :: !found;
        if not (has d target) then begin
          let n = List.length d - List.length (snd key) in
          todo.(n) <- (kind == free, config) :: todo.(n);
          if n < !level then level := n end
      end in
    let idle e left = List.find_opt (fun o -> ret o <> None && c.pure_of o.what (known o) && c.next_of e o.what (known o) <> []) left in
    let sees = sees c.moves_of in
    let each left f =
      let tried = ref [] in
      List.iter (fun o ->
          let o = best c.same_of left o in
          if not (List.memq o !tried) then begin tried := o :: !tried; f o end) left in
    let next e d o kind = List.iter (fun e -> reach false kind (e, insert o.inv d)) (c.next_of e o.what (known o)) in
    List.iter (reach false free) layer;
    while !level < Array.length todo do
      match todo.(!level) with
      | [] -> incr level
      | (is_free, (e, d)) :: rest ->
        todo.(!level) <- rest;
        let left = left_ pending (e, d) in
        let others = besides target left in
        let at_once (y, later) = not (has d y) && List.for_all (fun z -> not (sees y z)) (besides y left) && List.for_all (fun z -> not (sees y z)) later in
        if not (doomed c.hopeless_of watched left (e, d)) then
          match idle e (if is_free then left else others) with
          | Some o -> reach true free (e, insert o.inv d)
          | None when is_free ->
            (match List.find_opt at_once watched with
             | Some (y, _) -> next e d y free
             | None when List.for_all (sees target) others -> each left (fun o -> next e d o free)
             | None -> next e d target free; reach false pledged (e, d))
          | None ->
            let seeing, blind = List.partition (sees target) others in
            if not (List.for_all (fun y -> c.hopeless_of e y [] others) seeing) then
              if List.for_all (fun o -> List.for_all (fun z -> not (sees o z)) blind) seeing then each seeing (fun o -> next e d o free)
              else each others (fun o -> next e d o (if sees target o then free else pledged))
    done;
    !(snd free), !(snd pledged)

(* The operations that return, in the order of their returns. *)
let targets ops =
  let returned = List.filter_map (fun o -> match ret o with Some t -> Some (int_of_pos t, t, o.inv) | None -> None) ops in
  List.map (fun (_, t, i) -> (t, i)) (List.sort (fun (a, _, _) (b, _, _) -> compare a b) returned)

(* [required] says which operations return. *)
let proposals c required = { distinct = distinct c; hash = hash required; search = search c required; targets }
