(** Small histories in which operations contradict each other, and the same with one change, which they leave alone. *)

From Coq Require Import List PArith ZArith.
From Clew Require Import History Order Cycles Facts Verdicts Models Spec_Others.
Import ListNotations.
Open Scope positive_scope.

Definition ok {call} (called returned : positive) (c : call) : op call unit := Op called c (Returned returned tt).

(** Stale read: the append at offset 0 had returned before the log was said to be empty. *)
Definition proves (v : verdict) : bool := match v with Accepted => true | _ => false end.
Definition contradict {call est fact} (d : data_type call est (list (node (fact := fact)))) (propose : list (op call unit) -> op call unit -> op call unit -> list (node (fact := fact)))
  (h : list (op call unit)) (x y : op call unit) : bool := proves (refute d (propose h x y) h).
Definition log_contradicts (init : list positive) := contradict (log 1 init) (log_proposal 1 (appended init)).
Definition log_pair x y := log_contradicts [] [x; y] x y.
Definition put_in := ok 2 3 (Log.Append 5 (Some 0%Z) None).
Example stale : log_pair put_in (ok 4 5 (Log.Tail 0)) = true. Proof. reflexivity. Qed.
Example not_stale : log_pair put_in (ok 4 5 (Log.Tail 1)) = false. Proof. reflexivity. Qed.
Example both_at_once : log_pair (ok 2 5 (Log.Append 5 (Some 0%Z) None)) (ok 3 4 (Log.Tail 0)) = false. Proof. reflexivity. Qed.
Example still_open : log_pair (Op 2 (Log.Append 5 (Some 0%Z) None) (Open tt)) (ok 4 5 (Log.Tail 0)) = false. Proof. reflexivity. Qed.

(** Duplicate: an offset is given out twice, in whatever order. *)
Example duplicate : log_pair (ok 2 5 (Log.Append 5 (Some 0%Z) None)) (ok 3 4 (Log.Append 6 (Some 0%Z) None)) = true. Proof. reflexivity. Qed.
Example no_duplicate : log_pair (ok 2 5 (Log.Append 5 (Some 0%Z) None)) (ok 3 4 (Log.Append 6 (Some 1%Z) None)) = false. Proof. reflexivity. Qed.

(** Two reads disagree about an offset. *)
Example disagree : log_pair (ok 2 5 (Log.ReadAt 0 5)) (ok 3 4 (Log.ReadAt 0 6)) = true. Proof. reflexivity. Qed.
Example agree : log_pair (ok 2 5 (Log.ReadAt 0 5)) (ok 3 4 (Log.ReadAt 0 5)) = false. Proof. reflexivity. Qed.

(** Lost element: an append had returned, and a list lacks it. *)
Definition list_pair x y := contradict (list_append []) (list_proposal []) [x; y] x y.
Example lost : list_pair (ok 2 3 [Lists.Append 1 7]) (ok 4 5 [Lists.Read 1 [8; 6]]) = true. Proof. reflexivity. Qed.
Example not_lost : list_pair (ok 2 3 [Lists.Append 1 7]) (ok 4 5 [Lists.Read 1 [7; 6]]) = false. Proof. reflexivity. Qed.

(** Inversion: two reads have two elements in different orders. *)
Example inverted : list_pair (ok 2 5 [Lists.Read 1 [6; 7]]) (ok 3 4 [Lists.Read 1 [7; 6]]) = true. Proof. reflexivity. Qed.
Example longer : list_pair (ok 2 5 [Lists.Read 1 [7; 6]]) (ok 3 4 [Lists.Read 1 [8; 7; 6]]) = false. Proof. reflexivity. Qed.

