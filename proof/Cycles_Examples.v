(** Small histories in which operations contradict each other, and the same with one change, which they leave alone. *)

From Coq Require Import List PArith ZArith.
From Clew Require Import History Order Cycles Facts Models Spec_Others.
From Clew Require Stored.
Import ListNotations.
Open Scope positive_scope.

Definition ok {call} (called returned : positive) (c : call) : op call unit := Op called c (Returned returned tt).

(** Stale read: the append at offset 0 had returned before the log was said to be empty. *)
Definition pair {call state : Type} (p : pattern call state) (init : state) (x y : op call unit) : bool := contradicts_of p init [x; y] x y.
Definition log_pair := pair (log_pattern 1) (Stored.StoredLog.stored ([], 0%Z)).
Definition appended := ok 2 3 (Log.Append 5 (Some 0%Z) None).
Example stale : log_pair appended (ok 4 5 (Log.Tail 0)) = true. Proof. reflexivity. Qed.
Example not_stale : log_pair appended (ok 4 5 (Log.Tail 1)) = false. Proof. reflexivity. Qed.
Example both_at_once : log_pair (ok 2 5 (Log.Append 5 (Some 0%Z) None)) (ok 3 4 (Log.Tail 0)) = false. Proof. reflexivity. Qed.
Example still_open : log_pair (Op 2 (Log.Append 5 (Some 0%Z) None) (Open tt)) (ok 4 5 (Log.Tail 0)) = false. Proof. reflexivity. Qed.

(** Duplicate: an offset is given out twice, in whatever order. *)
Example duplicate : log_pair (ok 2 5 (Log.Append 5 (Some 0%Z) None)) (ok 3 4 (Log.Append 6 (Some 0%Z) None)) = true. Proof. reflexivity. Qed.
Example no_duplicate : log_pair (ok 2 5 (Log.Append 5 (Some 0%Z) None)) (ok 3 4 (Log.Append 6 (Some 1%Z) None)) = false. Proof. reflexivity. Qed.

(** Two reads disagree about an offset. *)
Example disagree : log_pair (ok 2 5 (Log.ReadAt 0 5)) (ok 3 4 (Log.ReadAt 0 6)) = true. Proof. reflexivity. Qed.
Example agree : log_pair (ok 2 5 (Log.ReadAt 0 5)) (ok 3 4 (Log.ReadAt 0 5)) = false. Proof. reflexivity. Qed.

(** Lost element: an append had returned, and a list lacks it. *)
Definition list_pair := pair list_pattern (Stored.StoredLists.stored []).
Example lost : list_pair (ok 2 3 [Lists.Append 1 7]) (ok 4 5 [Lists.Read 1 [8; 6]]) = true. Proof. reflexivity. Qed.
Example not_lost : list_pair (ok 2 3 [Lists.Append 1 7]) (ok 4 5 [Lists.Read 1 [7; 6]]) = false. Proof. reflexivity. Qed.

(** Inversion: two reads have two elements in different orders. *)
Example inverted : list_pair (ok 2 5 [Lists.Read 1 [6; 7]]) (ok 3 4 [Lists.Read 1 [7; 6]]) = true. Proof. reflexivity. Qed.
Example longer : list_pair (ok 2 5 [Lists.Read 1 [7; 6]]) (ok 3 4 [Lists.Read 1 [8; 7; 6]]) = false. Proof. reflexivity. Qed.

(** Two holders of an epoch. *)
Definition lease_pair := pair lease_pattern (Lease.State None (-1) true).
Example two_holders : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Claim 7 (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example one_after_the_other : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Claim 7 (Some 2%Z))) = false. Proof. reflexivity. Qed.

