(** Generated ids: each differs from all before, or is greater. Any operation may be left out of a core. *)

From Coq Require Import List PArith ZArith FMapPositive Bool Lia.
From Clew Require Import History Order First Core Projection Check.
Import ListNotations.

(** ** What is trusted *)
Inductive call := Id (v : positive) | NoId.
Definition step (s : positive -> bool) (c : call) (_ : unit) (s' : positive -> bool) : Prop :=
  match c with Id v => s v = false /\ (forall u, s' u = if Pos.eqb u v then true else s u) | NoId => s' = s end.

Module Growing.
Inductive call := Next (n : Z) | NoNext.
Definition step (s : option Z) (c : call) (_ : unit) (s' : option Z) : Prop :=
  match c with Next n => match s with Some m => (m < n)%Z | None => True end /\ s' = Some n | NoNext => s' = s end.
End Growing.

(** ** The same as programs *)
Definition est := PM.t unit.
Definition mem (e : est) (v : positive) : bool := match PM.find v e with Some _ => true | None => false end.
Definition abs (e : est) (s : positive -> bool) : Prop := forall v, s v = mem e v.
Definition next (e : est) (c : call) (_ : option unit) : list est :=
  match c with Id v => if mem e v then [] else [PM.add v tt e] | NoId => [e] end.
Definition eqb (e e' : est) : bool := PM.equal (fun _ _ => true) e e'.
Definition call_eqb (c c' : call) : bool := match c, c' with Id v, Id u => Pos.eqb v u | NoId, NoId => true | _, _ => false end.
Definition same (c : call) (k : option unit) (c' : call) (k' : option unit) : bool :=
  match k, k' with Some _, Some _ | None, None => call_eqb c c' | _, _ => false end.
Definition pure (c : call) (_ : option unit) : bool := match c with NoId => true | _ => false end.
Definition restrict {call est : Type} (kept : op call unit -> bool) (e : est) (h : list (op call unit)) := Some (e, collect (some_of kept) h).

Lemma acts_step c a s s' : acts step c a s s' <-> step s c tt s'.
Proof. destruct a as [[]|]; simpl; split; auto; [now intros ([] & ?)|now exists tt]. Qed.
Lemma mem_add e v u : mem (PM.add v tt e) u = if Pos.eqb u v then true else mem e u.
Proof. unfold mem. destruct (Pos.eqb_spec u v) as [->|N]; [now rewrite PM.gss|now rewrite PM.gso]. Qed.

Theorem laws : Laws step next abs eqb same pure restrict.
Proof.
  constructor.
  - intros e s c k e' A H. assert (G : exists s', step s c tt s' /\ abs e' s').
    { destruct c as [v|]; simpl in *; [|destruct H as [<-|[]]; eauto]. destruct (mem e v) eqn:M; [easy|]. destruct H as [<-|[]].
      exists (fun u => if Pos.eqb u v then true else s u). split; [split; auto; now rewrite A|]. intros u. now rewrite mem_add, A. }
    destruct G as (s' & ? & ?). exists s'. split; auto. now apply acts_step.
  - intros e s c k s' A H%acts_step. destruct c as [v|]; simpl in *; [|subst; eauto].
    destruct H as [F H]. rewrite A in F. rewrite F. exists (PM.add v tt e). split; [now left|]. intros u. now rewrite H, mem_add, A.
  - intros e e' s H A v. rewrite A. apply PM.equal_2 in H as [I _]. unfold mem. specialize (I v).
    destruct (PM.find v e) as [a|] eqn:F, (PM.find v e') as [b|] eqn:G; auto.
    + assert (X : PM.In v e) by (exists a; exact F). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
    + assert (X : PM.In v e') by (exists b; exact G). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
  - intros c k c' k' H. assert (E : call_eqb c c' = true -> c = c') by (destruct c, c'; simpl; try easy; now intros ->%Pos.eqb_eq).
    destruct k as [[]|], k' as [[]|]; try easy; split; auto.
  - intros c a s s' P H%acts_step. destruct c; simpl in *; easy.
  - unfold restrict. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H. injection H as <- <-. exists s. split; auto.
    apply (simulation step (fun s t => forall v, t v = true -> s v = true) (some_of kept) h s); auto.
    + intros o o' _ K. unfold some_of in K. destruct (kept o); [|easy]. injection K as <-. auto.
    + intros o x x1 t Ho R E%acts_step. unfold some_of. destruct (what o) as [v|] eqn:Wo; simpl in E.
      * destruct E as [F E]. destruct (kept o).
        -- left. exists (fun u => if Pos.eqb u v then true else t u). split.
           ++ apply acts_step. rewrite Wo. split; auto. specialize (R v). destruct (t v); auto. now rewrite R in F.
           ++ intros u Hu. rewrite E. destruct (Pos.eqb u v); auto.
        -- intros u Hu. rewrite E. destruct (Pos.eqb u v); auto.
      * subst. destruct (kept o); auto. left. exists t. split; auto. apply acts_step. now rewrite Wo.
Qed.

Definition g_next (e : option Z) (c : Growing.call) (_ : option unit) : list (option Z) :=
  match c with Growing.Next n => if match e with Some m => Z.ltb m n | None => true end then [Some n] else [] | Growing.NoNext => [e] end.
Definition g_eqb (e e' : option Z) : bool := match e, e' with Some a, Some b => Z.eqb a b | None, None => true | _, _ => false end.
Definition g_call_eqb (c c' : Growing.call) : bool :=
  match c, c' with Growing.Next v, Growing.Next u => Z.eqb v u | Growing.NoNext, Growing.NoNext => true | _, _ => false end.
Definition g_same (c : Growing.call) (k : option unit) (c' : Growing.call) (k' : option unit) : bool :=
  match k, k' with Some _, Some _ | None, None => g_call_eqb c c' | _, _ => false end.
Definition g_pure (c : Growing.call) (_ : option unit) : bool := match c with Growing.NoNext => true | _ => false end.
Lemma g_acts c a s s' : acts Growing.step c a s s' <-> Growing.step s c tt s'.
Proof. destruct a as [[]|]; simpl; split; auto; [now intros ([] & ?)|now exists tt]. Qed.
Theorem g_laws : Laws Growing.step g_next eq g_eqb g_same g_pure restrict.
Proof.
  constructor.
  - intros e s c k e' <- H. exists e'. split; auto. apply g_acts. destruct c as [n|]; simpl in *; [|now destruct H as [<-|[]]].
    destruct e as [m|]; [destruct (Z.ltb_spec m n); [|easy]|]; destruct H as [<-|[]]; auto.
  - intros e s c k s' <- H%g_acts. exists s'. split; auto. destruct c as [n|]; simpl in *; [|now left].
    destruct H as [F ->]. destruct e as [m|]; [destruct (Z.ltb_spec m n); [|lia]|]; now left.
  - intros [a|] [b|] s H; simpl in H; try easy. now apply Z.eqb_eq in H as ->.
  - intros c k c' k' H. assert (E : g_call_eqb c c' = true -> c = c') by (destruct c, c'; simpl; try easy; now intros ->%Z.eqb_eq).
    destruct k as [[]|], k' as [[]|]; try easy; split; auto.
  - intros c a s s' P H%g_acts. destruct c; simpl in *; easy.
  - unfold restrict. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H. injection H as <- <-. exists s. split; auto.
    apply (simulation Growing.step (fun s t => match s, t with Some a, Some b => (b <= a)%Z | None, Some _ => False | _, None => True end) (some_of kept) h s); auto.
    + intros o o' _ K. unfold some_of in K. destruct (kept o); [|easy]. injection K as <-. auto.
    + intros o x x1 t Ho R E%g_acts. unfold some_of. destruct (what o) as [n|] eqn:Wo; simpl in E.
      * destruct E as [F ->]. destruct (kept o).
        -- left. exists (Some n). split; [|lia]. apply g_acts. rewrite Wo. split; auto. destruct x, t; try easy. lia.
        -- destruct x, t; try easy. lia.
      * subst. destruct (kept o); auto. left. exists t. split; auto. apply g_acts. now rewrite Wo.
    + destruct s; auto. lia.
Qed.