(** A version that is over, a version with two values, and one that was given out twice. *)
Definition versioned_pair x y := contradict (versioned_register (0%Z, 1)) (versioned_proposal (0%Z, 1)) [x; y] x y.
Example over : versioned_pair (ok 2 3 (Versioned.Write (Some 1%Z) 5)) (ok 4 5 (Versioned.Read (Some 0%Z) None)) = true. Proof. reflexivity. Qed.
Example not_over : versioned_pair (ok 2 5 (Versioned.Write (Some 1%Z) 5)) (ok 3 4 (Versioned.Read (Some 0%Z) None)) = false. Proof. reflexivity. Qed.
Example two_values : versioned_pair (ok 2 5 (Versioned.Write (Some 1%Z) 5)) (ok 3 4 (Versioned.Read (Some 1%Z) (Some 6))) = true. Proof. reflexivity. Qed.
Example one_value : versioned_pair (ok 2 5 (Versioned.Write (Some 1%Z) 5)) (ok 3 4 (Versioned.Read (Some 1%Z) (Some 5))) = false. Proof. reflexivity. Qed.
Example another_version : versioned_pair (ok 2 5 (Versioned.Write (Some 1%Z) 5)) (ok 3 4 (Versioned.Read (Some 2%Z) (Some 6))) = false. Proof. reflexivity. Qed.
Example twice : versioned_pair (ok 2 5 (Versioned.Write (Some 1%Z) 5)) (ok 3 4 (Versioned.Write (Some 1%Z) 5)) = true. Proof. reflexivity. Qed.
Example one_by_one : versioned_pair (ok 2 5 (Versioned.Write (Some 1%Z) 5)) (ok 3 4 (Versioned.Write (Some 2%Z) 5)) = false. Proof. reflexivity. Qed.
Example unknown : versioned_pair (ok 2 5 (Versioned.Write None 5)) (ok 3 4 (Versioned.Write (Some 1%Z) 5)) = false. Proof. reflexivity. Qed.

(** A value that nothing wrote, or not in this version. *)
Definition versioned_one (h : list (op Versioned.call unit)) x := contradict (versioned_register (0%Z, 1)) (versioned_proposal (0%Z, 1)) h x x.
Example never_written : versioned_one [ok 4 5 (Versioned.Read None (Some 6))] (ok 4 5 (Versioned.Read None (Some 6))) = true. Proof. reflexivity. Qed.
Example there_at_first : versioned_one [ok 4 5 (Versioned.Read None (Some 1))] (ok 4 5 (Versioned.Read None (Some 1))) = false. Proof. reflexivity. Qed.
Example perhaps_written : versioned_one [Op 2 (Versioned.Write None 6) Crashed; ok 4 5 (Versioned.Read (Some 1%Z) (Some 6))] (ok 4 5 (Versioned.Read (Some 1%Z) (Some 6))) = false. Proof. reflexivity. Qed.
Example written_in_another : versioned_one [ok 2 3 (Versioned.Write (Some 2%Z) 6); ok 4 5 (Versioned.Read (Some 1%Z) (Some 6))] (ok 4 5 (Versioned.Read (Some 1%Z) (Some 6))) = true. Proof. reflexivity. Qed.
Example compared_with_nothing : versioned_one [ok 4 5 (Versioned.Cas None 6 7)] (ok 4 5 (Versioned.Cas None 6 7)) = true. Proof. reflexivity. Qed.

(** Two holders of an epoch. *)
Definition free := Lease.State None (-1)%Z true.
Definition lease_contradicts (init : Lease.state) := contradict (lease init) (lease_proposal init).
Definition lease_pair x y := lease_contradicts free [x; y] x y.
Example two_holders : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Claim 7 (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example one_after_the_other : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Claim 7 (Some 2%Z))) = false. Proof. reflexivity. Qed.

