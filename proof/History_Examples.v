(** What the definitions of History.v say about small histories of a register. *)

From Coq Require Import List PArith Lia.
From Clew Require Import History.
Import ListNotations.
Open Scope positive_scope.

(** What a read saw is part of its call, so the answer is always [tt]. A read does not happen where the register has another value. *)
Inductive call := Write (v : nat) | Read (saw : nat).
Definition step (s : nat) (c : call) (_ : unit) (s' : nat) : Prop := match c with Write v => s' = v | Read v => s = v /\ s' = s end.

Definition ok (called returned : positive) (c : call) : op call unit := Op called c (Returned returned tt).
Definition crashed (called : positive) (c : call) : op call unit := Op called c Crashed.
Definition Good (h : list (op call unit)) : Prop := Linearizable step 0%nat h.

(** To prove that a history is linearizable is to name a linearization. *)
Ltac happens := first [repeat split; reflexivity | exists tt; repeat split; reflexivity].
Ltac linearized os := exists os; constructor;
  [ repeat constructor; simpl; intuition discriminate
  | intros ?; simpl; tauto
  | intros ? H; simpl in H; intuition (subst; simpl in *; tauto)
  | repeat split; simpl; intuition (subst; match goal with P : precedes _ _ |- _ => destruct P as (? & R & L); try discriminate R; injection R as <-; discriminate L end)
  | repeat (eapply run_cons; [happens|]); apply run_nil ].

(** To prove that it is not is to go through all orders of its operations: a step is impossible, an operation happens twice, one stands before
another one that it must follow, or one that returned is missing. *)
Ltac refuted_by := match goal with
  | D : NoDup _ |- _ => solve [repeat match goal with D : NoDup (_ :: _) |- _ => inversion_clear D end; simpl in *; intuition congruence]
  | T : in_time _ |- _ => solve [simpl in T; unfold precedes in T; decompose [and] T;
      match goal with H : forall y, _ -> ~ _ |- _ => eapply H; [simpl; eauto|eexists; split; reflexivity] end]
  | X : run _ _ _ |- _ => solve [unfold ok, crashed in *;
      repeat match goal with X : run _ _ (_ :: _) |- _ => inversion X; clear X; subst end;
      unfold effect, acts, step in *; simpl in *;
      repeat match goal with S : exists _, _ |- _ => destruct S | S : _ /\ _ |- _ => destruct S end; subst; congruence]
  end.
Ltac missing R h := match h with
  | ?x :: ?h => first [solve [exfalso; let H := fresh in assert (H := R x ltac:(simpl; tauto) ltac:(discriminate)); simpl in H; intuition discriminate] | missing R h]
  end.
Ltac orders os := match goal with R : forall o, In o ?h -> _, I : incl os _ |- _ =>
  destruct os as [|? os]; [missing R h|];
  let E := fresh in pose proof (I _ (or_introl eq_refl)) as E; apply incl_cons_inv in I; destruct I as [_ I]; simpl in E;
  repeat (destruct E as [E|E]; [subst; try refuted_by; orders os|]); destruct E end.
Ltac refuted := let os := fresh in intros (os & [D I R T X]); orders os.

(** One after the other. *)
Example a_read_sees_what_was_written : Good [ok 1 2 (Write 5); ok 3 4 (Read 5)].
Proof. linearized [ok 1 2 (Write 5); ok 3 4 (Read 5)]. Qed.
Definition stale := [ok 1 2 (Write 5); ok 3 4 (Read 0)].
Example a_stale_read : ~ Good stale.
Proof. unfold stale. refuted. Qed.

(** At the same time, a read sees what was there before or after. *)
Example at_once_the_new : Good [ok 1 4 (Write 5); ok 2 3 (Read 5)].
Proof. linearized [ok 1 4 (Write 5); ok 2 3 (Read 5)]. Qed.
Example at_once_the_old : Good [ok 1 4 (Write 5); ok 2 3 (Read 0)].
Proof. linearized [ok 2 3 (Read 0); ok 1 4 (Write 5)]. Qed.
Example but_not_both : ~ Good [ok 1 6 (Write 5); ok 2 3 (Read 5); ok 4 5 (Read 0)].
Proof. refuted. Qed.

(** A write that crashed happened, or did not, or happens later, but only once. *)
Example crashed_and_happened : Good [crashed 1 (Write 5); ok 2 3 (Read 5)].
Proof. linearized [crashed 1 (Write 5); ok 2 3 (Read 5)]. Qed.
Example crashed_and_did_not : Good [crashed 1 (Write 5); ok 2 3 (Read 0)].
Proof. linearized [ok 2 3 (Read 0)]. Qed.
Example crashed_and_happened_later : Good [crashed 1 (Write 5); ok 2 3 (Read 0); ok 4 5 (Read 5)].
Proof. linearized [ok 2 3 (Read 0); crashed 1 (Write 5); ok 4 5 (Read 5)]. Qed.
Example crashed_and_happened_once : ~ Good [crashed 1 (Write 5); ok 2 3 (Read 5); ok 4 5 (Write 6); ok 6 7 (Read 5)].
Proof. refuted. Qed.
Example not_before_its_call : ~ Good [ok 1 2 (Read 5); crashed 3 (Write 5)].
Proof. refuted. Qed.

(** The first failing completion is the stale read's, and not the one after it. *)
Example the_first_failure : FirstFailure step 0%nat (stale ++ [ok 5 6 (Read 0)]) 4.
Proof.
  split; [simpl; refuted|]. intros before L.
  assert (before = 1 \/ before = 2 \/ before = 3) as [-> | [-> | ->]] by lia; simpl; [linearized (@nil (op call unit))|linearized [ok 1 2 (Write 5)]..].
Qed.
