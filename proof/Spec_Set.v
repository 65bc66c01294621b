(** A set to which elements are added, and that is read as a whole. An element may be left out of a core with all of its adds. Reads count without it. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History Order First Core Projection Check.
Import ListNotations.
Open Scope positive_scope.

(** ** What is trusted *)
Inductive call := Include (v : positive) | Members (vs : list positive) | NoRead.
Definition state := positive -> bool.
Definition step (s : state) (c : call) (_ : unit) (s' : state) : Prop :=
  match c with
  | Include v => forall u, s' u = if u =? v then true else s u
  | Members vs => (forall u, s u = true <-> In u vs) /\ s' = s
  | NoRead => s' = s
  end.

(** ** The same as a program *)
Definition est := PM.t unit.
Definition mem (e : est) (v : positive) : bool := match PM.find v e with Some _ => true | None => false end.
Definition abs (e : est) (s : state) : Prop := forall v, s v = mem e v.
Definition eqb (e e' : est) : bool := PM.equal (fun _ _ => true) e e'.
Definition next (e : est) (c : call) (_ : option unit) : list est :=
  match c with Include v => [PM.add v tt e] | Members vs => if eqb e (members vs) then [e] else [] | NoRead => [e] end.

Lemma acts_step c a s s' : acts step c a s s' <-> step s c tt s'.
Proof. destruct a as [[]|]; simpl; split; auto; [now intros ([] & ?)|now exists tt]. Qed.
Lemma mem_members l v : mem (members l) v = true <-> In v l.
Proof.
  unfold mem, members. assert (G : forall m, PM.find v (fold_left (fun m i => PM.add i tt m) l m) <> None <-> In v l \/ PM.find v m <> None).
  { induction l as [|x l IH]; simpl; intros m; [tauto|]. rewrite IH. destruct (Pos.eq_dec v x) as [->|N].
    - rewrite PM.gss. intuition congruence.
    - rewrite PM.gso by easy. intuition congruence. }
  specialize (G (PM.empty _)). rewrite PM.gempty in G. destruct (PM.find v _); split; intros; try easy; intuition congruence.
Qed.
Lemma eqb_spec e e' : eqb e e' = true <-> forall v, mem e v = mem e' v.
Proof.
  unfold eqb. split.
  - intros H v. apply PM.equal_2 in H as [I _]. unfold mem. specialize (I v).
    destruct (PM.find v e) as [a|] eqn:F, (PM.find v e') as [b|] eqn:G; auto.
    + assert (X : PM.In v e) by (exists a; exact F). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
    + assert (X : PM.In v e') by (exists b; exact G). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
  - intros H. apply PM.equal_1. split; [|easy]. intros v. specialize (H v). unfold mem in H.
    split; intros (u & X); unfold PM.MapsTo in X; rewrite X in H; [destruct (PM.find v e') as [w|] eqn:F|destruct (PM.find v e) as [w|] eqn:F]; try easy; now exists w.
Qed.
Lemma eqb_sound : EqbSound abs eqb.
Proof. intros e e' s H A v. rewrite A. now apply eqb_spec. Qed.
Lemma mem_add e v u : mem (PM.add v tt e) u = if u =? v then true else mem e u.
Proof. unfold mem. destruct (Pos.eqb_spec u v) as [->|N]; [now rewrite PM.gss|now rewrite PM.gso]. Qed.

Lemma next_sound : NextSound step next abs.
Proof.
  intros e s c k e' A H. assert (G : exists s', step s c tt s' /\ abs e' s').
  { destruct c as [v|vs|]; simpl in *.
    - destruct H as [<-|[]]. exists (fun u => if u =? v then true else s u). split; auto. intros u. rewrite mem_add, A. easy.
    - destruct (eqb e (members vs)) eqn:E; [|easy]. destruct H as [<-|[]]. exists s. split; auto. split; auto.
      intros u. rewrite A. rewrite (proj1 (eqb_spec _ _) E u). apply mem_members.
    - destruct H as [<-|[]]. eauto. }
  destruct G as (s' & ? & ?). exists s'. split; auto. now apply acts_step.
Qed.
Lemma next_complete : NextComplete step next abs.
Proof.
  intros e s c k s' A H%acts_step. destruct c as [v|vs|]; simpl in *.
  - exists (PM.add v tt e). split; [now left|]. intros u. now rewrite H, mem_add, A.
  - destruct H as [H ->]. exists e. split; auto. replace (eqb e (members vs)) with true; [now left|]. symmetry. apply eqb_spec. intros u. rewrite <- A.
    specialize (H u). pose proof (mem_members vs u). destruct (s u), (mem (members vs) u); auto; intuition congruence.
  - subst. exists e. split; [now left|easy].
Qed.
Definition call_eqb (c c' : call) : bool :=
  match c, c' with Include v, Include u => v =? u | Members vs, Members us => equal vs us | NoRead, NoRead => true | _, _ => false end.
Definition same (c : call) (k : option unit) (c' : call) (k' : option unit) : bool :=
  match k, k' with Some _, Some _ | None, None => call_eqb c c' | _, _ => false end.
Lemma same_sound : SameSound same.
Proof.
  intros c k c' k' H. assert (E : call_eqb c c' = true -> c = c').
  { destruct c, c'; simpl; try easy; [now intros ->%Pos.eqb_eq|now intros ->%equal_spec]. }
  destruct k as [[]|], k' as [[]|]; try easy; split; auto.
Qed.
Definition pure (c : call) (_ : option unit) : bool := match c with Include _ => false | _ => true end.
Lemma pure_sound : PureSound step pure.
Proof. intros c a s s' P H%acts_step. destruct c; simpl in *; easy. Qed.

(** ** Elements that are left out *)
Definition gone (kept : op call unit -> bool) (h : list (op call unit)) : list positive :=
  fold_left (fun l o => if kept o then l else match what o with Include v => v :: l | _ => l end) h [].
Definition keep (kept : op call unit -> bool) (stays : positive -> bool) (o : op call unit) : option (op call unit) :=
  if kept o then
    match what o with
    | Include v => if stays v then Some o else None
    | Members vs => Some (Op (inv o) (Members (filter stays vs)) (became o))
    | NoRead => Some o
    end
  else None.
Definition without (l : list positive) (e : est) : est := fold_left (fun m v => PM.remove v m) l e.
Definition restrict (kept : op call unit -> bool) (e : est) (h : list (op call unit)) : option (est * list (op call unit)) :=
  let out := gone kept h in
  let set := members out in
  Some (without out e, collect (keep kept (fun v => negb (mem set v))) h).

Lemma gone_spec kept h o v : In o h -> kept o = false -> what o = Include v -> In v (gone kept h).
Proof.
  unfold gone. intros Ho K W. assert (G : forall l, (In o h \/ In v l) -> In v (fold_left (fun l o => if kept o then l else match what o with Include v => v :: l | _ => l end) h l)).
  { clear Ho. induction h as [|x h IH]; simpl; intros l H; [tauto|]. apply IH. destruct H as [[->|]|H]; auto.
    - right. rewrite K, W. now left.
    - right. destruct (kept x); auto. destruct (what x); auto. now right. }
  apply G; auto.
Qed.
Lemma without_spec l : forall e v, mem (without l e) v = if in_dec Pos.eq_dec v l then false else mem e v.
Proof.
  unfold without. induction l as [|x l IH]; intros e v; simpl; auto. rewrite IH. unfold mem.
  destruct (Pos.eq_dec x v) as [->|N]; [rewrite PM.grs; now destruct (in_dec _ _ _)|]. rewrite PM.gro by auto. now destruct (in_dec _ _ _).
Qed.
Lemma restrict_sound : RestrictSound step abs restrict.
Proof.
  unfold restrict. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H. set (out := gone kept h) in *. set (stays := fun v => negb (mem (members out) v)) in *. injection H as <- <-.
  assert (St : forall v, stays v = false <-> In v out).
  { intros v. unfold stays. rewrite negb_false_iff. apply mem_members. }
  exists (fun v => if stays v then s v else false). split.
  - intros v. rewrite without_spec. destruct (in_dec Pos.eq_dec v out) as [Y|N].
    + apply St in Y. now rewrite Y.
    + destruct (stays v) eqn:E; [apply A|]. now apply St in E.
  - apply (simulation step (fun s t => forall v, t v = if stays v then s v else false) _ h s); auto.
    + intros o o' _ K. unfold keep in K. destruct (kept o); [|easy]. destruct (what o); [destruct (stays v); [|easy]|..]; injection K as <-; auto.
    + intros o x x1 t Ho R E%acts_step. unfold keep. destruct (kept o) eqn:Ko.
      * destruct (what o) as [v|vs|] eqn:Wo; simpl in E.
        -- destruct (stays v) eqn:Sv.
           ++ left. exists (fun u => if u =? v then true else t u). split; [apply acts_step; rewrite Wo; easy|].
              intros u. rewrite E, R. destruct (Pos.eqb_spec u v) as [->|]; [now rewrite Sv|easy].
           ++ intros u. rewrite R, E. destruct (Pos.eqb_spec u v) as [->|]; [now rewrite Sv|easy].
        -- destruct E as [E ->]. left. exists t. split; auto. apply acts_step. simpl. split; auto. intros u. rewrite R, filter_In, <- E.
           destruct (stays u); intuition congruence.
        -- subst. left. exists t. split; auto. apply acts_step. now rewrite Wo.
      * destruct (what o) as [v|vs|] eqn:Wo; simpl in E.
        -- pose proof (gone_spec kept h o v Ho Ko Wo) as G. fold out in G. apply St in G.
           intros u. rewrite R, E. destruct (Pos.eqb_spec u v) as [->|]; [now rewrite G|easy].
        -- destruct E as [_ ->]. auto.
        -- subst. auto.
Qed.
Lemma laws : Laws step next abs eqb same pure restrict.
Proof. constructor; auto using next_sound, next_complete, eqb_sound, same_sound, pure_sound, restrict_sound. Qed.
