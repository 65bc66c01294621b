(** What can happen first, and what cannot, by the initial state and the limits of each data type. *)

From Coq Require Import List PArith ZArith.
From Clew Require Import History Verdicts Models Spec_Registers Spec_Others Cycles_Examples.
From Clew Require Spec_Containers Spec_Counter Spec_Set Spec_Ids.
Import ListNotations.
Open Scope positive_scope.

Definition no_search {call est} : proposals call est := Proposals _ _ (fun _ _ => true) (fun _ => 1) (fun _ _ _ _ => ([], [])) (fun _ => []).
Definition happens {call est claim} (d : data_type call est claim) (calls : list call) : bool :=
  let h := map (fun x => ok (2 * fst x) (2 * fst x + 1) (snd x)) (combine [1; 2; 3] calls) in proves (judge d no_search h (Order (map inv h))).
(** Of two calls, which can happen. *)
Definition first {call est claim} (d : data_type call est claim) (x y : call) : bool * bool := (happens d [x], happens d [y]).

Example value : first (register 1 [(1, 5); (2, 6)]) (read 1 5) (read 1 6) = (true, false). Proof. reflexivity. Qed.
Example value_of_another : first (register 1 [(1, 5); (2, 6)]) (read 2 6) (read 2 5) = (true, false). Proof. reflexivity. Qed.
Example nothing : first (register 1 [(1, 5); (2, 6)]) (read 3 1) (read 3 5) = (true, false). Proof. reflexivity. Qed.
Example last_value : first (register 1 [(1, 5); (1, 6)]) (read 1 6) (read 1 5) = (true, false). Proof. reflexivity. Qed.
Example string : first (kv_of_strings [] [(1, [5; 6])]) (read 1 [5; 6]) (read 1 [5]) = (true, false). Proof. reflexivity. Qed.
Example appended_to : happens (kv_of_strings [] [(1, [5])]) [append 1 [7; 6]; read 1 [7; 6; 5]] = true. Proof. reflexivity. Qed.

Module Of_containers.
Import Spec_Containers.
Example head : first (fifo_queue [5; 6]) (Take 5) (Take 6) = (true, false). Proof. reflexivity. Qed.
Example top : first (stack [5; 6]) (Take 6) (Take 5) = (true, false). Proof. reflexivity. Qed.
Example any : first (unordered_queue [5; 6]) (Take 6) (Take 7) = (true, false). Proof. reflexivity. Qed.
Example highest : first (priority_queue (fun v => v) [5; 6; 5]) (Take 6) (Take 5) = (true, false). Proof. reflexivity. Qed.
Example lowest : first (priority_queue (fun v => 9 - v) [5; 6; 5]) (Take 5) (Take 6) = (true, false). Proof. reflexivity. Qed.
Example once : happens (unordered_queue [5; 6]) [Take 5; Take 5] = false. Proof. reflexivity. Qed.
Example twice : happens (unordered_queue [5; 5]) [Take 5; Take 5] = true. Proof. reflexivity. Qed.
End Of_containers.

Example members : first (growing_set [5; 6]) (Spec_Set.Members [6; 5]) (Spec_Set.Members [5]) = (true, false). Proof. reflexivity. Qed.
Example id : happens ids [Spec_Ids.Id 5; Spec_Ids.Id 5] = false. Proof. reflexivity. Qed.

