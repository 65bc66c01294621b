(** Small histories that form a pattern, and the same with one change, which do not. A proposal may name any operations, so these are about the wrong ones, too. *)

From Coq Require Import List PArith ZArith.
From Clew Require Import History Order Reigns Models Cycles_Examples.
From Clew Require Elements Holders Sums Spec_Registers Spec_Containers Spec_Counter Spec_Others.
Import ListNotations.
Open Scope positive_scope.

Definition proves (v : verdict) : bool := match v with Accepted => true | _ => false end.
Definition crashed {call} (called : positive) (c : call) : op call unit := Op called c Crashed.
Definition opened {call} (called : positive) (c : call) : op call unit := Op called c (Open tt).

(** A stale read: of 5 after 6, which is there from 4 to 5. The first value of all is 1. *)
Module Of_registers.
Import Spec_Registers.
Definition w (called returned v : positive) := ok called returned (write 1 v).
Definition r (called returned v : positive) := ok called returned (read 1 v).
Definition stale_ (v u : positive) (first : option positive) (later first' later' : positive) (h : list (op (list micro) unit)) : bool :=
  proves (stale_of_numbers (1, PM.empty _) (Stale 1 v u first later (Some first') later') h).
Definition simple := stale_ 5 6 (Some 2) 4 4 6.
Example stale_read : simple [w 2 3 5; w 4 5 6; r 6 7 5] = true. Proof. reflexivity. Qed.
Example fresh_read : simple [w 2 3 5; w 4 5 6; r 6 7 6] = false. Proof. reflexivity. Qed.
Example at_the_same_time : simple [w 2 5 5; w 4 9 6; r 6 7 5] = false. Proof. reflexivity. Qed.
Example read_too_early : simple [w 2 3 5; w 4 7 6; r 6 8 5] = false. Proof. reflexivity. Qed.
Example written_again : simple [w 2 3 5; w 4 5 6; r 6 7 5; crashed 8 (write 1 5)] = false. Proof. reflexivity. Qed.
Example the_other_written_again : simple [w 2 3 5; w 4 5 6; r 6 7 5; crashed 8 (write 1 6)] = false. Proof. reflexivity. Qed.
Example never_returned : simple [w 2 3 5; w 4 5 6; opened 6 (read 1 5)] = false. Proof. reflexivity. Qed.
Example same_value : stale_ 5 5 (Some 2) 2 2 4 [w 2 3 5; r 4 5 5] = false. Proof. reflexivity. Qed.
Example of_another_place : simple [w 2 3 5; ok 4 5 (write 2 6); r 6 7 5] = false. Proof. reflexivity. Qed.
Example from_the_start : stale_ 1 6 None 4 4 6 [w 4 5 6; r 6 7 1] = true. Proof. reflexivity. Qed.
Example not_from_the_start : stale_ 5 6 None 4 4 6 [crashed 2 (write 1 5); w 4 5 6; r 6 7 5] = false. Proof. reflexivity. Qed.
Example from_the_start_or_later : stale_ 1 6 None 4 4 6 [crashed 2 (write 1 1); w 4 5 6; r 6 7 1] = false. Proof. reflexivity. Qed.
(** The write of 5 never returned, but it is seen, and was called after 6 was there. *)
Example seen : stale_ 5 6 (Some 2) 9 4 6 [r 2 8 5; w 4 5 6; crashed 6 (write 1 5); r 9 10 6] = true. Proof. reflexivity. Qed.
Example too_early : stale_ 5 6 (Some 2) 9 4 3 [r 2 8 5; crashed 3 (write 1 5); w 4 5 6; r 9 10 6] = false. Proof. reflexivity. Qed.
Example by_one_of_two : stale_ 5 6 (Some 2) 9 4 6 [r 2 8 5; crashed 3 (write 1 5); w 4 5 6; crashed 6 (write 1 5); r 9 10 6] = false. Proof. reflexivity. Qed.
Definition appended : bool := proves (stale_of_strings ([], PM.empty _) (Stale 1 [5] [6] (Some 2) 4 (Some 4) 6)
  [ok 2 3 (write 1 [5]); ok 4 5 (write 1 [6]); ok 6 7 (read 1 [5]); crashed 8 (append 1 [5])]).
Example perhaps_appended : appended = false. Proof. reflexivity. Qed.

(** 5 cannot be there after 6, though it was written twice. *)
Definition gone (seen : option positive) (u by_ : positive) (h : list (op (list micro) unit)) : bool := proves (overwritten_of_numbers (1, PM.empty _) (Unput 1 5 seen u by_) h).
Example overwritten : gone (Some 6) 6 8 [w 2 3 5; w 4 5 5; w 6 7 6; r 8 9 5] = true. Proof. reflexivity. Qed.
Example seen_by_a_read : gone (Some 6) 6 8 [w 2 3 5; w 4 5 5; r 6 7 6; r 8 9 5] = true. Proof. reflexivity. Qed.
Example not_overwritten : gone (Some 6) 6 8 [w 2 3 5; crashed 4 (write 1 5); w 6 7 6; r 8 9 5] = false. Proof. reflexivity. Qed.
Example overwritten_too_late : gone (Some 6) 6 8 [w 2 3 5; w 6 10 6; r 8 9 5] = false. Proof. reflexivity. Qed.
Example itself : gone (Some 6) 5 8 [w 2 3 5; w 6 7 5; r 8 9 5] = false. Proof. reflexivity. Qed.
Example never_written : gone None 1 8 [w 2 3 6; r 8 9 5] = true. Proof. reflexivity. Qed.
Example written_later : gone None 1 8 [r 8 9 5; w 10 11 5] = true. Proof. reflexivity. Qed.
Example perhaps_written : gone None 1 8 [r 8 11 5; crashed 10 (write 1 5)] = false. Proof. reflexivity. Qed.
Example another_start : gone None 6 8 [r 8 9 5] = false. Proof. reflexivity. Qed.
End Of_registers.

(** Elements of containers. *)
Module Of_containers.
Import Spec_Containers.
Definition twice (init : list positive) (peek : option positive) (h : list (op call unit)) : bool := proves (Elements.duplicate init 5 peek h).
Example duplicate : twice [] None [ok 2 3 (Push 5); ok 4 5 (Take 5); ok 6 7 (Take 5)] = true. Proof. reflexivity. Qed.
Example once : twice [] None [ok 2 3 (Push 5); ok 4 5 (Take 5)] = false. Proof. reflexivity. Qed.
Example put_in_twice : twice [] None [ok 2 3 (Push 5); ok 4 5 (Take 5); ok 6 7 (Take 5); crashed 8 (Push 5)] = false. Proof. reflexivity. Qed.
Example there_before : twice [5] None [ok 2 3 (Push 5); ok 4 5 (Take 5); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example not_returned : twice [] None [ok 2 3 (Push 5); ok 4 5 (Take 5); opened 6 (Take 5)] = false. Proof. reflexivity. Qed.
Example drained : twice [] None [ok 2 3 (Push 5); ok 6 7 (Drain [5; 5])] = true. Proof. reflexivity. Qed.
Example peeked : twice [] (Some 6) [ok 2 3 (Push 5); ok 4 5 (Take 5); ok 6 7 (Peek 5)] = true. Proof. reflexivity. Qed.
Example peeked_before : twice [] (Some 4) [ok 2 3 (Push 5); ok 4 7 (Peek 5); ok 5 6 (Take 5)] = false. Proof. reflexivity. Qed.
Example peeked_at_another : twice [] (Some 6) [ok 2 3 (Push 5); ok 4 5 (Take 5); ok 6 7 (Peek 6)] = false. Proof. reflexivity. Qed.

Definition lost_of (k : kind) (init vs : list positive) (i : positive) (h : list (op call unit)) : bool := proves (Elements.lost_element k init vs i h).
Definition lost_ := lost_of Bag [].
Example lost : lost_ [5] 4 [ok 2 3 (Push 5); ok 4 5 Empty] = true. Proof. reflexivity. Qed.
Example lost_from_the_start : lost_of Bag [5] [5] 4 [ok 4 5 Empty] = true. Proof. reflexivity. Qed.
Example not_put_in_yet : lost_ [5] 4 [ok 2 5 (Push 5); ok 4 6 Empty] = false. Proof. reflexivity. Qed.
Example taken_meanwhile : lost_ [5] 4 [ok 2 3 (Push 5); ok 4 6 Empty; ok 5 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example taken_later : lost_ [5] 4 [ok 2 3 (Push 5); ok 4 5 Empty; ok 6 7 (Take 5)] = true. Proof. reflexivity. Qed.
Example taken_by_what_crashed : lost_ [5] 4 [crashed 1 TakeAny; ok 2 3 (Push 5); ok 4 5 Empty] = false. Proof. reflexivity. Qed.
Example two_for_one_that_crashed : lost_ [5; 6] 6 [crashed 1 TakeAny; ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 Empty] = true. Proof. reflexivity. Qed.
Example named_twice : lost_ [5; 5] 4 [crashed 1 TakeAny; ok 2 3 (Push 5); ok 4 5 Empty] = false. Proof. reflexivity. Qed.
Example all_taken_perhaps : lost_ [5; 6] 6 [crashed 1 DrainAny; ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 Empty] = false. Proof. reflexivity. Qed.
Example not_empty : lost_ [5] 4 [ok 2 3 (Push 5); ok 4 5 Idle] = false. Proof. reflexivity. Qed.
Example lower_one : lost_of (Priority (fun v => v)) [] [6] 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = true. Proof. reflexivity. Qed.
Example upper_one : lost_of (Priority (fun v => v)) [] [5] 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example equal_one : lost_of (Priority (fun _ => 1)) [] [6] 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example any_one : lost_of Bag [] [6] 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.

Definition inverted (init vs : list positive) (put_in out : positive) (h : list (op call unit)) : bool := proves (Elements.fifo_inversion init vs put_in out h).
Example inversion : inverted [] [5] 4 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = true. Proof. reflexivity. Qed.
Example in_order : inverted [] [6] 2 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example put_in_meanwhile : inverted [] [5] 4 6 [ok 2 5 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example taken_by_then : inverted [] [5] 4 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 8 (Take 6); opened 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example taken_after : inverted [] [5] 4 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6); ok 8 9 (Take 5)] = true. Proof. reflexivity. Qed.
Example taken_by_a_crashed_one : inverted [] [5] 4 6 [crashed 1 TakeAny; ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example put_in_before : inverted [] [5] 4 6 [crashed 1 (Push 6); ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example there_from_the_start : inverted [6] [5] 4 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example before_itself : inverted [] [6] 4 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.

Definition buried_ (init vs : list positive) (put_in out : positive) (h : list (op call unit)) : bool := proves (Elements.stack_inversion init vs put_in out h).
Example buried : buried_ [] [6] 2 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = true. Proof. reflexivity. Qed.
Example on_top : buried_ [] [5] 4 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example put_on_top_meanwhile : buried_ [] [6] 2 6 [ok 2 5 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example put_on_top_later : buried_ [] [6] 2 4 [ok 2 3 (Push 5); ok 4 7 (Take 5); ok 5 6 (Push 6)] = false. Proof. reflexivity. Qed.
Example taken_off : buried_ [] [6] 2 6 [ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 9 (Take 5); opened 7 (Take 6)] = false. Proof. reflexivity. Qed.
Example taken_off_perhaps : buried_ [] [6] 2 6 [crashed 1 TakeAny; ok 2 3 (Push 5); ok 4 5 (Push 6); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.
Example put_in_again : buried_ [] [6] 2 7 [ok 2 3 (Push 5); ok 4 5 (Push 6); crashed 6 (Push 5); ok 7 8 (Take 5)] = false. Proof. reflexivity. Qed.
Example below : buried_ [6] [6] 2 6 [ok 2 3 (Push 5); ok 6 7 (Take 5)] = false. Proof. reflexivity. Qed.
End Of_containers.

(** Holders. *)
Module Of_locks.
Definition shift (n : Z) := Spec_Counter.Shift n None.
Definition acquire := shift 1.
Definition release := shift (-1).
Definition mutex (c : Holders.claim) (h : list (op Spec_Counter.call unit)) : bool := proves (Holders.number_holders 1 0 c h).
Example two_holders : mutex (Holders.Crowd None) [ok 2 3 acquire; ok 4 5 acquire] = true. Proof. reflexivity. Qed.
Example at_once : mutex (Holders.Crowd None) [ok 2 5 acquire; ok 3 4 acquire] = true. Proof. reflexivity. Qed.
Example one_holder : mutex (Holders.Crowd None) [ok 2 3 acquire; crashed 4 acquire] = false. Proof. reflexivity. Qed.
Example perhaps_released : mutex (Holders.Crowd (Some 2)) [ok 2 3 acquire; crashed 1 release; ok 4 5 acquire] = false. Proof. reflexivity. Qed.
(** What had returned by then counts no more. *)
Example since : mutex (Holders.Crowd (Some 6)) [crashed 2 acquire; ok 4 5 release; ok 6 7 acquire; ok 8 9 acquire] = true. Proof. reflexivity. Qed.
Example since_the_start : mutex (Holders.Crowd None) [crashed 2 acquire; ok 4 5 release; ok 6 7 acquire; ok 8 9 acquire] = false. Proof. reflexivity. Qed.
Example released_meanwhile : mutex (Holders.Crowd (Some 6)) [crashed 2 acquire; ok 4 7 release; ok 6 8 acquire; ok 9 10 acquire] = false. Proof. reflexivity. Qed.
Example not_held : mutex (Holders.NotHeld 1 None) [ok 2 3 release] = true. Proof. reflexivity. Qed.
Example perhaps_held : mutex (Holders.NotHeld 1 None) [crashed 2 acquire; ok 3 4 release] = false. Proof. reflexivity. Qed.
Example released_twice : mutex (Holders.NotHeld 1 (Some 4)) [crashed 1 acquire; ok 4 5 release; ok 6 7 release] = false. Proof. reflexivity. Qed.

Import Spec_Others.Owned.
Definition by_ (owner : positive) (n : Z) := Hold owner n.
Definition owned (l : limit) (c : Holders.claim) (h : list (op call unit)) : bool := proves (Holders.owned_holders l c h).
Definition reentrant := owned (Most 2).
Example second_holder : reentrant (Holders.Second 1 None 4) [ok 2 3 (by_ 1 1); ok 4 5 (by_ 2 1)] = true. Proof. reflexivity. Qed.
Example same_holder : reentrant (Holders.Second 1 None 4) [ok 2 3 (by_ 1 1); ok 4 5 (by_ 1 1)] = false. Proof. reflexivity. Qed.
Example released_by_another : reentrant (Holders.Second 1 None 4) [ok 2 3 (by_ 1 1); crashed 1 (by_ 3 (-1)); ok 4 5 (by_ 2 1)] = true. Proof. reflexivity. Qed.
Example released_by_its_owner : reentrant (Holders.Second 1 None 4) [ok 2 3 (by_ 1 1); crashed 1 (by_ 1 (-1)); ok 4 5 (by_ 2 1)] = false. Proof. reflexivity. Qed.
Example acquired_at_once : reentrant (Holders.Second 1 None 3) [ok 2 5 (by_ 1 1); ok 3 4 (by_ 2 1)] = false. Proof. reflexivity. Qed.
Example a_release : reentrant (Holders.Second 1 None 4) [ok 2 3 (by_ 1 1); ok 4 5 (by_ 2 (-1))] = false. Proof. reflexivity. Qed.
Example permits : owned (Permits 2) (Holders.Second 1 None 4) [ok 2 3 (by_ 1 1); ok 4 5 (by_ 2 1)] = false. Proof. reflexivity. Qed.
Example foreign : reentrant (Holders.NotHeld 2 None) [ok 2 3 (by_ 1 1); ok 4 5 (by_ 2 (-1))] = true. Proof. reflexivity. Qed.
Example too_many : owned (Permits 2) (Holders.Crowd None) [ok 2 3 (by_ 1 1); ok 4 5 (by_ 2 2)] = true. Proof. reflexivity. Qed.
End Of_locks.

(** Balances that no transfers explain. Account 1 begins with 9. *)
Module Of_banks.
Import Spec_Others.Bank.
Open Scope Z_scope.
Definition t (amount : Z) := Transfer 1 2 amount.
Definition finds (mine other : Z) (others : list (op call unit)) : bool :=
  proves (Sums.unexplained [(1%positive, 9)] 7 (others ++ [ok 7 8 (Read [(1%positive, mine); (2%positive, other)])])).
Example wrong : finds 7 2 [ok 2 3 (t 3)] = true. Proof. reflexivity. Qed.
Example right : finds 6 3 [ok 2 3 (t 3)] = false. Proof. reflexivity. Qed.
Example missing : finds 9 0 [ok 2 3 (t 3)] = true. Proof. reflexivity. Qed.
Example perhaps_not : finds 9 0 [crashed 2 (t 3)] = false. Proof. reflexivity. Qed.
Example still_open : finds 9 0 [ok 2 9 (t 3)] = false. Proof. reflexivity. Qed.
Example one_of_two : finds 5 4 [crashed 2 (t 3); crashed 3 (t 4)] = false. Proof. reflexivity. Qed.
Example both : finds 2 7 [crashed 2 (t 3); crashed 3 (t 4)] = false. Proof. reflexivity. Qed.
Example neither : finds 8 1 [crashed 2 (t 3); crashed 3 (t 4)] = true. Proof. reflexivity. Qed.
Example too_late : finds 6 3 [Op 9 (t 3) Crashed] = true. Proof. reflexivity. Qed.
End Of_banks.