(** The lease was released, or another owner claimed the epoch. *)
Definition released := ok 2 3 (Lease.Release 6 (Some 1%Z)).
Example held_again : lease_pair released (ok 4 5 (Lease.Renew (Some 6) (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example held_in_another_epoch : lease_pair released (ok 4 5 (Lease.Renew (Some 6) (Some 2%Z))) = false. Proof. reflexivity. Qed.
Example held_by_another : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Renew (Some 7) (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example held_unknown : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Renew (Some 7) None)) = false. Proof. reflexivity. Qed.

(** An operation contradicts itself only if nothing made what it shows: an element, or that an owner had the lease. *)
Example itself : log_pair put_in put_in = false. Proof. reflexivity. Qed.
Definition reads_7 (init : list positive) (others : list (op Log.call unit)) : bool :=
  let x := ok 4 5 (Log.ReadAt 0 7) in log_contradicts init (put_in :: others ++ [x]) x x.
Example never_appended : reads_7 [] [] = true. Proof. reflexivity. Qed.
Example perhaps : reads_7 [] [Op 3 (Log.Append 7 None None) Crashed] = false. Proof. reflexivity. Qed.
Example elsewhere : reads_7 [] [Op 3 (Log.Append 7 (Some 1%Z) None) (Open tt)] = true. Proof. reflexivity. Qed.
Example from_the_start : reads_7 [7] [] = false. Proof. reflexivity. Qed.
Example another_from_the_start : reads_7 [6] [] = true. Proof. reflexivity. Qed.
Definition held_by_7 (init : Lease.state) (others : list (op Lease.call unit)) : bool :=
  let x := ok 4 5 (Lease.Renew (Some 7) (Some 1%Z)) in lease_contradicts init (ok 2 3 (Lease.Claim 6 (Some 1%Z)) :: others ++ [x]) x x.
Example never_claimed : held_by_7 free [] = true. Proof. reflexivity. Qed.
Example in_some_epoch : held_by_7 free [Op 3 (Lease.Claim 7 None) Crashed] = false. Proof. reflexivity. Qed.
Example in_another_epoch : held_by_7 free [Op 3 (Lease.Claim 7 (Some 2%Z)) (Open tt)] = true. Proof. reflexivity. Qed.
Example held_from_the_start : held_by_7 (Lease.State (Some 7) 1 true) [] = false. Proof. reflexivity. Qed.

(** Write skew: two transactions at once, of which each lacks what the other one appended. Not if one shows it. *)
Definition skew (seen : list positive) : list (op (list Lists.micro) unit) :=
  [ok 2 4 [Lists.Read 1 []; Lists.Append 2 8]; ok 3 5 [Lists.Read 2 seen; Lists.Append 1 7]].
Definition each_lacks := [Node 2 None (Denied (ListFacts.Contains 1 7)); Node 3 None (Denied (ListFacts.Contains 2 8))].
Example skewed : refute (list_append []) each_lacks (skew []) = Accepted. Proof. reflexivity. Qed.
Example not_skewed : refute (list_append []) each_lacks (skew [8]) = Rejected NoCycle 3. Proof. reflexivity. Qed.

(** Two transactions appended to two lists, which show them in different orders. Not if another one appended the same. Neither needs to have returned. *)
Definition orders (others : list Lists.micro) : list (op (list Lists.micro) unit) :=
  [Op 2 [Lists.Append 1 7; Lists.Append 2 7] Crashed; Op 3 [Lists.Append 1 8; Lists.Append 2 8] Crashed; Op 4 others Crashed; ok 5 6 [Lists.Read 1 [8; 7]; Lists.Read 2 [7; 8]]].
Definition in_turn (k v w i : positive) := Node i (Some (ListFacts.Contains k v, 5)) (Needed (ListFacts.Before k v w) (ListFacts.Contains k v) 5).
Example crossed : refute (list_append []) [in_turn 1 7 8 2; in_turn 2 8 7 3] (orders []) = Accepted. Proof. reflexivity. Qed.
Example uncertain : refute (list_append []) [in_turn 1 7 8 2; in_turn 2 8 7 3] (orders [Lists.Append 2 7]) = Rejected NoCycle 3. Proof. reflexivity. Qed.
Example there_before : refute (list_append [(2, [8])]) [in_turn 1 7 8 2; in_turn 2 8 7 3] (orders []) = Rejected NoCycle 2. Proof. reflexivity. Qed.
