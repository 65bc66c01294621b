(** Registers: register, cas-register, multi-register and kv.

A state has a value in each place. An operation is a list of steps that happen at once. What an operation saw is part of it; an operation that
crashed saw nothing that is known. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History Order First Core Projection Check.
Import ListNotations.
Open Scope positive_scope.

Section Registers.
Context {value : Type}.
Variable value_eqb : value -> value -> bool.
Definition ValueEqb := forall v u, value_eqb v u = true <-> v = u.
Hypothesis value_eqb_spec : ValueEqb.
Variable join : value -> value -> value.

(** ** What is trusted *)

Inductive micro :=
  | Get (p : positive) (v : value)      (* the place has this value *)
  | Unlike (p : positive) (v : value)   (* it has another value *)
  | Put (p : positive) (v : value)
  | Append (p : positive) (v : value).  (* the value is joined to what is there *)

Definition state := positive -> value.
Definition set (s : state) (p : positive) (v : value) : state := fun q => if q =? p then v else s q.

Definition do (m : micro) (s : state) : option state :=
  match m with
  | Get p v => if value_eqb (s p) v then Some s else None
  | Unlike p v => if value_eqb (s p) v then None else Some s
  | Put p v => Some (set s p v)
  | Append p v => Some (set s p (join (s p) v))
  end.
Fixpoint txn (ms : list micro) (s : state) : option state :=
  match ms with [] => Some s | m :: ms => match do m s with Some s => txn ms s | None => None end end.
Definition step (s : state) (c : list micro) (_ : unit) (s' : state) : Prop := txn c s = Some s'.

(** The operations of a register at a place. *)
Definition read (p : positive) (v : value) := [Get p v].
Definition write (p : positive) (v : value) := [Put p v].
Definition cas (p : positive) (old new : value) := if value_eqb old new then [Get p old] else [Get p old; Put p new].
Definition refused (p : positive) (old : value) := [Unlike p old].  (* a cas that found another value *)
Definition erase (p : positive) (nothing : value) := [Unlike p nothing; Put p nothing].
Definition append (p : positive) (v : value) := [Append p v].

(** ** The same as a program *)

Definition est := (value * PM.t value)%type.
Definition lookup (e : est) (p : positive) : value := match PM.find p (snd e) with Some v => v | None => fst e end.
Definition abs (e : est) (s : state) : Prop := forall p, s p = lookup e p.
Definition put (e : est) (p : positive) (v : value) : est := (fst e, PM.add p v (snd e)).
Definition run1 (m : micro) (e : est) : option est :=
  match m with
  | Get p v => if value_eqb (lookup e p) v then Some e else None
  | Unlike p v => if value_eqb (lookup e p) v then None else Some e
  | Put p v => Some (put e p v)
  | Append p v => Some (put e p (join (lookup e p) v))
  end.
Fixpoint runs (ms : list micro) (e : est) : option est :=
  match ms with [] => Some e | m :: ms => match run1 m e with Some e => runs ms e | None => None end end.
Definition next (e : est) (c : list micro) (_ : option unit) : list est := match runs c e with Some e => [e] | None => [] end.

Lemma abs_put e s p v : abs e s -> abs (put e p v) (set s p v).
Proof.
  intros A q. unfold lookup, put, set. simpl. destruct (Pos.eqb_spec q p) as [->|N]; [now rewrite PM.gss|].
  rewrite PM.gso by easy. apply A.
Qed.
Lemma runs_spec ms : forall e s, abs e s ->
  match txn ms s, runs ms e with Some s', Some e' => abs e' s' | None, None => True | _, _ => False end.
Proof.
  induction ms as [|m ms IH]; simpl; intros e s A; auto.
  destruct m; simpl; rewrite ?(A p); try destruct (value_eqb _ _); auto; apply IH; auto using abs_put.
Qed.
Lemma acts_txn c k s s' : acts step c k s s' <-> txn c s = Some s'.
Proof. destruct k as [[]|]; unfold acts, step; split; auto; [now intros (_ & ?)|intros; now exists tt]. Qed.

Lemma next_sound : NextSound step next abs.
Proof.
  intros e s c k e' A H. unfold next in H. pose proof (runs_spec c e s A) as R.
  destruct (runs c e) as [e1|]; [|easy]. destruct H as [<-|[]]. destruct (txn c s) as [s'|] eqn:E; [|easy].
  exists s'. split; auto. now apply acts_txn.
Qed.
Lemma next_complete : NextComplete step next abs.
Proof.
  intros e s c k s' A H%acts_txn. pose proof (runs_spec c e s A) as R. rewrite H in R.
  unfold next. destruct (runs c e) as [e1|]; [|easy]. exists e1. split; auto. now left.
Qed.

Definition eqb (e e' : est) : bool := if value_eqb (fst e) (fst e') then PM.equal value_eqb (snd e) (snd e') else false.
Lemma eqb_sound : EqbSound abs eqb.
Proof.
  intros e e' s H A. unfold eqb in H. destruct (value_eqb _ _) eqn:D; [|easy]. apply value_eqb_spec in D.
  apply PM.equal_2 in H. destruct H as [I M]. intros p. rewrite A. unfold lookup. rewrite D.
  destruct (PM.find p (snd e)) as [v|] eqn:F, (PM.find p (snd e')) as [u|] eqn:G; auto.
  - apply value_eqb_spec, (M p); auto.
  - assert (X : PM.In p (snd e)) by (exists v; exact F). apply I in X as (u & X). unfold PM.MapsTo in X. congruence.
  - assert (X : PM.In p (snd e')) by (exists u; exact G). apply I in X as (v & X). unfold PM.MapsTo in X. congruence.
Qed.

Definition micro_eqb (m m' : micro) : bool :=
  match m, m' with
  | Get p v, Get q u | Unlike p v, Unlike q u | Put p v, Put q u | Append p v, Append q u => if p =? q then value_eqb v u else false
  | _, _ => false
  end.
Fixpoint call_eqb (c c' : list micro) : bool :=
  match c, c' with [], [] => true | m :: c, m' :: c' => if micro_eqb m m' then call_eqb c c' else false | _, _ => false end.
Lemma call_eqb_sound c : forall c', call_eqb c c' = true -> c = c'.
Proof.
  induction c as [|m c IH]; intros [|m' c']; simpl; try easy. destruct (micro_eqb m m') eqn:E; [|easy]. intros H. f_equal; [|auto].
  destruct m, m'; simpl in E; try easy; destruct (Pos.eqb_spec p p0); try easy; subst; f_equal; now apply value_eqb_spec.
Qed.
Definition same (c : list micro) (k : option unit) (c' : list micro) (k' : option unit) : bool :=
  match k, k' with Some _, Some _ | None, None => call_eqb c c' | _, _ => false end.
Lemma same_sound : SameSound same.
Proof. intros c k c' k' H. destruct k as [[]|], k' as [[]|]; try easy; apply call_eqb_sound in H; auto. Qed.

Definition pure (c : list micro) (_ : option unit) : bool := forallb (fun m => match m with Get _ _ | Unlike _ _ => true | _ => false end) c.
Lemma pure_sound : PureSound step pure.
Proof.
  intros c k s s' P H%acts_txn. unfold pure in P. revert s H. induction c as [|m c IH]; simpl; intros s H; [congruence|].
  destruct m; simpl in *; try easy; destruct (value_eqb _ _); auto; easy.
Qed.

(** ** What may be left out of a core *)

Definition mem (p : positive) (ps : list positive) : bool := existsb (Pos.eqb p) ps.
Lemma mem_spec p ps : mem p ps = true <-> In p ps.
Proof. unfold mem. rewrite existsb_exists. split; [intros (q & ? & ->%Pos.eqb_eq); easy|intros; exists p; split; auto; apply Pos.eqb_refl]. Qed.

Fixpoint looks_from (put : list positive) (ms : list micro) : list (positive * option value) :=
  match ms with
  | [] => []
  | Get p v :: ms => if mem p put then looks_from put ms else (p, Some v) :: looks_from put ms
  | Unlike p v :: ms => if mem p put then looks_from put ms else (p, None) :: looks_from put ms
  | Put p v :: ms => looks_from (p :: put) ms
  | Append p v :: ms => if mem p put then looks_from (p :: put) ms else (p, None) :: looks_from (p :: put) ms
  end.
Fixpoint writes (ms : list micro) : list (positive * option value) :=
  match ms with
  | [] => []
  | Put p v :: ms => let ws := writes ms in if mem p (map fst ws) then ws else (p, Some v) :: ws
  | Append p v :: ms => let ws := writes ms in if mem p (map fst ws) then ws else (p, None) :: ws
  | _ :: ms => writes ms
  end.
Definition found_there (ls : list (positive * option value)) (c : positive * option value) : bool :=
  match snd c with
  | Some v => existsb (fun l => if fst l =? fst c then match snd l with Some u => value_eqb u v | None => false end else false) ls
  | None => false
  end.
Definition looks (o : op (list micro) unit) := looks_from [] (what o).
Definition makes (o : op (list micro) unit) := filter (fun c => negb (found_there (looks o) c)) (writes (what o)).

Lemma looks_from_sure ms : forall w s s1 p v, txn ms s = Some s1 -> In (p, Some v) (looks_from w ms) ->
  forall s0, (forall q, ~ In q w -> s q = s0 q) -> s0 p = v.
Proof.
  induction ms as [|m ms IH]; simpl; intros w s s1 p v R H s0 E; [easy|].
  assert (Away : forall q x, In (p, Some v) (looks_from (q :: w) ms) -> txn ms (set s q x) = Some s1 -> s0 p = v).
  { intros q x H' R'. eapply (IH (q :: w)); eauto. intros r Hr. simpl in Hr. unfold set. destruct (Pos.eqb_spec r q); [intuition congruence|]. apply E. tauto. }
  destruct m as [q u|q u|q u|q u]; simpl in R.
  - destruct (value_eqb (s q) u) eqn:V; [|easy]. apply value_eqb_spec in V. destruct (mem q w) eqn:M; [eauto|].
    destruct H as [H|H]; [|eauto]. injection H as -> ->. rewrite <- E; auto. intros X%mem_spec. congruence.
  - destruct (value_eqb (s q) u) eqn:V; [easy|]. destruct (mem q w) eqn:M; [eauto|]. destruct H as [H|H]; [easy|eauto].
  - eauto.
  - destruct (mem q w); [eauto|]. destruct H as [H|H]; [easy|eauto].
Qed.

Lemma writes_only ms : forall s s1 p, txn ms s = Some s1 -> ~ In p (map fst (writes ms)) -> s1 p = s p.
Proof.
  assert (In_writes : forall ms p q, In p (map fst (writes ms)) -> In p (map fst (if mem q (map fst (writes ms)) then writes ms else (q, @None value) :: writes ms))).
  { intros. destruct (mem _ _); simpl; auto. }
  induction ms as [|m ms IH]; simpl; intros s s1 p R N; [congruence|].
  destruct m as [q u|q u|q u|q u]; simpl in R.
  - destruct (value_eqb _ _); [eauto|easy].
  - destruct (value_eqb _ _); [easy|eauto].
  - assert (p <> q /\ ~ In p (map fst (writes ms))) as [Nq Nw].
    { destruct (mem q (map fst (writes ms))) eqn:M; simpl in N; [apply mem_spec in M; split; congruence|split; intuition]. }
    rewrite (IH _ _ _ R Nw). unfold set. now apply Pos.eqb_neq in Nq as ->.
  - assert (p <> q /\ ~ In p (map fst (writes ms))) as [Nq Nw].
    { destruct (mem q (map fst (writes ms))) eqn:M; simpl in N; [apply mem_spec in M; split; congruence|split; intuition]. }
    rewrite (IH _ _ _ R Nw). unfold set. now apply Pos.eqb_neq in Nq as ->.
Qed.
Lemma writes_sure ms : forall s s1 p v, txn ms s = Some s1 -> In (p, Some v) (writes ms) -> s1 p = v.
Proof.
  induction ms as [|m ms IH]; simpl; intros s s1 p v R H; [easy|].
  destruct m as [q u|q u|q u|q u]; simpl in R.
  - destruct (value_eqb _ _); [eauto|easy].
  - destruct (value_eqb _ _); [easy|eauto].
  - destruct (mem q (map fst (writes ms))) eqn:M; [eauto|]. destruct H as [H|H]; [|eauto]. injection H as -> ->.
    rewrite (writes_only _ _ _ _ R); [unfold set; now rewrite Pos.eqb_refl|]. intros X%mem_spec. congruence.
  - destruct (mem q (map fst (writes ms))) eqn:M; [eauto|]. destruct H as [H|H]; [easy|eauto].
Qed.
Lemma looks_from_only ms : forall w s s1 t, txn ms s = Some s1 -> (forall p, In p w \/ In p (map fst (looks_from w ms)) -> t p = s p) ->
  exists t1, txn ms t = Some t1 /\ (forall p, In p w \/ In p (map fst (writes ms)) -> t1 p = s1 p) /\ (forall p, ~ In p (map fst (writes ms)) -> t1 p = t p).
Proof.
  induction ms as [|m ms IH]; simpl; intros w s s1 t R E.
  - injection R as <-. exists t. repeat split; auto.
  - assert (Step : forall q x y, txn ms (set s q x) = Some s1 -> x = y -> (forall p, In p w \/ In p (map fst (looks_from (q :: w) ms)) -> t p = s p) ->
      exists t1, txn ms (set t q y) = Some t1 /\ (forall p, In p w \/ p = q \/ In p (map fst (writes ms)) -> t1 p = s1 p)
        /\ (forall p, ~ In p (map fst (writes ms)) -> t1 p = set t q y p)).
    { intros q x y R' <- E'. destruct (IH (q :: w) _ _ (set t q x) R') as (t1 & T & S & O).
      - intros p H. unfold set. destruct (Pos.eqb_spec p q) as [|N]; auto. apply E'. simpl in H. intuition congruence.
      - exists t1. repeat split; auto. intros p H. apply S. simpl. intuition. }
    destruct m as [q u|q u|q u|q u]; simpl in R |- *.
    + assert (Eq : t q = s q) by (apply E; destruct (mem q w) eqn:M; [left; now apply mem_spec|simpl; auto]).
      rewrite Eq. destruct (value_eqb (s q) u); [|easy]. apply (IH w s); auto. intros p [H|H]; apply E; auto. destruct (mem q w); simpl; auto.
    + assert (Eq : t q = s q) by (apply E; destruct (mem q w) eqn:M; [left; now apply mem_spec|simpl; auto]).
      rewrite Eq. destruct (value_eqb (s q) u); [easy|]. apply (IH w s); auto. intros p [H|H]; apply E; auto. destruct (mem q w); simpl; auto.
    + destruct (Step q u u R eq_refl E) as (t1 & T & S & O). exists t1. split; auto. split.
      * intros p H. apply S. destruct (mem q (map fst (writes ms))); simpl in H; intuition.
      * intros p H. destruct (mem q (map fst (writes ms))) eqn:M; simpl in H; [apply mem_spec in M|];
          (rewrite O by tauto; unfold set; destruct (Pos.eqb_spec p q); [subst; tauto|easy]).
    + assert (Eq : t q = s q) by (apply E; destruct (mem q w) eqn:M; [left; now apply mem_spec|simpl; auto]).
      destruct (Step q (join (s q) u) (join (t q) u) R) as (t1 & T & S & O); [now rewrite Eq| |].
      { intros p [H|H]; apply E; auto. destruct (mem q w); simpl; auto. }
      exists t1. split; auto. split.
      * intros p H. apply S. destruct (mem q (map fst (writes ms))); simpl in H; intuition.
      * intros p H. destruct (mem q (map fst (writes ms))) eqn:M; simpl in H; [apply mem_spec in M|];
          (rewrite O by tauto; unfold set; destruct (Pos.eqb_spec p q); [subst; tauto|easy]).
Qed.

Lemma found_there_spec o p v : found_there (looks o) (p, Some v) = true -> In (p, Some v) (looks o).
Proof.
  unfold found_there. simpl. rewrite existsb_exists. intros ((q & [u|]) & H & E); simpl in E; destruct (Pos.eqb_spec q p); try easy.
  apply value_eqb_spec in E. now subst.
Qed.
Lemma makes_cases o p : In p (map fst (writes (what o))) -> In p (map fst (makes o)) \/ exists v, In (p, Some v) (writes (what o)) /\ In (p, Some v) (looks o).
Proof.
  intros ((q & u) & E & H)%in_map_iff. simpl in E. subst q. unfold makes. destruct (found_there (looks o) (p, u)) eqn:F.
  - right. destruct u as [v|]; [|easy]. exists v. auto using found_there_spec.
  - left. apply in_map_iff. exists (p, u). split; auto. apply filter_In. now rewrite F.
Qed.

Definition at_ (s : state) (p : positive) : value := s p.
Lemma reg_looks_sure o s s1 p v : effect step o s s1 -> In (p, Some v) (looks o) -> at_ s p = v.
Proof. intros E%acts_txn H. eapply looks_from_sure; eauto. Qed.
Lemma reg_makes_sure o s s1 p v : effect step o s s1 -> In (p, Some v) (makes o) -> at_ s1 p = v.
Proof. intros E%acts_txn (H & _)%filter_In. eapply writes_sure; eauto. Qed.
Lemma reg_makes_only o s s1 p : effect step o s s1 -> ~ In p (map fst (makes o)) -> at_ s1 p = at_ s p.
Proof.
  intros E N. destruct (In_dec Pos.eq_dec p (map fst (writes (what o)))) as [Y|Y]; [|apply acts_txn in E; eapply writes_only; eauto].
  destruct (makes_cases _ _ Y) as [|(v & Hw & Hl)]; [easy|]. rewrite (reg_looks_sure _ _ _ _ _ E Hl). apply acts_txn in E. eapply writes_sure; eauto.
Qed.
Lemma reg_looks_only o s s1 t : effect step o s s1 -> (forall p, In p (map fst (looks o)) -> at_ t p = at_ s p) ->
  exists t1, effect step o t t1 /\ (forall p, In p (map fst (makes o)) -> at_ t1 p = at_ s1 p) /\ (forall p, ~ In p (map fst (makes o)) -> at_ t1 p = at_ t p).
Proof.
  intros E H. assert (E' := E). apply acts_txn in E. destruct (looks_from_only _ [] _ _ t E) as (t1 & T & S & O).
  - intros p [[]|Hp]. now apply H.
  - exists t1. assert (Et : effect step o t t1) by now apply acts_txn. split; auto. split.
    + intros p ((q & u) & Eq & (Hp & _)%filter_In)%in_map_iff. simpl in Eq. subst q. apply S. right. apply in_map_iff. now exists (p, u).
    + intros p N. now apply (reg_makes_only o t t1).
Qed.

Definition restrict (kept : op (list micro) unit -> bool) (e : est) (h : list (op (list micro) unit)) :=
  if all_unseen looks makes value_eqb kept h then Some (e, collect (some_of kept) h) else None.
Theorem restrict_sound : RestrictSound step abs restrict.
Proof.
  unfold restrict. intros kept e h e' h' H S W s A L. rewrite collect_chosen in H. destruct (all_unseen _ _ _ _ _) eqn:U; [|easy]. injection H as <- <-.
  exists s. split; auto. eapply (seen_sound step at_ looks makes); eauto using reg_looks_sure, reg_makes_sure, reg_makes_only, reg_looks_only.
  intros d k p v u. eapply all_unseen_sound; eauto. intros x. now apply value_eqb_spec.
Qed.

Theorem laws : Laws step next abs eqb same pure restrict.
Proof. constructor; auto using next_sound, next_complete, eqb_sound, same_sound, pure_sound, restrict_sound. Qed.

End Registers.
