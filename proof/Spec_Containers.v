(** Containers: fifo-queue, stack, unordered-queue and priority-queue.

A state is a list of elements. What an operation took or saw is part of it. A crashed operation that takes an element takes any. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History Order First Core Projection Check.
Import ListNotations.
Open Scope positive_scope.

(** ** What is trusted *)

Inductive kind := Fifo | Stack | Bag | Priority (rank : positive -> positive).
Inductive call :=
  | Push (v : positive)
  | Take (v : positive)
  | TakeAny
  | Peek (v : positive)              (* Take would give this element *)
  | Empty                            (* there was none *)
  | Idle                          (* a peek that never returned *)
  | Drain (vs : list positive)       (* takes these in a row *)
  | DrainAny.                        (* takes some in a row, or none *)

Definition put (k : kind) (s : list positive) (v : positive) : list positive := match k with Fifo => s ++ [v] | _ => v :: s end.
Definition take (k : kind) (s : list positive) (v : positive) (s' : list positive) : Prop :=
  match k with
  | Fifo | Stack => s = v :: s'
  | Bag => exists a b, s = a ++ v :: b /\ s' = a ++ b
  | Priority rank => (exists a b, s = a ++ v :: b /\ s' = a ++ b) /\ forall u, In u s -> rank u <= rank v
  end.
Inductive drain (k : kind) : list positive -> list positive -> list positive -> Prop :=
  | drain_nil s : drain k s [] s
  | drain_cons s v s1 vs s2 : take k s v s1 -> drain k s1 vs s2 -> drain k s (v :: vs) s2.
Definition step (k : kind) (s : list positive) (c : call) (_ : unit) (s' : list positive) : Prop :=
  match c with
  | Push v => s' = put k s v
  | Take v => take k s v s'
  | TakeAny => exists v, take k s v s'
  | Peek v => (exists rest, take k s v rest) /\ s' = s
  | Empty => s = [] /\ s' = s
  | Idle => s' = s
  | Drain vs => drain k s vs s'
  | DrainAny => exists vs, drain k s vs s'
  end.

(** ** The same as a program, for every way to store the elements *)

Definition call_eqb (c c' : call) : bool :=
  match c, c' with
  | Push v, Push u | Take v, Take u | Peek v, Peek u => v =? u
  | TakeAny, TakeAny | Empty, Empty | Idle, Idle | DrainAny, DrainAny => true
  | Drain vs, Drain us => if list_eq_dec Pos.eq_dec vs us then true else false
  | _, _ => false
  end.
Definition same (c : call) (k : option unit) (c' : call) (k' : option unit) : bool :=
  match k, k' with Some _, Some _ | None, None => call_eqb c c' | _, _ => false end.
Lemma same_sound : SameSound same.
Proof.
  intros c k c' k' H. assert (E : call_eqb c c' = true -> c = c').
  { destruct c, c'; simpl; try easy; try (intros ->%Pos.eqb_eq; easy). destruct (list_eq_dec _ _ _); [now subst|easy]. }
  destruct k as [[]|], k' as [[]|]; try easy; split; auto.
Qed.
Definition pure (c : call) (_ : option unit) : bool := match c with Peek _ | Empty | Idle => true | _ => false end.
Lemma acts_step k c a s s' : acts (step k) c a s s' <-> step k s c tt s'.
Proof. destruct a as [[]|]; simpl; split; auto; [now intros ([] & ?)|now exists tt]. Qed.
Lemma pure_sound k : PureSound (step k) pure.
Proof. intros c a s s' P H%acts_step. destruct c; simpl in *; easy. Qed.

Section Store.
Variable k : kind.
Context {est : Type}.
Variable abs : est -> list positive -> Prop.
Variable put_ : est -> positive -> est.
Variable take_ : est -> positive -> list est.
Variable heads_ : est -> list positive.
Variable empty_ : est -> bool.
Variable all_ : est -> list positive.
Variable without_ : list positive -> (positive -> bool) -> est -> est.
Variable eqb : est -> est -> bool.
Hypothesis put_ok : forall e s v, abs e s -> abs (put_ e v) (put k s v).
Hypothesis take_sound : forall e s v e', abs e s -> In e' (take_ e v) -> exists s', take k s v s' /\ abs e' s'.
Hypothesis take_complete : forall e s v s', abs e s -> take k s v s' -> exists e', In e' (take_ e v) /\ abs e' s'.
Hypothesis heads_complete : forall e s v s', abs e s -> take k s v s' -> In v (heads_ e).
Hypothesis empty_ok : forall e s, abs e s -> (empty_ e = true <-> s = []).
Hypothesis all_ok : forall e s, abs e s -> (length s <= length (all_ e))%nat.
Hypothesis without_ok : forall gone stays e s, (forall v, stays v = false <-> In v gone) -> abs e s -> abs (without_ gone stays e) (filter stays s).
Hypothesis eqb_sound : EqbSound abs eqb.

Fixpoint drain_ (e : est) (vs : list positive) : list est :=
  match vs with [] => [e] | v :: vs => flat_map (fun e => drain_ e vs) (take_ e v) end.
(* As many takes as there are elements. Representations that are met again are dropped. *)
Definition once (es : list est) : list est := fold_right (fun e kept => if existsb (eqb e) kept then kept else e :: kept) [] es.
Fixpoint drains (at_most : list positive) (es : list est) : list est :=
  match at_most with [] => es | _ :: fewer => es ++ drains fewer (once (flat_map (fun e => flat_map (take_ e) (heads_ e)) es)) end.
Definition next (e : est) (c : call) (_ : option unit) : list est :=
  match c with
  | Push v => [put_ e v]
  | Take v => take_ e v
  | TakeAny => flat_map (take_ e) (heads_ e)
  | Peek v => match take_ e v with [] => [] | _ => [e] end
  | Empty => if empty_ e then [e] else []
  | Idle => [e]
  | Drain vs => drain_ e vs
  | DrainAny => drains (all_ e) [e]
  end.

Lemma drain_sound vs : forall e s e', abs e s -> In e' (drain_ e vs) -> exists s', drain k s vs s' /\ abs e' s'.
Proof.
  induction vs as [|v vs IH]; simpl; intros e s e' A H.
  - destruct H as [<-|[]]. exists s. split; auto. constructor.
  - apply in_flat_map in H as (e1 & H1 & H2). destruct (take_sound _ _ _ _ A H1) as (s1 & T & A1).
    destruct (IH _ _ _ A1 H2) as (s' & D & A'). exists s'. split; auto. econstructor; eauto.
Qed.
Lemma drain_complete vs : forall e s s', abs e s -> drain k s vs s' -> exists e', In e' (drain_ e vs) /\ abs e' s'.
Proof.
  induction vs as [|v vs IH]; simpl; intros e s s' A D; inversion D; subst.
  - exists e. auto.
  - destruct (take_complete _ _ _ _ A H2) as (e1 & H1 & A1). destruct (IH _ _ _ A1 H4) as (e' & He & A').
    exists e'. split; auto. apply in_flat_map. eauto.
Qed.
Lemma once_sound es : incl (once es) es.
Proof. induction es as [|e es IH]; simpl; [easy|]. intros x. destruct (existsb _ _); simpl; intuition. Qed.
Lemma once_complete es e s : In e es -> abs e s -> exists e', In e' (once es) /\ abs e' s.
Proof.
  induction es as [|x es IH]; simpl; [easy|]. intros [->|H] A.
  - destruct (existsb _ _) eqn:E; [|exists e; simpl; auto]. apply existsb_exists in E as (e' & ? & ?). exists e'. split; auto. eapply eqb_sound; eauto.
  - destruct (IH H A) as (e' & ? & ?). exists e'. destruct (existsb _ _); simpl; auto.
Qed.
Lemma drains_sound at_most : forall es e', In e' (drains at_most es) ->
  exists e, In e es /\ forall s, abs e s -> exists vs s', drain k s vs s' /\ abs e' s'.
Proof.
  assert (N : forall es e', In e' es -> exists e, In e es /\ forall s, abs e s -> exists vs s', drain k s vs s' /\ abs e' s').
  { intros es e' H. exists e'. split; auto. intros s A. exists [], s. split; auto. constructor. }
  induction at_most as [|x fewer IH]; simpl; intros es e' H; auto. apply in_app_or in H as [H|H]; auto.
  destruct (IH _ _ H) as (e1 & H1 & D). apply once_sound, in_flat_map in H1 as (e & He & H1). apply in_flat_map in H1 as (v & _ & H1).
  exists e. split; auto. intros s A. destruct (take_sound _ _ _ _ A H1) as (s1 & T & A1). destruct (D _ A1) as (vs & s' & ? & ?).
  exists (v :: vs), s'. split; auto. econstructor; eauto.
Qed.
Lemma drains_complete s vs s' : drain k s vs s' -> forall at_most es e, (length vs <= length at_most)%nat -> In e es -> abs e s ->
  exists e', In e' (drains at_most es) /\ abs e' s'.
Proof.
  induction 1 as [s|s v s1 vs s2 T D IH]; intros at_most es e L I A.
  - exists e. split; auto. destruct at_most; simpl; auto. apply in_or_app; auto.
  - destruct at_most as [|a fewer]; simpl in L; [lia|]. destruct (take_complete _ _ _ _ A T) as (e1 & H1 & A1).
    destruct (once_complete (flat_map (fun e => flat_map (take_ e) (heads_ e)) es) e1 s1) as (e2 & H2 & A2); auto.
    { apply in_flat_map. exists e. split; auto. apply in_flat_map. eauto. }
    destruct (IH fewer _ e2 ltac:(lia) H2 A2) as (e' & ? & ?). exists e'. split; auto. apply in_or_app; auto.
Qed.
Lemma take_length s v s' : take k s v s' -> length s = S (length s').
Proof. destruct k; simpl; [intros ->|intros ->|intros (a & b & -> & ->)|intros [(a & b & -> & ->) _]]; rewrite ?app_length; simpl; lia. Qed.
Lemma drain_length s vs s' : drain k s vs s' -> (length vs <= length s)%nat.
Proof. induction 1 as [|s v s1 vs s2 T D IH]; simpl; [lia|]. apply take_length in T. lia. Qed.
Lemma next_sound : NextSound (step k) next abs.
Proof.
  intros e s c a e' A H. assert (G : exists s', step k s c tt s' /\ abs e' s').
  { destruct c as [v|v| |v| | |vs|]; simpl in *.
    - destruct H as [<-|[]]. eauto.
    - eauto.
    - apply in_flat_map in H as (v & _ & H). destruct (take_sound _ _ _ _ A H) as (s' & ? & ?). exists s'. eauto.
    - destruct (take_ e v) as [|e1 es] eqn:T; [easy|]. destruct H as [<-|[]]. exists s. split; auto. split; auto.
      destruct (take_sound e s v e1 A) as (r & ? & _); [rewrite T; now left|eauto].
    - destruct (empty_ e) eqn:E; [|easy]. destruct H as [<-|[]]. exists s. split; auto. split; auto. eapply empty_ok; eauto.
    - destruct H as [<-|[]]. eauto.
    - eapply drain_sound; eauto.
    - destruct (drains_sound _ _ _ H) as (e0 & [<-|[]] & D). destruct (D _ A) as (vs & s' & ? & ?). eauto. }
  destruct G as (s' & ? & ?). exists s'. split; auto. now apply acts_step.
Qed.
Lemma next_complete : NextComplete (step k) next abs.
Proof.
  intros e s c a s' A H%acts_step. destruct c as [v|v| |v| | |vs|]; simpl in *.
  - subst. exists (put_ e v). auto.
  - eauto.
  - destruct H as (v & T). destruct (take_complete _ _ _ _ A T) as (e' & ? & ?). exists e'. split; auto. apply in_flat_map. eauto.
  - destruct H as ((r & T) & ->). destruct (take_complete _ _ _ _ A T) as (e' & H & _). destruct (take_ e v); [easy|]. exists e. simpl; auto.
  - destruct H as (E & ->). apply (empty_ok _ _ A) in E. rewrite E. exists e. simpl; auto.
  - subst. exists e. simpl; auto.
  - eapply drain_complete; eauto.
  - destruct H as (vs & D). assert (L := all_ok _ _ A). apply drain_length in D as M. eapply drains_complete; eauto; [lia|now left].
Qed.

(** A value may be left out with all its operations, and as an initial element. *)
Definition values (c : call) : list positive := match c with Push v | Take v | Peek v => [v] | Drain vs => vs | _ => [] end.
Definition dropped_values (kept : op call unit -> bool) (h : list (op call unit)) : list positive :=
  fold_left (fun l o => if kept o then l else if pure (what o) None then l else values (what o) ++ l) h [].
Definition lost (o : op call unit) : bool := match ret o with None => true | Some _ => false end.
Definition restrict (kept : op call unit -> bool) (e : est) (h : list (op call unit)) : option (est * list (op call unit)) :=
  let gone := dropped_values kept h in
  let set := members gone in
  let stays := fun v => match PM.find v set with Some _ => false | None => true end in
  if forallb (fun o => match what o with TakeAny => if kept o then lost o else false | DrainAny => kept o | c => if kept o then forallb stays (values c) else true end) h
  then Some (without_ gone stays e, collect (some_of kept) h) else None.

Lemma members_spec l v : PM.find v (members l) <> None <-> In v l.
Proof.
  unfold members. assert (G : forall m, PM.find v (fold_left (fun m i => PM.add i tt m) l m) <> None <-> In v l \/ PM.find v m <> None).
  { induction l as [|x l IH]; simpl; intros m; [tauto|]. rewrite IH. destruct (Pos.eq_dec v x) as [->|N].
    - rewrite PM.gss. intuition congruence.
    - rewrite PM.gso by easy. intuition congruence. }
  rewrite G, PM.gempty. tauto.
Qed.
Lemma dropped_spec kept h o : In o h -> kept o = false -> pure (what o) None = false -> incl (values (what o)) (dropped_values kept h).
Proof.
  unfold dropped_values. intros Ho K P v Hv. assert (G : forall l, (In o h \/ In v l) -> In v (fold_left (fun l o => if kept o then l else if pure (what o) None then l else values (what o) ++ l) h l)).
  { clear Ho. induction h as [|x h IH]; simpl; intros l H; [tauto|]. apply IH. destruct H as [[->|]|H]; auto.
    - right. rewrite K, P. apply in_or_app; auto.
    - right. destruct (kept x); auto. destruct (pure (what x) None); auto. apply in_or_app; auto. }
  apply G; auto.
Qed.
Lemma filter_id {A} (f : A -> bool) l : (forall x, In x l -> f x = true) -> filter f l = l.
Proof. induction l as [|x l IH]; simpl; intros H; auto. rewrite H by auto. f_equal. auto. Qed.
Lemma filter_none {A} (f : A -> bool) l : (forall x, In x l -> f x = false) -> filter f l = [].
Proof. induction l as [|x l IH]; simpl; intros H; auto. rewrite H by auto. auto. Qed.

Section Stays.
Variable stays : positive -> bool.
Lemma filter_put s v : filter stays (put k s v) = if stays v then put k (filter stays s) v else filter stays s.
Proof. destruct k; simpl; try (destruct (stays v); easy). rewrite filter_app. simpl. destruct (stays v); [easy|apply app_nil_r]. Qed.
Lemma filter_take s v s' : take k s v s' -> if stays v then take k (filter stays s) v (filter stays s') else filter stays s' = filter stays s.
Proof.
  assert (B : (exists a b, s = a ++ v :: b /\ s' = a ++ b) ->
    if stays v then exists a b, filter stays s = a ++ v :: b /\ filter stays s' = a ++ b else filter stays s' = filter stays s).
  { intros (a & b & -> & ->). rewrite !filter_app. simpl. destruct (stays v); eauto. }
  destruct k; simpl; try (intros ->; simpl; destruct (stays v); easy); auto.
  intros [H M]. specialize (B H). destruct (stays v); auto. split; auto. intros u (? & _)%filter_In. auto.
Qed.
Lemma filter_drain s vs s' : drain k s vs s' -> drain k (filter stays s) (filter stays vs) (filter stays s').
Proof.
  induction 1 as [s|s v s1 vs s2 T D IH]; simpl; [constructor|]. apply filter_take in T. destruct (stays v); [econstructor; eauto|congruence].
Qed.
End Stays.

Theorem restrict_sound : RestrictSound (step k) abs restrict.
Proof.
  unfold restrict. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H.
  set (gone := dropped_values kept h) in *. set (stays := fun v => match PM.find v (members gone) with Some _ => false | None => true end) in *.
  destruct (forallb _ h) eqn:F; [|easy]. injection H as <- <-. rewrite forallb_forall in F.
  assert (St : forall v, stays v = false <-> In v gone).
  { intros v. rewrite <- members_spec. unfold stays. destruct (PM.find v (members gone)); split; intros; auto; try easy; congruence. }
  exists (filter stays s). split; [apply without_ok; auto|].
  apply (simulation (step k) (fun s t => t = filter stays s) (some_of kept) h s); auto.
  - intros o o' _ H. unfold some_of in H. destruct (kept o); [|easy]. injection H as <-. auto.
  - intros o x x1 t Ho -> E%acts_step. specialize (F _ Ho). unfold some_of. destruct (kept o) eqn:Ko.
    + destruct (what o) as [v|v| |v| | |vs|] eqn:Wo; simpl in E, F.
      * left. exists (put k (filter stays x) v). subst. rewrite filter_put. destruct (stays v); [|easy]. split; auto. apply acts_step. now rewrite Wo.
      * destruct (stays v) eqn:Sv; [|easy]. left. exists (filter stays x1). split; auto. apply acts_step. rewrite Wo. apply filter_take with (stays := stays) in E. now rewrite Sv in E.
      * destruct E as (v & T). apply filter_take with (stays := stays) in T. destruct (stays v).
        -- left. exists (filter stays x1). split; auto. apply acts_step. rewrite Wo. now exists v.
        -- right. split; auto. unfold lost in F. now destruct (ret o).
      * destruct (stays v) eqn:Sv; [|easy]. destruct E as ((r & T) & ->). apply filter_take with (stays := stays) in T. rewrite Sv in T.
        left. exists (filter stays x). split; auto. apply acts_step. rewrite Wo. split; eauto.
      * destruct E as (-> & ->). left. exists []. split; auto. apply acts_step. rewrite Wo. simpl; auto.
      * left. subst. exists (filter stays x). split; auto. apply acts_step. now rewrite Wo.
      * rewrite forallb_forall in F. left. exists (filter stays x1). split; auto. apply acts_step. rewrite Wo. apply filter_drain with (stays := stays) in E. rewrite filter_id with (l := vs) in E; auto.
      * left. destruct E as (vs & E). exists (filter stays x1). split; auto. apply acts_step. rewrite Wo. exists (filter stays vs). now apply filter_drain.
    + destruct (pure (what o) None) eqn:P.
      * destruct (what o); try easy; simpl in E; [destruct E as [_ ->]|destruct E as [-> ->]|subst]; auto.
      * assert (D := dropped_spec kept h o Ho Ko P). fold gone in D.
        destruct (what o) as [v|v| |v| | |vs|] eqn:Wo; simpl in E, F, D; try easy.
        -- subst. rewrite filter_put. rewrite (proj2 (St v)); auto. apply D. now left.
        -- apply filter_take with (stays := stays) in E. rewrite (proj2 (St v)) in E; auto. apply D. now left.
        -- apply filter_drain with (stays := stays) in E. rewrite filter_none with (l := vs) in E; [now inversion E|]. intros v Hv. apply St. auto.
Qed.

Theorem laws : Laws (step k) next abs eqb same pure restrict.
Proof. constructor; auto using next_sound, next_complete, same_sound, pure_sound, restrict_sound. Qed.
End Store.

(** *** A queue: the front, and the back in reverse. *)
Definition queue := (list positive * list positive)%type.
Definition q_abs (e : queue) (s : list positive) : Prop := s = fst e ++ rev (snd e).
Definition q_put (e : queue) (v : positive) : queue := (fst e, v :: snd e).
Definition q_front (e : queue) : queue := match fst e with [] => (rev_append (snd e) [], []) | _ => e end.
Definition q_take (e : queue) (v : positive) : list queue :=
  let e := q_front e in match fst e with u :: front => if u =? v then [(front, snd e)] else [] | [] => [] end.
Definition q_heads (e : queue) : list positive := match fst (q_front e) with u :: _ => [u] | [] => [] end.
Definition q_empty (e : queue) : bool := match e with ([], []) => true | _ => false end.
Definition q_all (e : queue) : list positive := fst e ++ snd e.
Definition q_without (_ : list positive) (stays : positive -> bool) (e : queue) : queue := (filter stays (fst e), filter stays (snd e)).
Definition list_eqb (a b : list positive) : bool := equal a b.
Definition q_eqb (e e' : queue) : bool := if list_eqb (fst e) (fst e') then list_eqb (snd e) (snd e') else false.

Lemma q_front_abs e s : q_abs e s -> q_abs (q_front e) s /\ (fst (q_front e) = [] -> s = []).
Proof.
  unfold q_abs, q_front. destruct e as [[|x f] b]; simpl; intros ->; [|easy].
  rewrite rev_append_rev, !app_nil_r. auto.
Qed.
Lemma filter_rev (f : positive -> bool) l : filter f (rev l) = rev (filter f l).
Proof. induction l as [|x l IH]; simpl; auto. rewrite filter_app, IH. simpl. destruct (f x); simpl; auto. apply app_nil_r. Qed.

Lemma fifo_laws : Laws (step Fifo) (next q_put q_take q_heads q_empty q_all q_eqb) q_abs q_eqb same pure (restrict q_without).
Proof.
  apply laws.
  - unfold q_abs. intros e s v ->. simpl. now rewrite app_assoc.
  - intros e s v e' A H. unfold q_take in H. apply q_front_abs in A as [A _]. destruct (q_front e) as [[|u f] b]; simpl in *; [easy|].
    destruct (Pos.eqb_spec u v) as [->|]; [|easy]. destruct H as [<-|[]]. unfold q_abs in *. simpl in *. eauto.
  - intros e s v s' A T. simpl in T. subst s. apply q_front_abs in A as [A N]. unfold q_take. destruct (q_front e) as [[|u f] b]; simpl in *; [now specialize (N eq_refl)|].
    unfold q_abs in A. simpl in A. injection A as <- ->. rewrite Pos.eqb_refl. exists (f, b). split; [now left|easy].
  - intros e s v s' A T. simpl in T. subst s. apply q_front_abs in A as [A N]. unfold q_heads. destruct (q_front e) as [[|u f] b]; simpl in *; [now specialize (N eq_refl)|].
    unfold q_abs in A. simpl in A. injection A as <- _. auto.
  - unfold q_abs. intros [[|x f] [|y b]] s ->; simpl; split; try easy. intros H. now destruct (rev b).
  - unfold q_abs, q_all. intros e s ->. rewrite !app_length, rev_length. lia.
  - unfold q_abs. intros gone stays e s _ ->. simpl. now rewrite filter_app, filter_rev.
  - intros [f b] [f' b'] s H. unfold q_eqb, list_eqb in H. simpl in H. destruct (equal f f') eqn:E; [|easy]. apply equal_spec in E, H. now subst.
Qed.

(** *** A stack *)
Definition s_take (e : list positive) (v : positive) : list (list positive) := match e with u :: e => if u =? v then [e] else [] | [] => [] end.
Definition s_heads (e : list positive) : list positive := match e with u :: _ => [u] | [] => [] end.
Definition s_empty (e : list positive) : bool := match e with [] => true | _ => false end.
Lemma stack_laws : Laws (step Stack) (next (fun e v => v :: e) s_take s_heads s_empty (fun e => e) list_eqb) eq list_eqb same pure (restrict (fun _ stays => filter stays)).
Proof.
  apply laws.
  - now intros e s v ->.
  - intros e s v e' -> H. destruct s as [|u s]; simpl in H; [easy|]. destruct (Pos.eqb_spec u v) as [->|]; [|easy]. destruct H as [<-|[]]. simpl. eauto.
  - intros e s v s' -> T. simpl in T. subst s. simpl. rewrite Pos.eqb_refl. exists s'. simpl; auto.
  - intros e s v s' -> T. simpl in T. subst s. simpl; auto.
  - intros e s ->. destruct s; simpl; split; easy.
  - now intros e s ->.
  - now intros gone stays e s _ ->.
  - intros e e' s H A. apply equal_spec in H. congruence.
Qed.

(** *** A bag: how many there are of each element *)
Definition bag := PM.t positive.
Definition count (v : positive) (s : list positive) : nat := count_occ Pos.eq_dec s v.
Definition held (e : bag) (v : positive) : nat := match PM.find v e with Some n => Pos.to_nat n | None => O end.
Definition b_abs (e : bag) (s : list positive) : Prop := forall v, count v s = held e v.
Definition b_put (e : bag) (v : positive) : bag := PM.add v (match PM.find v e with Some n => Pos.succ n | None => 1 end) e.
Definition b_take (e : bag) (v : positive) : list bag :=
  match PM.find v e with Some n => [if n =? 1 then PM.remove v e else PM.add v (Pos.pred n) e] | None => [] end.
Definition b_heads (e : bag) : list positive := map fst (PM.elements e).
Definition copies (held : positive -> nat) (values : list positive) : list positive := flat_map (fun v => repeat v (held v)) values.
Definition b_all (e : bag) : list positive := copies (held e) (b_heads e).
Definition b_empty (e : bag) : bool := PM.is_empty e.
Definition b_without (gone : list positive) (_ : positive -> bool) (e : bag) : bag := fold_left (fun m v => PM.remove v m) gone e.
Definition b_eqb (e e' : bag) : bool := PM.equal Pos.eqb e e'.

Lemma b_eqb_sound : EqbSound b_abs b_eqb.
Proof.
  intros e e' s H A v. rewrite A. unfold b_eqb in H. apply PM.equal_2 in H. destruct H as [I M]. unfold held.
  destruct (PM.find v e) as [n|] eqn:F, (PM.find v e') as [m|] eqn:G; auto.
  - f_equal. apply Pos.eqb_eq, (M v); auto.
  - assert (X : PM.In v e) by (exists n; exact F). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
  - assert (X : PM.In v e') by (exists m; exact G). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
Qed.
Lemma b_put_ok e s v : b_abs e s -> b_abs (b_put e v) (v :: s).
Proof.
  intros A u. unfold b_put, held, count. simpl. specialize (A u). unfold held, count in A. destruct (Pos.eq_dec v u) as [->|N].
  - rewrite PM.gss. rewrite A. destruct (PM.find u e); lia.
  - rewrite PM.gso by auto. exact A.
Qed.
Lemma count_app v a b : count v (a ++ b) = (count v a + count v b)%nat.
Proof. apply count_occ_app. Qed.
Lemma b_take_held e v e' u : In e' (b_take e v) -> held e u = (held e' u + if Pos.eq_dec v u then 1 else 0)%nat.
Proof.
  unfold b_take, held. destruct (PM.find v e) as [n|] eqn:F; [|easy]. intros [<-|[]].
  destruct (Pos.eqb_spec n 1) as [->|N]; destruct (Pos.eq_dec v u) as [<-|D]; rewrite ?F, ?PM.grs, ?PM.gss, ?PM.gro, ?PM.gso by auto; try lia.
Qed.
Lemma b_take_some e s v : b_abs e s -> In v s -> exists e', In e' (b_take e v).
Proof.
  intros A H. specialize (A v). unfold b_take, held in *. apply (count_occ_In Pos.eq_dec) in H. unfold count in A.
  destruct (PM.find v e); [eexists; now left|lia].
Qed.
Lemma b_remove e a v b e' : b_abs e (a ++ v :: b) -> In e' (b_take e v) -> b_abs e' (a ++ b).
Proof.
  intros A H u. specialize (A u). rewrite (b_take_held _ _ _ u H) in A. rewrite count_app in *. unfold count in *. simpl in A. destruct (Pos.eq_dec v u); lia.
Qed.
Lemma b_in e s v : b_abs e s -> (In v s <-> PM.find v e <> None).
Proof.
  intros A. specialize (A v). unfold held, count in A. rewrite (count_occ_In Pos.eq_dec s v). destruct (PM.find v e); split; intros; try easy; lia.
Qed.
Lemma b_take_sound e s v e' : b_abs e s -> In e' (b_take e v) -> exists s', (exists a b, s = a ++ v :: b /\ s' = a ++ b) /\ b_abs e' s'.
Proof.
  intros A H. assert (Hv : In v s). { apply (b_in e); auto. unfold b_take in H. now destruct (PM.find v e). }
  apply in_split in Hv as (a & b & ->). exists (a ++ b). split; [eauto|eapply b_remove; eauto].
Qed.
Lemma b_take_complete e s v s' : b_abs e s -> (exists a b, s = a ++ v :: b /\ s' = a ++ b) -> exists e', In e' (b_take e v) /\ b_abs e' s'.
Proof.
  intros A (a & b & -> & ->). destruct (b_take_some e _ v A) as (e' & H); [apply in_or_app; right; now left|]. exists e'. split; auto. eapply b_remove; eauto.
Qed.
Lemma b_heads_in e s v : b_abs e s -> In v s -> In v (b_heads e).
Proof.
  intros A H. apply (b_in e s v A) in H. destruct (PM.find v e) as [n|] eqn:F; [|easy].
  apply PM.elements_correct in F. apply in_map_iff. exists (v, n). auto.
Qed.
Lemma b_empty_ok e s : b_abs e s -> (b_empty e = true <-> s = []).
Proof.
  intros A. unfold b_empty. split.
  - intros H. apply PM.is_empty_2 in H. destruct s as [|v s]; auto. exfalso. assert (X : In v (v :: s)) by now left.
    apply (b_in e) in X; auto. destruct (PM.find v e) as [n|] eqn:F; [|easy]. now apply (H v n).
  - intros ->. apply PM.is_empty_1. intros v n H. unfold PM.MapsTo in H. specialize (A v). unfold held, count in A. rewrite H in A. simpl in A. lia.
Qed.
Lemma fewer s : forall t, (forall v, (count v s <= count v t)%nat) -> (length s <= length t)%nat.
Proof.
  induction s as [|x s IH]; simpl; intros t H; [lia|]. assert (I : In x t).
  { apply (count_occ_In Pos.eq_dec). specialize (H x). unfold count in H. simpl in H. destruct (Pos.eq_dec x x); [lia|easy]. }
  apply in_split in I as (a & b & ->). specialize (IH (a ++ b)). rewrite app_length in *. simpl. enough (length s <= length a + length b)%nat by lia.
  apply IH. intros v. specialize (H v). rewrite count_app in *. unfold count in *. simpl in H. destruct (Pos.eq_dec x v); lia.
Qed.
Lemma copies_ok (held : positive -> nat) values s : (forall v, In v s -> In v values /\ (count v s <= held v)%nat) -> (length s <= length (copies held values))%nat.
Proof.
  intros H. apply fewer. intros v. destruct (in_dec Pos.eq_dec v s) as [I|N]; [|unfold count at 1; rewrite (proj1 (count_occ_not_In Pos.eq_dec s v) N); lia].
  destruct (H v I) as ((a & b & ->)%in_split & L). unfold copies. rewrite flat_map_app. simpl. rewrite !count_app. unfold count at 3.
  rewrite count_occ_repeat_eq by easy. lia.
Qed.
Lemma b_all_ok e s : b_abs e s -> (length s <= length (b_all e))%nat.
Proof. intros A. apply copies_ok. intros v I. rewrite A. split; auto. eapply b_heads_in; eauto. Qed.
Lemma b_without_ok gone stays e s : (forall v, stays v = false <-> In v gone) -> b_abs e s -> b_abs (b_without gone stays e) (filter stays s).
Proof.
  intros St A v. unfold b_without. specialize (A v).
  assert (G : forall e, held (fold_left (fun m v => PM.remove v m) gone e) v = if in_dec Pos.eq_dec v gone then O else held e v).
  { clear. induction gone as [|x l IH]; intros e; simpl; auto. rewrite IH. unfold held.
    destruct (Pos.eq_dec x v) as [->|N]; [rewrite PM.grs; now destruct (in_dec _ _ _)|]. rewrite PM.gro by auto. now destruct (in_dec _ _ _). }
  rewrite G. clear G. destruct (in_dec Pos.eq_dec v gone) as [Y|N].
  - apply St in Y. apply count_occ_not_In. intros [_ X]%filter_In. congruence.
  - rewrite <- A. assert (Sv : stays v = true) by (destruct (stays v) eqn:E; auto; now apply St in E).
    clear - Sv. unfold count. induction s as [|x s IH]; simpl; auto. destruct (Pos.eq_dec x v) as [->|D].
    + rewrite Sv. simpl. destruct (Pos.eq_dec v v); [|easy]. now f_equal.
    + destruct (stays x); simpl; auto. destruct (Pos.eq_dec x v); easy.
Qed.
(** Elements that stay in a bag only affect operations that find it empty. If there are none in the core, operations that may have taken anything
may be left out, too. *)
Definition loose (kept : op call unit -> bool) (e : bag) (h : list (op call unit)) : option (bag * list (op call unit)) :=
  let gone := dropped_values kept h in
  let set := members gone in
  let stays := fun v => match PM.find v set with Some _ => false | None => true end in
  if forallb (fun o => if kept o then match what o with Empty => false | TakeAny => lost o | c => forallb stays (values c) end else true) h
  then Some (b_without gone stays e, collect (some_of kept) h) else None.
Definition b_restrict (kept : op call unit -> bool) (e : bag) (h : list (op call unit)) : option (bag * list (op call unit)) :=
  match restrict b_without kept e h with Some r => Some r | None => loose kept e h end.

Section Loose.
Variable stays : positive -> bool.
Definition more (s t : list positive) : Prop := forall v, stays v = true -> (count v s <= count v t)%nat.
Lemma count_take s v s' u : take Bag s v s' -> count u s = (count u s' + if Pos.eq_dec v u then 1 else 0)%nat.
Proof. intros (a & b & -> & ->). rewrite !count_app. unfold count. simpl. destruct (Pos.eq_dec v u); lia. Qed.
Lemma more_take s t v s' : more s t -> stays v = true -> take Bag s v s' -> exists t', take Bag t v t' /\ more s' t'.
Proof.
  intros M Sv T. assert (H : In v t).
  { apply (count_occ_In Pos.eq_dec). specialize (M v Sv). rewrite (count_take _ _ _ v T) in M. unfold count in M. destruct (Pos.eq_dec v v); [lia|easy]. }
  apply in_split in H as (a & b & ->). assert (T' : take Bag (a ++ v :: b) v (a ++ b)) by (now exists a, b). exists (a ++ b). split; auto.
  intros u Su. specialize (M u Su). rewrite (count_take _ _ _ u T), (count_take _ _ _ u T') in M. lia.
Qed.
Lemma more_less s t v s' : more s t -> take Bag s v s' -> more s' t.
Proof. intros M T u Su. specialize (M u Su). rewrite (count_take _ _ _ u T) in M. lia. Qed.
Lemma more_drain vs s s' : drain Bag s vs s' -> forall t, more s t ->
  ((forall v, In v vs -> stays v = true) -> exists t', drain Bag t vs t' /\ more s' t') /\ more s' t.
Proof.
  induction 1 as [s|s v s1 vs s2 T D IH]; intros t M; split; auto.
  - intros _. exists t. split; auto. constructor.
  - intros H. destruct (more_take _ _ _ _ M (H v (or_introl eq_refl)) T) as (t1 & T1 & M1).
    destruct (IH _ M1) as [(t' & ? & ?) _]; [intros; apply H; now right|]. exists t'. split; auto. econstructor; eauto.
  - apply IH. eapply more_less; eauto.
Qed.
End Loose.
Theorem loose_sound : RestrictSound (step Bag) b_abs loose.
Proof.
  unfold loose. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H.
  set (gone := dropped_values kept h) in *. set (stays := fun v => match PM.find v (members gone) with Some _ => false | None => true end) in *.
  destruct (forallb _ h) eqn:F; [|easy]. injection H as <- <-. rewrite forallb_forall in F.
  assert (St : forall v, stays v = false <-> In v gone).
  { intros v. rewrite <- members_spec. unfold stays. destruct (PM.find v (members gone)); split; intros; auto; try easy; congruence. }
  exists (filter stays s). split; [apply b_without_ok; auto|].
  apply (simulation (step Bag) (more stays) (some_of kept) h s); auto.
  - intros o o' _ H. unfold some_of in H. destruct (kept o); [|easy]. injection H as <-. auto.
  - intros o x x1 t Ho R E%acts_step. specialize (F _ Ho). unfold some_of. destruct (kept o) eqn:Ko.
    + destruct (what o) as [v|v| |v| | |vs|] eqn:Wo; simpl in E, F; try easy.
      * left. exists (v :: t). split; [apply acts_step; now rewrite Wo|]. subst. intros u Su. specialize (R u Su). unfold count in *. simpl. destruct (Pos.eq_dec v u); lia.
      * destruct (stays v) eqn:Sv; [|easy]. left. destruct (more_take stays _ _ _ _ R Sv E) as (t' & T & M). exists t'. split; auto. apply acts_step. now rewrite Wo.
      * destruct E as (v & T). destruct (stays v) eqn:Sv.
        -- left. destruct (more_take stays _ _ _ _ R Sv T) as (t' & T' & M). exists t'. split; auto. apply acts_step. rewrite Wo. now exists v.
        -- right. split; [unfold lost in F; now destruct (ret o)|eapply more_less; eauto].
      * destruct (stays v) eqn:Sv; [|easy]. destruct E as ((r & T) & ->). left. destruct (more_take stays _ _ _ _ R Sv T) as (t' & T' & M).
        exists t. split; auto. apply acts_step. rewrite Wo. split; auto. now exists t'.
      * subst. left. exists t. split; auto. apply acts_step. now rewrite Wo.
      * rewrite forallb_forall in F. destruct (more_drain stays _ _ _ E t R) as [G _]. destruct (G F) as (t' & ? & ?). left. exists t'. split; auto. apply acts_step. now rewrite Wo.
      * destruct E as (vs & E). left. exists t. split; [apply acts_step; rewrite Wo; exists []; constructor|]. eapply more_drain; eauto.
    + destruct (what o) as [v|v| |v| | |vs|] eqn:Wo; simpl in E.
      * subst. assert (D := dropped_spec kept h o Ho Ko). rewrite Wo in D. specialize (D eq_refl v (or_introl eq_refl)). apply St in D.
        intros u Su. specialize (R u Su). unfold count in *. simpl. destruct (Pos.eq_dec v u); [congruence|lia].
      * eapply more_less; eauto.
      * destruct E as (v & T). eapply more_less; eauto.
      * now destruct E as [_ ->].
      * now destruct E as [-> ->].
      * now subst.
      * eapply more_drain; eauto.
      * destruct E as (vs & E). eapply more_drain; eauto.
  - intros v Sv. unfold count. clear - Sv. induction s as [|x s IH]; simpl; auto. destruct (Pos.eq_dec x v) as [->|N].
    + rewrite Sv. simpl. destruct (Pos.eq_dec v v); [lia|easy].
    + destruct (stays x); simpl; auto. destruct (Pos.eq_dec x v); [easy|auto].
Qed.

Lemma bag_laws : Laws (step Bag) (next b_put b_take b_heads b_empty b_all b_eqb) b_abs b_eqb same pure b_restrict.
Proof.
  assert (G : Laws (step Bag) (next b_put b_take b_heads b_empty b_all b_eqb) b_abs b_eqb same pure (restrict b_without)).
  { apply laws; auto using b_empty_ok, b_all_ok, b_without_ok, b_eqb_sound.
  - exact b_put_ok.
  - exact b_take_sound.
  - exact b_take_complete.
  - intros e s v s' A (a & b & -> & _). eapply b_heads_in; eauto. apply in_or_app; right; now left.
}
  destruct G as [G1 G2 G3 G4 G5 G6]. constructor; auto. unfold b_restrict. intros kept e h e' h' H. destruct (restrict b_without kept e h) as [[]|] eqn:E.
  - injection H as -> ->. eapply G6; eauto.
  - eapply loose_sound; eauto.
Qed.

(** *** A priority queue: a bag that knows the highest rank in each of its parts

Each element is stored with its number and its rank. [top] is the highest rank of what is there, or 1. *)
Inductive tree := Bare | Fork (l : tree) (here : option (positive * positive)) (high : positive) (r : tree).
Definition top (t : tree) : positive := match t with Bare => 1 | Fork _ _ high _ => high end.
Definition left_of (t : tree) : tree := match t with Bare => Bare | Fork l _ _ _ => l end.
Definition right_of (t : tree) : tree := match t with Bare => Bare | Fork _ _ _ r => r end.
Definition here_of (t : tree) : option (positive * positive) := match t with Bare => None | Fork _ here _ _ => here end.
Definition highest (l : tree) (here : option (positive * positive)) (r : tree) : positive :=
  Pos.max (match here with Some (_, k) => k | None => 1 end) (Pos.max (top l) (top r)).
Definition fork (l : tree) (here : option (positive * positive)) (r : tree) : tree :=
  match l, here, r with Bare, None, Bare => Bare | _, _, _ => Fork l here (highest l here r) r end.
Fixpoint entry (v : positive) (t : tree) {struct t} : option (positive * positive) :=
  match t, v with Bare, _ => None | Fork l _ _ _, xO v => entry v l | Fork _ _ _ r, xI v => entry v r | Fork _ here _ _, xH => here end.
Fixpoint change (v : positive) (x : option (positive * positive)) (t : tree) : tree :=
  match v with
  | xO v => fork (change v x (left_of t)) (here_of t) (right_of t)
  | xI v => fork (left_of t) (here_of t) (change v x (right_of t))
  | xH => fork (left_of t) x (right_of t)
  end.
Fixpoint bare (t : tree) : bool := match t with Bare => true | Fork l None _ r => if bare l then bare r else false | _ => false end.
(* The elements whose rank is at least this one. A path leads from the root to the tree. *)
Fixpoint above (k : positive) (path : positive -> positive) (t : tree) : list positive :=
  match t with
  | Bare => []
  | Fork l here high r =>
    if high <? k then []
    else (match here with Some _ => [path 1] | None => [] end) ++ above k (fun v => path v~0) l ++ above k (fun v => path v~1) r
  end.

Lemma entry_fork l here r v : entry v (fork l here r) = match v with xO v => entry v l | xI v => entry v r | xH => here end.
Proof. destruct l, here, r; auto; destruct v; auto. Qed.
Lemma entry_change x v : forall t u, entry u (change v x t) = if u =? v then x else entry u t.
Proof. induction v as [v IH|v IH|]; intros t [u|u|]; simpl; rewrite entry_fork; try rewrite IH; destruct t; auto; now destruct (u =? v). Qed.

Fixpoint topped (t : tree) : Prop := match t with Bare => True | Fork l here high r => topped l /\ topped r /\ high = highest l here r end.
Lemma topped_fork l here r : topped l -> topped r -> topped (fork l here r).
Proof. destruct l, here, r; simpl; intuition. Qed.
Lemma topped_change x v : forall t, topped t -> topped (change v x t).
Proof.
  assert (L : forall t, topped t -> topped (left_of t) /\ topped (right_of t)) by (intros [|l here high r]; simpl; intuition).
  induction v as [v IH|v IH|]; intros t T; destruct (L t T); apply topped_fork; fold change; auto.
Qed.
Lemma top_spec t r : topped t -> (top t <= r <-> forall v n k, entry v t = Some (n, k) -> k <= r).
Proof.
  induction t as [|t1 IH1 here high t2 IH2]; simpl; [intros _; split; [easy|lia]|]. intros (T1 & T2 & ->). specialize (IH1 T1). specialize (IH2 T2).
  unfold highest. rewrite !Pos.max_lub_iff, IH1, IH2. split.
  - intros (H & H1 & H2) [v|v|] n k E; eauto. rewrite E in H. exact H.
  - intros H. repeat split.
    + destruct here as [(n, k)|]; [|lia]. apply (H 1 n k). easy.
    + intros v. apply (H v~0).
    + intros v. apply (H v~1).
Qed.
Lemma above_spec k j n t : forall path v, topped t -> entry v t = Some (n, j) -> k <= j -> In (path v) (above k path t).
Proof.
  induction t as [|l IHl here high r IHr]; intros path v T F L; [easy|].
  assert (M := proj1 (top_spec _ high T) (Pos.le_refl _) _ _ _ F). destruct T as (Tl & Tr & _).
  simpl. destruct (Pos.ltb_spec high k); [lia|]. rewrite !in_app_iff. destruct v as [v|v|]; simpl in F.
  - right. right. apply (IHr (fun v => path v~1)); auto.
  - right. left. apply (IHl (fun v => path v~0)); auto.
  - left. subst. now left.
Qed.
Lemma bare_spec t : bare t = true <-> forall v, entry v t = None.
Proof.
  induction t as [|l IHl here high r IHr]; simpl; [easy|]. destruct here as [x|]; [split; [easy|intros H; now specialize (H 1)]|].
  destruct (bare l) eqn:E.
  - rewrite IHr. split; intros H; [|intros v; apply (H v~1)]. intros [v|v|]; auto. now apply IHl.
  - split; [easy|]. intros H. apply IHl. intros v. apply (H v~0).
Qed.
Definition tree_dec (t t' : tree) : {t = t'} + {t <> t'}.
Proof. repeat decide equality. Defined.

Section Ranked.
Variable rank : positive -> positive.
Definition p_put (t : tree) (v : positive) : tree := change v (Some (match entry v t with Some (n, k) => (Pos.succ n, k) | None => (1, rank v) end)) t.
Definition p_take (t : tree) (v : positive) : list tree :=
  match entry v t with
  | Some (n, k) => if top t <=? k then [change v (if n =? 1 then None else Some (Pos.pred n, k)) t] else []
  | None => []
  end.
Definition p_heads (t : tree) : list positive := above (top t) (fun v => v) t.
Definition p_held (t : tree) (v : positive) : nat := match entry v t with Some (n, _) => Pos.to_nat n | None => O end.
Definition p_all (t : tree) : list positive := copies (p_held t) (above 1 (fun v => v) t).
Definition p_without (gone : list positive) (_ : positive -> bool) (t : tree) : tree := fold_left (fun t v => change v None t) gone t.
Definition p_eqb (t t' : tree) : bool := if tree_dec t t' then true else false.

(** It has the elements of a bag. *)
Definition ranked (t : tree) : Prop := topped t /\ forall v n k, entry v t = Some (n, k) -> k = rank v.
Definition holds (t : tree) (e : bag) : Prop := forall v, PM.find v e = option_map fst (entry v t).
Definition p_abs (t : tree) (s : list positive) : Prop := ranked t /\ exists e, b_abs e s /\ holds t e.

Lemma ranked_change t v x : ranked t -> (forall n k, x = Some (n, k) -> k = rank v) -> ranked (change v x t).
Proof.
  intros [T R] X. split; [now apply topped_change|]. intros u n k. rewrite entry_change. destruct (Pos.eqb_spec u v) as [->|]; eauto.
Qed.
Lemma holds_add t e v n k : holds t e -> holds (change v (Some (n, k)) t) (PM.add v n e).
Proof. intros H u. rewrite entry_change. destruct (Pos.eqb_spec u v) as [->|N]; [now rewrite PM.gss|now rewrite PM.gso]. Qed.
Lemma holds_remove t e v : holds t e -> holds (change v None t) (PM.remove v e).
Proof. intros H u. rewrite entry_change. destruct (Pos.eqb_spec u v) as [->|N]; [now rewrite PM.grs|now rewrite PM.gro]. Qed.
Lemma p_put_ok t s v : p_abs t s -> p_abs (p_put t v) (v :: s).
Proof.
  intros [R (e & A & H)]. unfold p_put. split.
  - apply ranked_change; auto. intros n k. destruct (entry v t) as [(m, j)|] eqn:F; intros [= _ <-]; auto. eapply R; eauto.
  - exists (b_put e v). split; [now apply b_put_ok|]. unfold b_put. rewrite H. destruct (entry v t) as [(m, j)|]; now apply holds_add.
Qed.
Lemma p_in t s v : p_abs t s -> (In v s <-> exists n, entry v t = Some (n, rank v)).
Proof.
  intros [[_ R] (e & A & H)]. rewrite (b_in e s v A), H. destruct (entry v t) as [(n, k)|] eqn:F; simpl; split; try easy.
  - intros _. rewrite <- (R _ _ _ F). eauto.
  - now intros (n & ?).
Qed.
Lemma p_top t s r : p_abs t s -> (top t <= r <-> forall u, In u s -> rank u <= r).
Proof.
  intros A. assert (B := A). destruct B as [[T R] _]. rewrite (top_spec _ _ T). split; intros L.
  - intros u (n & F)%(p_in t s u A). eauto.
  - intros u n k F. assert (E := R _ _ _ F). subst k. apply L, (p_in t s u A). eauto.
Qed.
Lemma p_take_bag t s v t' : p_abs t s -> In t' (p_take t v) -> exists s', take (Priority rank) s v s' /\ p_abs t' s'.
Proof.
  intros A H. unfold p_take in H. destruct (entry v t) as [(n, k)|] eqn:F; [|easy]. destruct (Pos.leb_spec (top t) k) as [L|]; [|easy]. destruct H as [<-|[]].
  assert (B := A). destruct B as [[T R] (e & Ae & He)]. assert (E := R _ _ _ F). subst k.
  assert (I : In (if n =? 1 then PM.remove v e else PM.add v (Pos.pred n) e) (b_take e v)). { unfold b_take. rewrite He, F. now left. }
  destruct (b_take_sound _ _ _ _ Ae I) as (s' & S & A'). exists s'. split.
  - split; auto. now apply (p_top t s).
  - split; [apply ranked_change; [easy|]; intros m k; destruct (n =? 1); [easy|now intros [= _ <-]]|].
    eexists. split; [exact A'|]. destruct (n =? 1); [now apply holds_remove|now apply holds_add].
Qed.
Lemma p_take_some t s v s' : p_abs t s -> take (Priority rank) s v s' -> p_take t v <> [] /\ In v (p_heads t).
Proof.
  intros A [(a & b & E & _) M]. assert (I : In v s) by (subst; apply in_or_app; right; now left).
  assert (L := proj2 (p_top t s _ A) M). apply (p_in t s v A) in I as (n & F). split.
  - unfold p_take. rewrite F. apply Pos.leb_le in L. now rewrite L.
  - destruct A as [[T _] _]. exact (above_spec _ _ _ _ (fun v => v) _ T F L).
Qed.
Lemma p_take_complete t s v s' : p_abs t s -> take (Priority rank) s v s' -> exists t', In t' (p_take t v) /\ p_abs t' s'.
Proof.
  intros A S. destruct (p_take_some _ _ _ _ A S) as [N _]. destruct (p_take t v) as [|t' ts] eqn:P; [easy|]. exists t'. split; [now left|].
  assert (I : In t' (p_take t v)) by (rewrite P; now left). destruct (p_take_bag _ _ _ _ A I) as (s2 & [(a & b & E & E2) _] & [R (e & A2 & H2)]).
  split; auto. exists e. split; auto. destruct S as [(a' & b' & E' & ->) _]. intros u. rewrite <- A2, E2. rewrite E in E'.
  assert (C := f_equal (count u) E'). rewrite !count_app in C. unfold count in C. rewrite !count_app. unfold count. simpl in C. destruct (Pos.eq_dec v u); lia.
Qed.
Lemma p_without_ok gone stays t s : (forall v, stays v = false <-> In v gone) -> p_abs t s -> p_abs (p_without gone stays t) (filter stays s).
Proof.
  intros St [R (e & A & H)]. assert (G : ranked (p_without gone stays t) /\ holds (p_without gone stays t) (b_without gone stays e)).
  { clear - R H. unfold p_without, b_without. revert t e R H. induction gone as [|v l IH]; simpl; intros t e R H; auto.
    apply IH; [now apply ranked_change|now apply holds_remove]. }
  destruct G. split; auto. exists (b_without gone stays e). split; auto. now apply b_without_ok.
Qed.

Lemma priority_laws : Laws (step (Priority rank)) (next p_put p_take p_heads bare p_all p_eqb) p_abs p_eqb same pure (restrict p_without).
Proof.
  apply laws.
  - exact p_put_ok.
  - exact p_take_bag.
  - exact p_take_complete.
  - intros t s v s' A S. now apply (p_take_some _ _ _ _ A) in S.
  - intros t s A. rewrite bare_spec. split.
    + intros N. destruct s as [|v s]; auto. destruct (proj1 (p_in t (v :: s) v A)) as (n & F); [now left|]. now rewrite N in F.
    + intros -> v. destruct A as [_ (e & A & H)]. specialize (A v). specialize (H v). unfold held in A. rewrite H in A.
      destruct (entry v t) as [(n, k)|]; auto. simpl in A. lia.
  - intros t s A. apply copies_ok. intros v I. assert (B := A). destruct B as [[T _] (e & Ae & H)]. destruct (proj1 (p_in t s v A) I) as (n & F). split.
    + apply (above_spec 1 (rank v) n t (fun v => v)); auto. lia.
    + rewrite Ae. unfold held, p_held. rewrite H, F. easy.
  - exact p_without_ok.
  - intros t t' s H A. unfold p_eqb in H. destruct (tree_dec t t'); [now subst|easy].
Qed.
End Ranked.
