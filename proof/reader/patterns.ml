(* Which operations form a pattern, so that no search is needed. What was proved checks each proposal against the whole history up to the completion that fails,
   so it need not be trusted which operations are proposed. What is trusted is that a proposal is such a check, has the name of its theorem, and gets the initial
   state and the limits of the model. *)

open Lists

open Numbers
open Proved

type 'call propose = ('call, unit) op list -> ('call, unit) op -> (string * (('call, unit) op list -> verdict)) list

let called o = int_of_pos o.inv
let ended o = match ret o with Some t -> int_of_pos t | None -> max_int
let returned o = ret o <> None
let option_list condition x = if condition then [ x ] else []

(* ** Stale reads *)

type ('call, 'value) reign = {
  value : 'value;
  mutable first : ('call, unit) op option;  (* of those that show the value, the one that returned first, *)
  mutable last : ('call, unit) op option;   (* and the one that was called last *)
  mutable putters : ('call, unit) op list }

let stale init initial looks makes refute refute_overwritten part failing =
  let reigns = Hashtbl.create 1000 and unsure = Hashtbl.create 10 in
  let reign p v =
    let key = (int_of_pos p, v) in
    match Hashtbl.find_opt reigns key with
    | Some r -> r
    | None -> let r = { value = v; first = None; last = None; putters = [] } in Hashtbl.replace reigns key r; r in
  let better after o found = match found with Some x when not (after x o) -> found | _ -> Some o in
  let later r o = r.last <- better (fun x o -> called o > called x) o r.last in
  List.iter (fun o ->
      let made = makes o in
      List.iter (fun (p, v) -> match v with
          | Some v -> let r = reign p v in if not (List.memq o r.putters) && List.compare_length_with r.putters 2 < 0 then r.putters <- o :: r.putters
          | None -> Hashtbl.replace unsure (int_of_pos p) ()) made;
      if returned o then
        List.iter (fun (p, v) -> match v with
            | Some v -> let r = reign p v in r.first <- better (fun x o -> ended o < ended x) o r.first; later r o
            | None -> ()) (looks o @ made)) part;
  Hashtbl.iter (fun _ r -> match r.putters with [ o ] -> later r o | _ -> ()) reigns;
  let once p r = not (Hashtbl.mem unsure (int_of_pos p)) && List.length r.putters + (if initial p = r.value then 1 else 0) <= 1 in
  (* The value is there before some operation that shows the other one was called. *)
  let before p r s = match r.first, s.last with
    | _, Some y when initial p = r.value -> Some (None, y.inv)
    | Some x, Some y when ended x < called y -> Some (Some x.inv, y.inv)
    | _ -> None in
  let with_value (p, v) =
    let r = reign p v in
    let with_ (q, _) s found =
      if found <> [] || q <> int_of_pos p || s == r || not (once p s) then found
      else match before p s r with
        | None -> []
        | Some (other_first, this_later) -> match before p r s with
          | None -> []
          | Some (this_first, other_later) ->
            [ "stale_read_sound", refute init { of_place = p; this_value = r.value; other_value = s.value; this_first; other_later; other_first; this_later } ] in
    if once p r then Hashtbl.fold with_ reigns [] else [] in
  (* Nothing can have put the value there since another one was seen, or from the start. *)
  let never (p, v) =
    let seen o = if ended o >= called failing then None else List.find_map (fun (q, u) -> match u with Some u when q = p && u <> v -> Some u | _ -> None) (looks o @ makes o) in
    let latest = List.fold_left (fun found o -> match seen o with
        | Some u when (match found with Some (_, x) -> called o > called x | None -> true) -> Some (u, o)
        | _ -> found) None part in
    let before, other = match latest with Some (u, o) -> Some o.inv, u | None -> None, initial p in
    if latest <> None || other <> v then Some [ "overwritten_sound", refute_overwritten init { at_place_ = p; found_value = v; seen_before = before; seen_value = other; found_by = failing.inv } ]
    else None in
  let shown = List.filter_map (fun (p, v) -> Option.map (fun v -> (p, v)) v) (looks failing @ makes failing) in
  let few = List.filteri (fun i _ -> i < 20) shown in
  match List.concat_map with_value few with [] -> List.concat (List.filter_map never few) | found -> found
let of_numbers init = stale init (lookup init) looks makes_of_numbers stale_of_numbers overwritten_of_numbers
let of_strings init = stale init (lookup init) looks makes_of_strings stale_of_strings overwritten_of_strings

(* ** Containers *)

let container kind init part failing =
  let count = Hashtbl.create 1000 in
  let add v n = Hashtbl.replace count v (n + Option.value (Hashtbl.find_opt count v) ~default:0) in
  let taken o = match o.what with Take v -> [ v ] | Drain vs -> vs | _ -> [] in
  (* How often each value must be there, if those that were put in count; and how many operations may have taken any. *)
  let left ?(init = init) counts =
    Hashtbl.reset count;
    List.iter (fun v -> add v 1) init;
    List.iter (fun o -> match o.what with
        | Push v -> if counts o then add v 1
        | _ -> if o != failing then List.iter (fun v -> add v (-1)) (taken o)) part;
    List.length (List.filter (fun o -> o.what = TakeAny) part) in
  let lost ?init certain name refute =
    let enough = ref (- left ?init certain) and values = ref [] in
    Hashtbl.iter (fun v n -> if n > 0 && name v then (enough := !enough + n; values := v :: !values)) count;
    if !enough > 0 then refute !values else [] in
  let ended_before x o = ended o < called x in
  let element vs = [ "lost_element_sound", lost_element kind init vs failing.inv ] in
  let is_lost v = match kind with
    | Priority rank -> let least = int_of_pos (rank v) in lost (ended_before failing) (fun u -> int_of_pos (rank u) > least) element
    | Fifo | Stack ->
      (match List.filter (fun o -> o.what = Push v) part with
       | [ x ] when kind = Fifo -> lost (ended_before x) (fun u -> u <> v) (fun vs -> [ "fifo_inversion_sound", fifo_inversion init vs x.inv failing.inv ])
       | [ x ] -> lost ~init:[] (fun o -> called o > ended x && ended_before failing o) (fun u -> u <> v) (fun vs -> [ "stack_inversion_sound", stack_inversion init vs x.inv failing.inv ])
       | _ -> [])
    | _ -> [] in
  let duplicate vs peek =
    ignore (left (fun _ -> true));
    List.iter (fun v -> add v (-1)) (taken failing);
    let least = if peek = None then 0 else 1 in
    match List.find_opt (fun v -> Option.value (Hashtbl.find_opt count v) ~default:0 < least) vs with
    | Some v -> [ "duplicate_sound", duplicate init v peek ]
    | None -> [] in
  match failing.what with
  | Take v -> (match duplicate [ v ] None with [] -> is_lost v | found -> found)
  | Peek v -> (match duplicate [ v ] (Some failing.inv) with [] -> is_lost v | found -> found)
  | Drain vs -> duplicate vs None
  | Empty -> lost (ended_before failing) (fun _ -> true) element
  | _ -> []

(* ** Locks *)

(* Since when the sum of what must have been added by then, and may have been taken, is largest; and that sum, and the one since the start. *)
let largest gain part until =
  let certain o = returned o && (match until with Some y -> ended o < called y | None -> true) in
  let own = List.filter (fun o -> match until with Some y -> o != y | None -> true) part in
  let up = List.sort (fun x y -> compare (called y) (called x)) (List.filter (fun o -> gain o > 0 && certain o) own) in
  let down = List.sort (fun x y -> compare (ended y) (ended x)) (List.filter (fun o -> gain o < 0) own) in
  let rec go best from sum up down = match up with
    | [] -> best, from, List.fold_left (fun n o -> n + gain o) sum down
    | o :: rest ->
      let rec lower sum down = match down with d :: others when ended d >= called o -> lower (sum + gain d) others | _ -> sum, down in
      let sum, down = lower sum down in
      let sum = sum + gain o in
      if sum > best then go sum (Some o.inv) sum rest down else go best from sum rest down in
  go min_int None 0 up down

(* More than so much; [known] is what was there at the start, and [least] what may have been there later. *)
let more gain part until known least most claim =
  let best, from, all = largest gain part until in
  if known + all > most then [ claim None ] else if best > min_int && least + best > most then [ claim from ] else []

let numbers most init part _ =
  let gain o = int_of_z o.what.amount in
  List.map (fun c -> "two_holders_sound", number_holders (z most) (z init) c)
    (more gain part None init 0 most (fun from -> Crowd from)
     @ more (fun o -> - gain o) part None (- init) (- most) 0 (fun from -> NotHeld (XH, from)))

let owners name refute owner_and_change most alone part failing =
  let owner o = fst (owner_and_change o.what) and gain o = snd (owner_and_change o.what) in
  let by_owner = Hashtbl.create 100 in
  List.iter (fun o -> Hashtbl.replace by_owner (owner o) (o :: Option.value (Hashtbl.find_opt by_owner (owner o)) ~default:[])) (List.rev part);
  let mine = owner failing in
  let second p own found =
    if found = [] && alone && gain failing > 0 && p <> mine then more gain own (Some failing) 0 0 0 (fun from -> Second (p, from, failing.inv)) else found in
  List.map (fun c -> name, refute c)
    (Hashtbl.fold second by_owner []
     @ more (fun o -> - gain o) (Hashtbl.find by_owner mine) None 0 (- most) 0 (fun from -> NotHeld (mine, from))
     @ more gain part None 0 0 most (fun from -> Crowd from))
let owned limit =
  let most, alone = match limit with Owned.Most n -> int_of_z n, true | Owned.Permits n -> int_of_z n, false in
  fun part failing -> owners "owned_holders_sound" (owned_holders limit) (fun c -> c.Owned.owner, int_of_z c.Owned.change) most alone part failing
let fenced most part failing =
  owners "fenced_holders_sound" (fenced_holders most) (function Fenced.Acquire (o, _) -> o, 1 | Fenced.Release o -> o, -1) (int_of_z most) true part failing

(* ** Balances that no transfers explain. All sums of those that may have happened are tried: at most two for each of them, and one for each balance of all accounts but one. *)
let most_sums = 200_000.0
let bank init part failing = match failing.what with
  | Bank.Read all ->
    let others = perhaps failing part in
    let ways account = 1.0 +. List.fold_left (fun n o -> n +. Float.abs (float_of_int (int_of_z (brings account o)))) 0.0 others in
    let balances = match List.sort (fun a b -> compare b a) (List.map (fun (account, _) -> ways account) all) with _ :: rest -> List.fold_left ( *. ) 1.0 rest | [] -> 1.0 in
    option_list (Float.min balances (2.0 ** float_of_int (List.length others)) <= most_sums) ("unexplained_sound", unexplained init failing.inv)
  | _ -> []
