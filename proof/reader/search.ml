(* What need not be trusted: a search for the configurations that are checked. *)

open Lists

open Proved

exception Too_hard

let rec pos n = if n <= 1 then XH else if n land 1 = 1 then XI (pos (n lsr 1)) else XO (pos (n lsr 1))
let rec int_of_pos = function XH -> 1 | XO p -> 2 * int_of_pos p | XI p -> (2 * int_of_pos p) + 1
let z n = if n = 0 then Z0 else if n > 0 then Zpos (pos n) else Zneg (pos (-n))

let number c = Hashtbl.hash_param 60 250 c land 0x3fffffff
let hash c = pos (number c + 1)
let distinct c kept e = match e with [ e ] -> not (List.exists (fun k -> c.eqb_of k e) kept) | _ -> true

let limit = 1_000_000

let search (type call est) (c : (call, est) checker) =
  let worked = ref 0 in
  fun (pending : (call, unit) op list) (target : (call, unit) op) (layer : est config list) ->
    let module Seen = Hashtbl.Make (struct
        type t = est config
        let equal (e, d) (e', d') = d = d' && c.eqb_of e e'
        let hash = number
      end) in
    let seen = Seen.create 64 and found = ref [] and todo = Stack.create () in
    let reach config =
      if not (Seen.mem seen config) then begin
        incr worked;
        if !worked > limit then raise Too_hard;
        Seen.add seen config ();
        found := config :: !found;
        if not (has (snd config) target) then Stack.push config todo
      end in
    List.iter reach layer;
    while not (Stack.is_empty todo) do
      let (e, d) = Stack.pop todo in
      let left = List.filter (fun o -> not (has d o)) pending in
      let idle = List.find_opt (fun o -> c.pure_of o.what (known o) && c.next_of e o.what (known o) <> []) left in
      match idle with
      | Some o -> reach (e, insert o.inv d)
      | None ->
        let tried = ref [] in
        List.iter (fun o ->
            let o = best c.same_of left o in
            if not (List.memq o !tried) then begin
              tried := o :: !tried;
              List.iter (fun e -> reach (e, insert o.inv d)) (c.next_of e o.what (known o))
            end) left
    done;
    !found

(* The operations that return, in the order of their returns. *)
let targets ops =
  let returned = List.filter_map (fun o -> match ret o with Some t -> Some (int_of_pos t, t, o.inv) | None -> None) ops in
  List.map (fun (_, t, i) -> (t, i)) (List.sort (fun (a, _, _) (b, _, _) -> compare a b) returned)