Open Scope Z_scope.
Definition shift (n : Z) := Spec_Counter.Shift n None.
Example told : first (counter None None 5) (Spec_Counter.Shift 1 (Some 6)) (Spec_Counter.Shift 1 (Some 1)) = (true, false). Proof. reflexivity. Qed.
Example permits : first (counter (Some 0) (Some 2) 0) (shift 2) (shift 3) = (true, false). Proof. reflexivity. Qed.
Example least : first (counter (Some 0) None 1) (shift (-1)) (shift (-2)) = (true, false). Proof. reflexivity. Qed.
Example version : first (versioned_register (3, 5%positive)) (Versioned.Read (Some 3) (Some 5%positive)) (Versioned.Read (Some 0) (Some 5%positive)) = (true, false). Proof. reflexivity. Qed.
Definition hold := Owned.Hold.
Example most : first (owned (Owned.Most 2)) (hold 1 2) (hold 1 3) = (true, false). Proof. reflexivity. Qed.
Example of_all : happens (owned (Owned.Permits 2)) [hold 1 1; hold 2 1] = true. Proof. reflexivity. Qed.
Example of_one : happens (owned (Owned.Most 2)) [hold 1 1; hold 2 1] = false. Proof. reflexivity. Qed.
Definition acquire := Fenced.Acquire 1 0.
Example fenced_twice : happens (fenced 2) [acquire; acquire] = true. Proof. reflexivity. Qed.
Example fenced_once : happens (fenced 1) [acquire; acquire] = false. Proof. reflexivity. Qed.
Example balance : first (bank false [(1%positive, 5)]) (Bank.Transfer 1 2 5) (Bank.Transfer 1 2 6) = (true, false). Proof. reflexivity. Qed.
Example negative_balance : happens (bank true [(1%positive, 5)]) [Bank.Transfer 1 2 6] = true. Proof. reflexivity. Qed.
Example element : first (log 1 [5; 6]%positive) (Log.ReadAt 0 5) (Log.ReadAt 0 6) = (true, false). Proof. reflexivity. Qed.
Example tail : first (log 1 [5; 6]%positive) (Log.Tail 2) (Log.Tail 0) = (true, false). Proof. reflexivity. Qed.
Example no_element : first (log 1 [5; 6]%positive) (Log.ReadAt 2 1) (Log.ReadAt 2 5) = (true, false). Proof. reflexivity. Qed.
Example owner : first (lease (Lease.State (Some 7%positive) 1 true)) (Lease.Renew (Some 7%positive) (Some 1)) (Lease.Renew (Some 7%positive) (Some 2)) = (true, false). Proof. reflexivity. Qed.
Example list : first (list_append [(1, [6; 5])]%positive) [Lists.Read 1 [6; 5]%positive] [Lists.Read 1 [5; 6]%positive] = (true, false). Proof. reflexivity. Qed.

(** The same of patterns. *)
Example two_permits : proves (refute (counter (Some 0) (Some 2) 0) (Holders.Crowd None) [ok 2 3 (shift 1); ok 4 5 (shift 1)]) = false. Proof. reflexivity. Qed.
Example one_permit : proves (refute (counter (Some 0) (Some 1) 0) (Holders.Crowd None) [ok 2 3 (shift 1); ok 4 5 (shift 1)]) = true. Proof. reflexivity. Qed.
Example one_taken : proves (refute (counter (Some 0) (Some 2) 1) (Holders.Crowd None) [ok 2 3 (shift 1); ok 4 5 (shift 1)]) = true. Proof. reflexivity. Qed.
Example no_limit : proves (refute (counter None (Some 1) 0) (Holders.Crowd None) [ok 2 3 (shift 1); ok 4 5 (shift 1)]) = false. Proof. reflexivity. Qed.
Example two_fenced : proves (refute (fenced 2) (Holders.Crowd None) [ok 2 3 acquire; ok 4 5 acquire]) = false. Proof. reflexivity. Qed.
Example one_fenced : proves (refute (fenced 1) (Holders.Crowd None) [ok 2 3 acquire; ok 4 5 acquire]) = true. Proof. reflexivity. Qed.
Example value_from_the_start : proves (refute (register 1 [(1, 5)]%positive) (Reigns.Overwritten (Reigns.Unput 1 6%positive None 5%positive 2)) [ok 2 3 (read 1 6%positive)]) = true. Proof. reflexivity. Qed.
Example another_from_the_start : proves (refute (register 1 [(1, 6)]%positive) (Reigns.Overwritten (Reigns.Unput 1 6%positive None 5%positive 2)) [ok 2 3 (read 1 6%positive)]) = false. Proof. reflexivity. Qed.
