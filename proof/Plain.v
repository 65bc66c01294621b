(** Data types whose states are represented by themselves, and of which only operations that change nothing may be left out of a core. *)

From Coq Require Import List PArith Bool.
From Clew Require Import History Order Core Projection Check.
Import ListNotations.

Section Plain.
Context {state call : Type}.
Variable does : state -> call -> state -> Prop.
Variable outcomes : state -> call -> list state.
Variable state_eqb : state -> state -> bool.
Variable call_eqb : call -> call -> bool.
Variable idle : call -> bool.
Hypothesis outcomes_spec : forall s c s', In s' (outcomes s c) <-> does s c s'.
Hypothesis state_eqb_sound : forall s s', state_eqb s s' = true -> s = s'.
Hypothesis call_eqb_sound : forall c c', call_eqb c c' = true -> c = c'.
Hypothesis idle_sound : forall s c s', idle c = true -> does s c s' -> s' = s.

Definition step (s : state) (c : call) (_ : unit) (s' : state) : Prop := does s c s'.
Definition next (s : state) (c : call) (_ : option unit) : list state := outcomes s c.
Definition same (c : call) (k : option unit) (c' : call) (k' : option unit) : bool :=
  match k, k' with Some _, Some _ | None, None => call_eqb c c' | _, _ => false end.
Definition pure (c : call) (_ : option unit) : bool := idle c.
Definition abs (e s : state) : Prop := e = s.
Definition restrict := only_idle (est := state) pure.

Lemma acts_does c k s s' : acts step c k s s' <-> does s c s'.
Proof. destruct k as [[]|]; simpl; unfold step; split; auto; [now intros (_ & ?)|intros; now exists tt]. Qed.
Lemma idle_pure : PureSound step pure.
Proof. intros c k s s' P H%acts_does. eapply idle_sound; eauto. Qed.
Theorem laws : Laws step next abs state_eqb same pure restrict.
Proof.
  constructor.
  - intros e s c k e' <- H. exists e'. split; [|easy]. now apply acts_does, outcomes_spec.
  - intros e s c k s' <- H%acts_does. exists s'. split; [|easy]. now apply outcomes_spec.
  - intros e e' s H%state_eqb_sound A. unfold abs in *. congruence.
  - intros c k c' k' H. destruct k as [[]|], k' as [[]|]; try easy; split; auto.
  - exact idle_pure.
  - apply only_idle_sound, idle_pure.
Qed.
End Plain.

(** A call that may happen before another one, if it happens right after it. *)
Section Moves.
Context {state call : Type}.
Variable does : state -> call -> state -> Prop.
Variable earlier : call -> call -> bool.
Hypothesis earlier_ok : forall x y s s1 s2, earlier x y = true -> does s y s1 -> does s1 x s2 -> exists s1', does s x s1' /\ does s1' y s2.
Definition moves (x : call) (_ : option unit) (y : call) (_ : option unit) : bool := earlier x y.
Lemma moves_sound : MovesSound (step does) moves.
Proof.
  intros x k y l s s1 s2 M Hy%acts_does Hx%acts_does. destruct (earlier_ok _ _ _ _ _ M Hy Hx) as (s1' & ? & ?). exists s1'. split; now apply acts_does.
Qed.
End Moves.
