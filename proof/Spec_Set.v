(** A set to which elements are added, and that is read as a whole. An element may be left out of a core with all of its adds. Reads count without it. *)

From Coq Require Import List PArith Arith FMapPositive FMapFacts Bool Lia.
From Clew Require Import History Order First Core Projection Check.
Import ListNotations.
Open Scope positive_scope.

(** ** What is trusted *)
Inductive call := Include (v : positive) | Members (vs : list positive) | NoRead | NoSet.  (* a read that never returned; one of what is not a set *)
Definition state := positive -> bool.
Definition step (s : state) (c : call) (_ : unit) (s' : state) : Prop :=
  match c with
  | Include v => forall u, s' u = if u =? v then true else s u
  | Members vs => (forall u, s u = true <-> In u vs) /\ s' = s
  | NoRead => s' = s
  | NoSet => False
  end.

(** ** The same as a program

The elements, and one more than their number. What was read in order is only looked up and counted. The order is that of numbers whose digits are read
from the other end, so that elements that follow each other are neighbours in the map. *)
Module Props := FMapFacts.WProperties_fun PM.E PM.
Definition est := (PM.t unit * positive)%type.
Definition mem (e : est) (v : positive) : bool := match PM.find v (fst e) with Some _ => true | None => false end.
Definition counted (e : est) : Prop := Pos.to_nat (snd e) = S (PM.cardinal (fst e)).
Definition abs (e : est) (s : state) : Prop := counted e /\ forall v, s v = mem e v.
Definition put (e : est) (v : positive) : est := if mem e v then e else (PM.add v tt (fst e), Pos.succ (snd e)).
Definition cut (e : est) (v : positive) : est := if mem e v then (PM.remove v (fst e), Pos.pred (snd e)) else e.
Definition set_of (l : list positive) : est := fold_left put l (PM.empty _, 1).
Definition eqb (e e' : est) : bool := if snd e =? snd e' then PM.equal (fun _ _ => true) (fst e) (fst e') else false.
Fixpoint comes (so_far : comparison) (v u : positive) : bool :=
  match v, u with
  | xH, xH => match so_far with Lt => true | _ => false end
  | xH, _ => true
  | _, xH => false
  | xO v, xO u | xI v, xI u => comes so_far v u
  | xO v, xI u => comes (match so_far with Eq => Lt | c => c end) v u
  | xI v, xO u => comes (match so_far with Eq => Gt | c => c end) v u
  end.
Definition before : positive -> positive -> bool := comes Eq.
Fixpoint rises (last : positive) (l : list positive) : bool :=
  match l with [] => true | v :: l => if before last v then rises v l else false end.
Definition rising (l : list positive) : bool := match l with [] => true | v :: l => rises v l end.
Definition size (l : list positive) : positive := fold_left (fun n _ => Pos.succ n) l 1.
Definition reads (e : est) (vs : list positive) : bool :=
  if rising vs then (if size vs =? snd e then forallb (mem e) vs else false) else eqb e (set_of vs).
Definition next (e : est) (c : call) (_ : option unit) : list est :=
  match c with Include v => [put e v] | Members vs => if reads e vs then [e] else [] | NoRead => [e] | NoSet => [] end.

Lemma acts_step c a s s' : acts step c a s s' <-> step s c tt s'.
Proof. destruct a as [[]|]; simpl; split; auto; [now intros ([] & ?)|now exists tt]. Qed.

Lemma mem_put e v u : mem (put e v) u = if u =? v then true else mem e u.
Proof.
  unfold put. destruct (mem e v) eqn:M.
  - destruct (Pos.eqb_spec u v) as [->|]; auto.
  - unfold mem. simpl. destruct (Pos.eqb_spec u v) as [->|N]; [now rewrite PM.gss|now rewrite PM.gso].
Qed.
Lemma counted_put e v : counted e -> counted (put e v).
Proof.
  unfold put, counted. destruct (mem e v) eqn:M; auto. simpl. intros C. rewrite Pos2Nat.inj_succ, C. f_equal. symmetry.
  apply (Props.cardinal_2 (x := v) (e := tt)); [|easy]. intros (x & X). unfold mem in M. unfold PM.MapsTo in X. now rewrite X in M.
Qed.
Lemma mem_cut e v u : mem (cut e v) u = if u =? v then false else mem e u.
Proof.
  unfold cut. destruct (mem e v) eqn:M.
  - unfold mem. simpl. destruct (Pos.eqb_spec u v) as [->|N]; [now rewrite PM.grs|now rewrite PM.gro].
  - destruct (Pos.eqb_spec u v) as [->|]; auto.
Qed.
Lemma counted_cut e v : counted e -> counted (cut e v).
Proof.
  unfold cut, counted. destruct (mem e v) eqn:M; auto. simpl. intros C.
  assert (E : PM.cardinal (fst e) = S (PM.cardinal (PM.remove v (fst e)))).
  { apply (Props.cardinal_2 (x := v) (e := tt)).
    - intros (x & X). unfold PM.MapsTo in X. now rewrite PM.grs in X.
    - intros y. destruct (Pos.eq_dec y v) as [->|N].
      + rewrite PM.gss. unfold mem in M. now destruct (PM.find v (fst e)) as [[]|].
      + now rewrite PM.gso, PM.gro. }
  rewrite Pos2Nat.inj_pred; lia.
Qed.
Lemma set_of_spec l : counted (set_of l) /\ forall v, mem (set_of l) v = true <-> In v l.
Proof.
  unfold set_of. assert (G : forall e, counted e -> counted (fold_left put l e) /\ forall v, mem (fold_left put l e) v = true <-> In v l \/ mem e v = true).
  { induction l as [|x l IH]; simpl; intros e C; [intuition|]. destruct (IH _ (counted_put e x C)) as [C' M]. split; auto.
    intros v. rewrite M, mem_put. destruct (Pos.eqb_spec v x) as [->|]; intuition congruence. }
  destruct (G (PM.empty _, 1)) as [C M]; [easy|]. split; auto. intros v. rewrite M. unfold mem. simpl. rewrite PM.gempty. intuition easy.
Qed.

Lemma mem_keys (e : est) v : mem e v = true <-> In v (map (@fst positive unit) (PM.elements (fst e))).
Proof.
  unfold mem. rewrite in_map_iff. split.
  - destruct (PM.find v (fst e)) as [x|] eqn:F; [|easy]. intros _. exists (v, x). split; auto. now apply PM.elements_correct.
  - intros ((w & x) & E & H). simpl in E. subst. now rewrite (PM.elements_complete _ _ _ H).
Qed.
Lemma keys_once (e : est) : NoDup (map (@fst positive unit) (PM.elements (fst e))).
Proof.
  assert (H := PM.elements_3w (fst e)). induction H as [|(k & x) l N D IH]; simpl; constructor; auto.
  intros H. apply in_map_iff in H as ((w & y) & E & H). simpl in E. subst. apply N. apply InA_alt. exists (k, y). now split.
Qed.
Lemma keys_count e : counted e -> Pos.to_nat (snd e) = S (length (map (@fst positive unit) (PM.elements (fst e)))).
Proof. intros ->. now rewrite map_length, <- PM.cardinal_1. Qed.
Lemma before_itself v : before v v = false.
Proof. unfold before. induction v; auto. Qed.
Lemma before_trans x y z : before x y = true -> before y z = true -> before x z = true.
Proof.
  assert (G : forall x y z a b c, match a, b with Gt, _ | _, Gt => True | Eq, Eq => c = Eq | _, _ => c = Lt end ->
    comes a x y = true -> comes b y z = true -> comes c x z = true).
  { clear. induction x as [x IH|x IH|]; intros [y|y|] [z|z|] a b c J H1 H2; simpl in *; try easy;
      try (eapply IH; [|exact H1|exact H2]; destruct a, b; simpl; auto; now subst). destruct a, b; try easy. now subst. }
  apply (G x y z Eq Eq Eq). easy.
Qed.
Lemma rises_once l : forall last, rises last l = true -> NoDup l /\ forall v, In v l -> before last v = true.
Proof.
  induction l as [|x l IH]; simpl; intros last H; [split; [constructor|easy]|]. destruct (before last x) eqn:B; [|easy].
  destruct (IH _ H) as [D L]. split.
  - constructor; auto. intros X%L. now rewrite before_itself in X.
  - intros v [<-|X]; auto. eapply before_trans; eauto.
Qed.
Lemma size_spec l : Pos.to_nat (size l) = S (length l).
Proof.
  unfold size. assert (G : forall n, Pos.to_nat (fold_left (fun n _ => Pos.succ n) l n) = (length l + Pos.to_nat n)%nat).
  { induction l as [|x l IH]; simpl; intros n; auto. rewrite IH. lia. }
  rewrite G. lia.
Qed.

Lemma eqb_spec e e' : counted e -> counted e' -> (eqb e e' = true <-> forall v, mem e v = mem e' v).
Proof.
  intros C C'. unfold eqb. split.
  - destruct (snd e =? snd e'); [|easy]. intros H v. apply PM.equal_2 in H as [I _]. unfold mem. specialize (I v).
    destruct (PM.find v (fst e)) as [a|] eqn:F, (PM.find v (fst e')) as [b|] eqn:G; auto.
    + assert (X : PM.In v (fst e)) by (exists a; exact F). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
    + assert (X : PM.In v (fst e')) by (exists b; exact G). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
  - intros H. replace (snd e =? snd e') with true.
    + apply PM.equal_1. split; [|easy]. intros v. specialize (H v). unfold mem in H.
      split; intros (u & X); unfold PM.MapsTo in X; rewrite X in H; [destruct (PM.find v (fst e')) as [w|] eqn:F|destruct (PM.find v (fst e)) as [w|] eqn:F]; try easy; now exists w.
    + symmetry. apply Pos.eqb_eq, Pos2Nat.inj. rewrite !keys_count by auto. f_equal.
      apply Nat.le_antisymm; apply NoDup_incl_length; try apply keys_once; intros v; rewrite <- !mem_keys; congruence.
Qed.
Lemma reads_spec e vs : counted e -> (reads e vs = true <-> forall v, mem e v = true <-> In v vs).
Proof.
  intros C. unfold reads. destruct (rising vs) eqn:R.
  - assert (D : NoDup vs). { destruct vs as [|v vs]; [constructor|]. simpl in R. destruct (rises_once _ _ R) as [D L]. constructor; auto. intros X%L. now rewrite before_itself in X. }
    destruct (Pos.eqb_spec (size vs) (snd e)) as [E|E].
    + rewrite forallb_forall. apply (f_equal Pos.to_nat) in E. rewrite size_spec, keys_count in E by auto. split; intros H v.
      * split; auto. rewrite mem_keys. apply NoDup_length_incl; auto; [lia|]. intros u Hu. apply mem_keys. auto.
      * apply H.
    + split; [easy|]. intros H. destruct E. apply Pos2Nat.inj. rewrite size_spec, keys_count by auto. f_equal.
      apply Nat.le_antisymm; apply NoDup_incl_length; auto; try apply keys_once; intros v; rewrite <- mem_keys; apply H.
  - destruct (set_of_spec vs) as [C' M]. rewrite (eqb_spec _ _ C C'). split; intros H v; [rewrite H; apply M|].
    specialize (H v). specialize (M v). destruct (mem e v), (mem (set_of vs) v); intuition congruence.
Qed.

Lemma eqb_sound : EqbSound abs eqb.
Proof.
  intros e e' s H [C A]. unfold eqb in H. destruct (Pos.eqb_spec (snd e) (snd e')) as [E|]; [|easy]. assert (C' : counted e').
  { unfold counted in *. rewrite <- E, C. f_equal. apply PM.equal_2 in H as [I _]. rewrite !PM.cardinal_1, <- !(map_length (@fst positive unit)).
    apply Nat.le_antisymm; apply NoDup_incl_length; try apply keys_once; intros v; rewrite <- !mem_keys; specialize (I v); unfold mem;
      [destruct (PM.find v (fst e)) as [a|] eqn:F; [|easy]; assert (X : PM.In v (fst e)) by (exists a; exact F)
      |destruct (PM.find v (fst e')) as [a|] eqn:F; [|easy]; assert (X : PM.In v (fst e')) by (exists a; exact F)];
      apply I in X as (u & X); unfold PM.MapsTo in X; now rewrite X. }
  split; auto. intros v. rewrite A. apply eqb_spec; auto. unfold eqb. apply Pos.eqb_eq in E. now rewrite E.
Qed.

Lemma next_sound : NextSound step next abs.
Proof.
  intros e s c k e' [C A] H. assert (G : exists s', step s c tt s' /\ abs e' s').
  { destruct c as [v|vs| |]; simpl in *; try easy.
    - destruct H as [<-|[]]. exists (fun u => if u =? v then true else s u). split; auto. split; [now apply counted_put|]. intros u. now rewrite mem_put, A.
    - destruct (reads e vs) eqn:E; [|easy]. destruct H as [<-|[]]. exists s. split; [|easy]. split; auto.
      intros u. rewrite A. now apply reads_spec.
    - destruct H as [<-|[]]. exists s. easy. }
  destruct G as (s' & ? & ?). exists s'. split; auto. now apply acts_step.
Qed.
Lemma next_complete : NextComplete step next abs.
Proof.
  intros e s c k s' [C A] H%acts_step. destruct c as [v|vs| |]; simpl in *; try easy.
  - exists (put e v). split; [now left|]. split; [now apply counted_put|]. intros u. now rewrite H, mem_put, A.
  - destruct H as [H ->]. exists e. split; [|easy]. replace (reads e vs) with true; [now left|]. symmetry. apply reads_spec; auto. intros u. rewrite <- A. apply H.
  - subst. exists e. split; [now left|easy].
Qed.
Definition call_eqb (c c' : call) : bool :=
  match c, c' with Include v, Include u => v =? u | Members vs, Members us => equal vs us | NoRead, NoRead | NoSet, NoSet => true | _, _ => false end.
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
    | _ => Some o
    end
  else None.
Definition without (l : list positive) (e : est) : est := fold_left cut l e.
Definition restrict (kept : op call unit -> bool) (e : est) (h : list (op call unit)) : option (est * list (op call unit)) :=
  let out := gone kept h in
  let set := set_of out in
  Some (without out e, collect (keep kept (fun v => negb (mem set v))) h).

Lemma gone_spec kept h o v : In o h -> kept o = false -> what o = Include v -> In v (gone kept h).
Proof.
  unfold gone. intros Ho K W. assert (G : forall l, (In o h \/ In v l) -> In v (fold_left (fun l o => if kept o then l else match what o with Include v => v :: l | _ => l end) h l)).
  { clear Ho. induction h as [|x h IH]; simpl; intros l H; [tauto|]. apply IH. destruct H as [[->|]|H]; auto.
    - right. rewrite K, W. now left.
    - right. destruct (kept x); auto. destruct (what x); auto. now right. }
  apply G; auto.
Qed.
Lemma without_spec l : forall e, counted e -> counted (without l e) /\ forall v, mem (without l e) v = if in_dec Pos.eq_dec v l then false else mem e v.
Proof.
  unfold without. induction l as [|x l IH]; intros e C; simpl; [auto|]. destruct (IH _ (counted_cut e x C)) as [C' M]. split; auto.
  intros v. rewrite M, mem_cut. destruct (Pos.eq_dec x v) as [->|N]; [rewrite Pos.eqb_refl; now destruct (in_dec _ _ _)|].
  destruct (Pos.eqb_spec v x); [congruence|]. now destruct (in_dec _ _ _).
Qed.
Theorem restrict_sound : RestrictSound step abs restrict.
Proof.
  unfold restrict. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H. set (out := gone kept h) in *. set (stays := fun v => negb (mem (set_of out) v)) in *. injection H as <- <-.
  assert (St : forall v, stays v = false <-> In v out).
  { intros v. unfold stays. rewrite negb_false_iff. apply set_of_spec. }
  destruct A as [C A]. destruct (without_spec out e C) as [C' M].
  exists (fun v => if stays v then s v else false). split.
  - split; auto. intros v. rewrite M. destruct (in_dec Pos.eq_dec v out) as [Y|N].
    + apply St in Y. now rewrite Y.
    + destruct (stays v) eqn:E; [apply A|]. now apply St in E.
  - apply (simulation step (fun s t => forall v, t v = if stays v then s v else false) _ h s); auto.
    + intros o o' _ K. unfold keep in K. destruct (kept o); [|easy]. destruct (what o); [destruct (stays v); [|easy]|..]; injection K as <-; auto.
    + intros o x x1 t Ho R E%acts_step. unfold keep. destruct (kept o) eqn:Ko.
      * destruct (what o) as [v|vs| |] eqn:Wo; simpl in E; try easy.
        -- destruct (stays v) eqn:Sv.
           ++ left. exists (fun u => if u =? v then true else t u). split; [apply acts_step; rewrite Wo; easy|].
              intros u. rewrite E, R. destruct (Pos.eqb_spec u v) as [->|]; [now rewrite Sv|easy].
           ++ intros u. rewrite R, E. destruct (Pos.eqb_spec u v) as [->|]; [now rewrite Sv|easy].
        -- destruct E as [E ->]. left. exists t. split; auto. apply acts_step. simpl. split; auto. intros u. rewrite R, filter_In, <- E.
           destruct (stays u); intuition congruence.
        -- subst. left. exists t. split; auto. apply acts_step. now rewrite Wo.
      * destruct (what o) as [v|vs| |] eqn:Wo; simpl in E; try easy.
        -- pose proof (gone_spec kept h o v Ho Ko Wo) as G. fold out in G. apply St in G.
           intros u. rewrite R, E. destruct (Pos.eqb_spec u v) as [->|]; [now rewrite G|easy].
        -- destruct E as [_ ->]. auto.
        -- subst. auto.
Qed.
Theorem laws : Laws step next abs eqb same pure restrict.
Proof. constructor; auto using next_sound, next_complete, eqb_sound, same_sound, pure_sound, restrict_sound. Qed.