(** The lease was released, or another owner claimed the epoch. *)
Definition released := ok 2 3 (Lease.Release 6 (Some 1%Z)).
Example held_again : lease_pair released (ok 4 5 (Lease.Renew (Some 6) (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example held_in_another_epoch : lease_pair released (ok 4 5 (Lease.Renew (Some 6) (Some 2%Z))) = false. Proof. reflexivity. Qed.
Example held_by_another : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Renew (Some 7) (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example held_unknown : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Renew (Some 7) None)) = false. Proof. reflexivity. Qed.

(** An operation contradicts itself only if nothing made what it shows: an element, or that an owner had the lease. *)
Example itself : log_pair appended appended = false. Proof. reflexivity. Qed.
Definition reads_7 (init : Log.state) (others : list (op Log.call unit)) : bool :=
  let x := ok 4 5 (Log.ReadAt 0 7) in contradicts_of (log_pattern 1) (Stored.StoredLog.stored init) (appended :: others ++ [x]) x x.
Example never_appended : reads_7 ([], 0%Z) [] = true. Proof. reflexivity. Qed.
Example perhaps : reads_7 ([], 0%Z) [Op 3 (Log.Append 7 None None) Crashed] = false. Proof. reflexivity. Qed.
Example elsewhere : reads_7 ([], 0%Z) [Op 3 (Log.Append 7 (Some 1%Z) None) (Open tt)] = true. Proof. reflexivity. Qed.
Example from_the_start : reads_7 ([7], 1%Z) [] = false. Proof. reflexivity. Qed.
Example another_from_the_start : reads_7 ([6], 1%Z) [] = true. Proof. reflexivity. Qed.
Definition held_by_7 (init : Lease.state) (others : list (op Lease.call unit)) : bool :=
  let x := ok 4 5 (Lease.Renew (Some 7) (Some 1%Z)) in contradicts_of lease_pattern init (ok 2 3 (Lease.Claim 6 (Some 1%Z)) :: others ++ [x]) x x.
Definition free := Lease.State None (-1)%Z true.
Example never_claimed : held_by_7 free [] = true. Proof. reflexivity. Qed.
Example in_some_epoch : held_by_7 free [Op 3 (Lease.Claim 7 None) Crashed] = false. Proof. reflexivity. Qed.
Example in_another_epoch : held_by_7 free [Op 3 (Lease.Claim 7 (Some 2%Z)) (Open tt)] = true. Proof. reflexivity. Qed.
Example held_from_the_start : held_by_7 (Lease.State (Some 7) 1 true) [] = false. Proof. reflexivity. Qed.

(** Write skew: two transactions at once, of which each lacks what the other one appended. Not if one shows it. *)
Definition skew (seen : list positive) : list (op (list Lists.micro) unit) :=
  [ok 2 4 [Lists.Read 1 []; Lists.Append 2 8]; ok 3 5 [Lists.Read 2 seen; Lists.Append 1 7]].
Definition each_lacks := [Node 2 None (Denied (ListFacts.Contains 1 7)); Node 3 None (Denied (ListFacts.Contains 2 8))].
Example skewed : list_cycle [] (skew []) each_lacks = Accepted. Proof. reflexivity. Qed.
Example not_skewed : list_cycle [] (skew [8]) each_lacks = Rejected NoCycle 3. Proof. reflexivity. Qed.

(** Two transactions appended to two lists, which show them in different orders. Not if another one appended the same. Neither needs to have returned. *)
Definition orders (others : list Lists.micro) : list (op (list Lists.micro) unit) :=
  [Op 2 [Lists.Append 1 7; Lists.Append 2 7] Crashed; Op 3 [Lists.Append 1 8; Lists.Append 2 8] Crashed; Op 4 others Crashed; ok 5 6 [Lists.Read 1 [8; 7]; Lists.Read 2 [7; 8]]].
Definition in_turn (k v w i : positive) := Node i (Some (ListFacts.Contains k v, 5)) (Needed (ListFacts.Before k v w) (ListFacts.Contains k v) 5).
Example crossed : list_cycle [] (orders []) [in_turn 1 7 8 2; in_turn 2 8 7 3] = Accepted. Proof. reflexivity. Qed.
Example uncertain : list_cycle [] (orders [Lists.Append 2 7]) [in_turn 1 7 8 2; in_turn 2 8 7 3] = Rejected NoCycle 3. Proof. reflexivity. Qed.
Example there_before : list_cycle [(2, [8])] (orders []) [in_turn 1 7 8 2; in_turn 2 8 7 3] = Rejected NoCycle 2. Proof. reflexivity. Qed.
