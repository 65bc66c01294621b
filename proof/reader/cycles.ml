(* What need not be trusted: why the operations that a certificate names come one before the other. It is proposed here, and tried on the operations that it is about. *)

open Lists

open Numbers
open Proved
open Proved.Lists
open Proved.ListFacts

let appends o = List.filter_map (function Append (k, v) -> Some (k, v) | Read _ -> None) o.what
let reads o = List.filter_map (function Read (k, vs) -> Some (k, List.rev vs) | Append _ -> None) o.what
let once ops = List.fold_left (fun kept o -> if List.memq o kept then kept else o :: kept) [] ops

(* The nodes of a cycle of operations, in their order; or, if they are those of another anomaly, of a cycle that they take part in. *)
let nodes init history in_order named =
  let initially k = match List.find_opt (fun (j, _) -> j = k) init with Some (_, vs) -> List.rev vs | None -> [] in
  let appended = Hashtbl.create 1000 and longest = Hashtbl.create 100 in
  let makers k v = try Hashtbl.find appended (int_of_pos k, int_of_pos v) with Not_found -> [] in
  let longest_of k = Hashtbl.find_opt longest (int_of_pos k) in
  List.iter (fun o ->
      List.iter (fun (k, v) -> Hashtbl.replace appended (int_of_pos k, int_of_pos v) (once (o :: makers k v))) (appends o);
      List.iter (fun (k, vs) -> match longest_of k with
          | Some (_, n, _) when List.compare_length_with vs n <= 0 -> ()
          | _ -> Hashtbl.replace longest (int_of_pos k) (o, List.length vs, vs)) (reads o)) history;
  let about f = match f with Contains (k, v) | Before (k, _, v) -> makers k v | Starts _ -> [] in
  let holds x y others because =
    let facts = match because with Time -> [] | Denied f | Made f | Unmade f -> [ f ] | Needed (f, g, _) -> [ f; g ] in
    list_before init (once (x :: y :: others @ List.concat_map about facts)) x y because in
  (* If it did not return, it occurred if a read shows what only it appended. *)
  let node x because =
    let reader (k, v) = match makers k v, longest_of k with
      | [ _ ], Some (z, _, vs) when mem v vs -> Some (Contains (k, v), z.inv)
      | [ _ ], _ -> Option.map (fun z -> Contains (k, v), z.inv) (List.find_opt (fun o -> List.exists (fun (j, vs) -> j = k && mem v vs) (reads o)) history)
      | _ -> None in
    { who = x.inv; seen_by = (if returned x then None else List.find_map reader (appends x)); because } in

  (* Why x comes before y, perhaps by way of another operation. *)
  let link x y =
    let proposed =
      [ Time ]
      @ List.map (fun (k, v) -> Denied (Contains (k, v))) (appends y)
      @ List.map (fun (k, v) -> Made (Contains (k, v))) (appends x)
      @ List.map (fun (k, vs) -> Denied (Starts (k, vs))) (reads y)
      @ List.map (fun (k, _) -> Denied (Starts (k, initially k))) (reads x) in
    let both = List.concat_map (fun (k, v) -> List.filter_map (fun (j, w) -> if j = k then Some (k, v, w) else None) (appends y)) (appends x) in
    (* A read shows what both appended, or only what x did. *)
    let order (k, v, w) =
      let there = Contains (k, v) and last = longest_of k in
      let shows z = let because = Needed (Before (k, v, w), there, z.inv) in if holds x y [ z ] because then Some [ node x because ] else None in
      match List.find_map shows (Option.to_list (Option.map (fun (z, _, _) -> z) last) @ named), last with
      | None, Some (z, _, _) when holds x z [] (Made there) && holds z y [] (Denied (Contains (k, w))) -> Some [ node x (Made there); node z (Denied (Contains (k, w))) ]
      | found, _ -> found in
    match List.find_opt (holds x y []) proposed with
    | Some because -> Some [ node x because ]
    | None -> List.find_map order both in

  (* Elements of a read that something may be wrong with: nothing appended them, or they stand there twice, or behind what the operation itself
     appended, or an earlier read of it lacks them. *)
  let odd x =
    let before = Hashtbl.create 4 and own = Hashtbl.create 4 in
    List.concat_map (function
        | Append (k, v) -> Hashtbl.replace own (k, v) (); []
        | Read (k, vs) ->
          let vs = List.rev vs in
          let seen = Hashtbl.create 10 and behind = ref false in
          let earlier = Hashtbl.find_opt before k in
          let found = List.filter_map (fun v ->
              let twice = Hashtbl.mem seen v and mine = Hashtbl.mem own (k, v) in
              Hashtbl.replace seen v ();
              behind := !behind || mine;
              let lacking = match earlier with Some e -> not (Hashtbl.mem e v) | None -> false in
              if twice then Some (Before (k, v, v))
              else if makers k v = [] || (!behind && not mine) || lacking then Some (Contains (k, v)) else None) vs in
          Hashtbl.replace before k seen;
          found) x.what in
  let circle ops = match ops with
    | [] -> []
    | first :: rest -> List.concat (List.map2 (fun x y -> match link x y with Some nodes -> nodes | None -> [ node x Time ]) ops (rest @ [ first ])) in
  if in_order then circle named
  else begin
    let unmade, made = List.partition (fun (_, f) -> about f = []) (List.concat_map (fun x -> List.map (fun f -> x, f) (odd x)) named) in
    match List.find_opt (fun (x, f) -> holds x x [] (Unmade f)) unmade with
    | Some (x, f) -> [ node x (Unmade f) ]
    | None ->
      let few = List.filteri (fun i _ -> i < 100) made in
      let all = once (named @ List.concat_map (fun (_, f) -> about f) few) in
      let round x y = match link x y with Some there when x != y -> Option.map (fun back -> there @ back) (link y x) | found -> found in
      match List.find_map (fun x -> List.find_map (round x) (x :: named)) all with Some nodes -> nodes | None -> circle named end
