(** Small histories that the patterns refute, and the same with one change, which they leave alone. *)

From Coq Require Import List PArith ZArith.
From Clew Require Import History Order Patterns Spec_Others.
Import ListNotations.
Open Scope positive_scope.

Definition ok {call} (called returned : positive) (c : call) : op call unit := Op called c (Returned returned tt).

(** Stale read: the append at offset 0 had returned before the log was said to be empty. *)
Definition log_pair := pair (answer := unit) (LogFacts.shows 1) LogFacts.denies.
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
Definition list_pair := pair (answer := unit) ListFacts.shows ListFacts.denies.
Example lost : list_pair (ok 2 3 [Lists.Append 1 7]) (ok 4 5 [Lists.Read 1 [6; 8]]) = true. Proof. reflexivity. Qed.
Example not_lost : list_pair (ok 2 3 [Lists.Append 1 7]) (ok 4 5 [Lists.Read 1 [6; 7]]) = false. Proof. reflexivity. Qed.

(** Inversion: two reads have two elements in different orders. *)
Example inverted : list_pair (ok 2 5 [Lists.Read 1 [6; 7]]) (ok 3 4 [Lists.Read 1 [7; 6]]) = true. Proof. reflexivity. Qed.
Example longer : list_pair (ok 2 5 [Lists.Read 1 [6; 7]]) (ok 3 4 [Lists.Read 1 [6; 7; 8]]) = false. Proof. reflexivity. Qed.

(** Two holders of an epoch. *)
Definition lease_pair := pair (answer := unit) LeaseFacts.shows LeaseFacts.denies.
Example two_holders : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Claim 7 (Some 1%Z))) = true. Proof. reflexivity. Qed.
Example one_after_the_other : lease_pair (ok 2 5 (Lease.Claim 6 (Some 1%Z))) (ok 3 4 (Lease.Claim 7 (Some 2%Z))) = false. Proof. reflexivity. Qed.

(** An operation does not contradict itself. *)
Example itself : log_pair appended appended = false. Proof. reflexivity. Qed.
