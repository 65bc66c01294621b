(** Reigns: the times at which a place has a value are one stretch if only one operation puts it there. So of two values of a place, one cannot be there both
before and after the other one. A stale read is the simplest case: a write, a write of another value, and a read of the first one. *)

From Coq Require Import List Arith PArith Bool Lia.
From Clew Require Import History Order First Projection Cycles.
Import ListNotations.
Open Scope nat_scope.

Section Reigns.
Context {call answer state value : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable at_ : state -> positive -> value.
(** As in Projection.v. *)
Variable looks makes : op -> list (positive * option value).
Hypothesis looks_sure : forall o s s1 p v, effect step o s s1 -> In (p, Some v) (looks o) -> at_ s p = v.
Hypothesis makes_sure : forall o s s1 p v, effect step o s s1 -> In (p, Some v) (makes o) -> at_ s1 p = v.
Hypothesis makes_only : forall o s s1 p, effect step o s s1 -> ~ In p (map fst (makes o)) -> at_ s1 p = at_ s p.
Variable same_value : value -> value -> bool.
Hypothesis same_value_spec : forall v u, same_value v u = true <-> v = u.
Variable init : state.
Variable h : list op.

Definition has_value (unsure : bool) (p : positive) (v : value) (c : positive * option value) : bool :=
  Pos.eqb (fst c) p && match snd c with Some u => same_value u v | None => unsure end.
Definition puts (p : positive) (v : value) (o : op) : bool := existsb (has_value true p v) (makes o).
(** The value is there right before the operation, or right after it. *)
Definition shows (p : positive) (v : value) (o : op) : bool := existsb (has_value false p v) (looks o ++ makes o).
Definition initially (p : positive) (v : value) : bool := same_value (at_ init p) v.
Definition putters (p : positive) (v : value) : list op := collect (fun o => if puts p v o then Some o else None) h.
Definition one_reign (p : positive) (v : value) : bool := match putters p v with [] => true | [_] => negb (initially p v) | _ => false end.
(** Where a value is seen, the one that puts it there has occurred. *)
Definition certain (p : positive) (v : value) (x : op) : bool :=
  returned x || match putters p v with [w] => Pos.eqb (inv w) (inv x) | _ => false end.

(** There is the value v, and later u; there is u, and later v. A value may also be there from the start. *)
Definition then_ (p : positive) (v u : value) (x : option positive) (y : positive) : bool :=
  match named h y with
  | Some y => shows p u y && certain p u y && match x with
    | Some x => match named h x with Some x => shows p v x && precedes_b x y | None => false end
    | None => initially p v
    end
  | None => false
  end.
Record stale := Stale { of_place : positive; this_value : value; other_value : value; this_first : option positive; other_later : positive; other_first : option positive; this_later : positive }.
Definition stale_read (c : stale) : verdict :=
  if negb (same_value (this_value c) (other_value c)) && one_reign (of_place c) (this_value c) && one_reign (of_place c) (other_value c)
    && then_ (of_place c) (this_value c) (other_value c) (this_first c) (other_later c) && then_ (of_place c) (other_value c) (this_value c) (other_first c) (this_later c)
  then Accepted else Rejected NoPattern (this_later c).

(** A value that is found where nothing can have put it: another one was there since, or from the start, and whatever puts it there either came before that one
was seen, or after it was found. Here it may be put there several times. *)
Record unput_value := Unput { at_place_ : positive; found_value : value; seen_before : option positive; seen_value : value; found_by : positive }.
Definition overwritten (c : unput_value) : verdict :=
  let p := at_place_ c in let v := found_value c in
  let y := match seen_before c with Some y => named h y | None => None end in
  if negb (same_value v (seen_value c)) && match named h (found_by c) with
    | Some x => shows p v x && returned x
      && match seen_before c, y with
        | None, _ => initially p (seen_value c)
        | Some _, Some y => shows p (seen_value c) y && precedes_b y x
        | Some _, None => false
        end
      && forallb (fun w => precedes_b x w || match y with Some y => precedes_b w y | None => false end) (putters p v)
    | None => false
    end
  then Accepted else Rejected NoPattern (found_by c).

Section Linearized.
Hypothesis sorted_h : sorted h = true.
Hypothesis sane_h : sane h = true.
Variable os : list op.
Hypothesis lin : linearization step init h os.
Variable st : nat -> state.
Hypothesis zero : st O = init.
Hypothesis steps : forall i o, nth_error os i = Some o -> effect step o (st i) (st (S i)).

Lemma some_puts p v i j : (forall m o, i <= m < j -> nth_error os m = Some o -> puts p v o = false)
  \/ exists m o, i <= m < j /\ nth_error os m = Some o /\ puts p v o = true.
Proof.
  induction j as [|j IH]; [left; intros; lia|]. destruct IH as [N|(m & o & ? & ?)]; [|right; exists m, o; split; auto; lia].
  destruct (nth_error os j) as [o|] eqn:E; [destruct (puts p v o) eqn:P|].
  - destruct (Nat.leb_spec i j); [right; exists j, o; repeat split; auto; lia|left; intros; lia].
  - left. intros m x L X. destruct (Nat.eq_dec m j) as [->|]; [congruence|apply (N m); auto; lia].
  - left. intros m x L X. destruct (Nat.eq_dec m j) as [->|]; [congruence|apply (N m); auto; lia].
Qed.
Lemma unput p v i j : i <= j <= length os -> (forall m o, i <= m < j -> nth_error os m = Some o -> puts p v o = false) -> at_ (st j) p = v -> at_ (st i) p = v.
Proof.
  intros [L B] N. induction L as [|j L IH]; auto. intros A. apply IH; [lia|intros; apply (N m); auto; lia|].
  destruct (nth_error os j) as [o|] eqn:E; [|apply nth_error_None in E; lia]. assert (P := N j o ltac:(lia) E).
  rewrite <- A. symmetry. apply (makes_only o); auto. intros ((q & u) & Eq & Hu)%in_map_iff. simpl in Eq. subst q.
  enough (puts p v o = true) by congruence. apply existsb_exists. exists (p, u). split; auto. unfold has_value. simpl. rewrite Pos.eqb_refl. simpl.
  destruct u as [u|]; auto. apply same_value_spec. rewrite <- A. symmetry. eapply makes_sure; eauto.
Qed.
Lemma is_putter p v m o : nth_error os m = Some o -> puts p v o = true -> In o (putters p v).
Proof. intros E P. unfold putters. rewrite collect_filter. apply filter_In. split; auto. apply (of_history _ _ _ _ lin). eapply nth_error_In; eauto. Qed.
Lemma put_before p v a : a <= length os -> initially p v = false -> at_ (st a) p = v -> exists m o, m < a /\ nth_error os m = Some o /\ In o (putters p v).
Proof.
  intros L I A. destruct (some_puts p v 0 a) as [N|(m & o & ? & E & P)]; [|exists m, o; repeat split; eauto using is_putter; lia].
  exfalso. apply (unput p v 0 a) in A; auto; [|lia]. rewrite zero in A. apply same_value_spec in A. unfold initially in I. congruence.
Qed.
Lemma reign p v a b c : one_reign p v = true -> a <= b <= c -> c <= length os -> at_ (st a) p = v -> at_ (st c) p = v -> at_ (st b) p = v.
Proof.
  intros R L B A C. destruct (some_puts p v b c) as [N|(m & o & Lm & E & P)]; [apply (unput p v b c); auto; lia|].
  pose proof (is_putter _ _ _ _ E P) as Ho. unfold one_reign in R. destruct (putters p v) as [|x [|]] eqn:Px; try easy. apply negb_true_iff in R.
  destruct Ho as [<-|[]]. destruct (put_before p v a) as (m' & o & L' & E' & Ho); auto; [lia|]. rewrite Px in Ho. destruct Ho as [<-|[]].
  assert (m = m'); [|lia]. apply (proj1 (NoDup_nth_error os)); [apply lin|apply nth_error_Some|]; congruence.
Qed.
Lemma shows_where p v i o : nth_error os i = Some o -> shows p v o = true -> exists k, i <= k <= S i /\ at_ (st k) p = v.
Proof.
  intros E H. apply existsb_exists in H as ((q & u) & Hu & V). unfold has_value in V. simpl in V. destruct (Pos.eqb_spec q p) as [->|]; [|easy]. simpl in V.
  destruct u as [u|]; [|easy]. apply same_value_spec in V as ->. apply in_app_or in Hu as [Hu|Hu]; [exists i|exists (S i)]; (split; [lia|]); eauto.
Qed.
Lemma returned_place x : In x h -> returned x = true -> exists i, nth_error os i = Some x.
Proof. intros Hx R. apply In_nth_error. apply (has_returned _ _ _ _ lin); auto. unfold returned in R. destruct (ret x); congruence. Qed.
Lemma precedes_place x y i j : nth_error os i = Some x -> nth_error os j = Some y -> precedes_b x y = true -> i < j.
Proof.
  intros Ei Ej P. assert (Hx : In x h) by (apply (of_history _ _ _ _ lin); eapply nth_error_In; eauto).
  unfold precedes_b in P. destruct (ret x) as [t|] eqn:R; [|easy]. apply Pos.ltb_lt in P. pose proof (sane_spec _ sane_h _ _ Hx R).
  destruct (Nat.lt_total i j) as [|[->|L]]; auto; exfalso; [replace y with x in P by congruence; lia|].
  pose proof (respects_time _ _ _ _ lin) as T. apply nth_error_split in Ej as (l1 & l2 & -> & <-).
  replace (l1 ++ y :: l2) with ((l1 ++ [y]) ++ l2) in T by (now rewrite <- app_assoc).
  apply (in_time_split _ _ T y x); [apply in_or_app; simpl; auto| |now exists t].
  rewrite nth_error_app2 in Ei by lia. destruct (i - length l1) eqn:E; [lia|]. simpl in Ei. eapply nth_error_In; eauto.
Qed.
Lemma bound i (x : op) : nth_error os i = Some x -> S i <= length os.
Proof. intros E. apply nth_error_Some. congruence. Qed.
Lemma certain_place p v k x : In x h -> one_reign p v = true -> k <= length os -> at_ (st k) p = v -> certain p v x = true -> exists i, nth_error os i = Some x.
Proof.
  intros Hx R L A C. apply orb_true_iff in C as [C|C]; [now apply returned_place|]. unfold one_reign in R. destruct (putters p v) as [|w [|]] eqn:P; try easy.
  apply negb_true_iff in R. destruct (put_before p v k) as (m & o & _ & E & Ho); auto. rewrite P in Ho. destruct Ho as [<-|[]]. exists m.
  rewrite E. f_equal. apply (sorted_unique _ sorted_h); auto; [apply (of_history _ _ _ _ lin); eapply nth_error_In; eauto|now apply Pos.eqb_eq].
Qed.
Lemma first_place p v u x y : then_ p v u x y = true -> exists a, a <= length os /\ at_ (st a) p = v.
Proof.
  unfold then_. destruct (named h y) as [y'|] eqn:Ny; [|easy]. rewrite !andb_true_iff. intros (_ & F). destruct x as [x|]; [|exists 0; split; [lia|]; rewrite zero; now apply same_value_spec].
  destruct (named h x) as [x'|] eqn:Nx; [|easy]. apply andb_true_iff in F as [Sx P]. destruct (returned_place x') as (i & E); [apply find_some in Nx; tauto|unfold precedes_b in P; unfold returned; now destruct (ret x')|].
  destruct (shows_where _ _ _ _ E Sx) as (k & Lk & A). exists k. split; auto. pose proof (bound _ _ E). lia.
Qed.
Lemma then_places p v u x y : one_reign p u = true -> (exists c, c <= length os /\ at_ (st c) p = u) -> then_ p v u x y = true ->
  exists a b, a <= b <= length os /\ at_ (st a) p = v /\ at_ (st b) p = u.
Proof.
  unfold then_. destruct (named h y) as [y'|] eqn:Ny; [|easy]. rewrite !andb_true_iff. intros R (c & Lc & Ac) ([Sy C] & F).
  destruct (certain_place p u c y') as (j & Ej); auto; [apply find_some in Ny; tauto|]. destruct (shows_where _ _ _ _ Ej Sy) as (b & Lb & Ab). pose proof (bound _ _ Ej) as Bj.
  destruct x as [x|]; [|exists 0, b; repeat split; auto; try lia; rewrite zero; now apply same_value_spec].
  destruct (named h x) as [x'|] eqn:Nx; [|easy]. apply andb_true_iff in F as [Sx P].
  destruct (returned_place x') as (i & Ei); [apply find_some in Nx; tauto|unfold precedes_b in P; unfold returned; now destruct (ret x')|].
  destruct (shows_where _ _ _ _ Ei Sx) as (a & La & Aa). pose proof (precedes_place _ _ _ _ Ei Ej P). exists a, b. repeat split; auto; lia.
Qed.
End Linearized.

Theorem stale_read_sound c : sorted h = true -> sane h = true -> stale_read c = Accepted -> ~ Linearizable step init h.
Proof.
  intros S W C (os & lin). destruct (places _ _ _ (runs _ _ _ _ lin)) as (st & Z & T). unfold stale_read in C. destruct c as [p v u x1 y1 y2 x2]. simpl in C.
  destruct (_ && _) eqn:E in C; [|easy]. rewrite !andb_true_iff, negb_true_iff in E. destruct E as [[[[N Rv] Ru] F] G].
  destruct (then_places S W os lin st Z T p v u x1 y1) as (a & b & Lab & Av & Bu); auto; [eapply first_place; eauto|].
  destruct (then_places S W os lin st Z T p u v y2 x2) as (c & d & Lcd & Cu & Dv); auto; [eapply first_place; eauto|].
  assert (v <> u) by (intros X%same_value_spec; congruence).
  destruct (Nat.le_gt_cases b d) as [L|L].
  - pose proof (reign os lin st Z T p v a b d Rv ltac:(lia) ltac:(lia) Av Dv). congruence.
  - pose proof (reign os lin st Z T p u c d b Ru ltac:(lia) ltac:(lia) Cu Bu). congruence.
Qed.
Theorem overwritten_sound c : sorted h = true -> sane h = true -> overwritten c = Accepted -> ~ Linearizable step init h.
Proof.
  intros S W C (os & lin). destruct (places _ _ _ (runs _ _ _ _ lin)) as (st & Z & T). unfold overwritten in C. destruct c as [p v sb u x]. simpl in C.
  destruct (_ && _) eqn:E in C; [|easy]. apply andb_true_iff in E as [N E]. destruct (named h x) as [x'|] eqn:Nx; [|easy]. rewrite !andb_true_iff in E. destruct E as [[[Sx Rx] E] F].
  rewrite forallb_forall in F. destruct (returned_place os lin x') as (i & Ei); auto; [apply find_some in Nx; tauto|].
  destruct (shows_where os st T p v i x' Ei Sx) as (k & Lk & A). pose proof (bound os _ _ Ei) as Bi.
  assert (G : exists j, j <= k /\ at_ (st j) p = u /\ forall m o, j <= m < k -> nth_error os m = Some o -> puts p v o = false).
  { assert (Aw : forall m o, m < k -> nth_error os m = Some o -> puts p v o = true -> precedes_b x' o = false).
    { intros m o Lm Em _. destruct (precedes_b x' o) eqn:P; auto. pose proof (precedes_place W os lin st T _ _ _ _ Ei Em P). lia. }
    destruct sb as [y|].
    - destruct (named h y) as [y'|] eqn:Ny; [|easy]. apply andb_true_iff in E as [Sy P].
      destruct (returned_place os lin y') as (j & Ej); [apply find_some in Ny; tauto|unfold precedes_b in P; unfold returned; now destruct (ret y')|].
      destruct (shows_where os st T p u j y' Ej Sy) as (l & Ll & B). pose proof (precedes_place W os lin st T _ _ _ _ Ej Ei P). exists l. repeat split; auto; [lia|].
      intros m o Lm Em. destruct (puts p v o) eqn:Po; auto. pose proof (F _ (is_putter os lin _ _ _ _ Em Po)) as Q. rewrite (Aw m o) in Q by (auto; lia).
      pose proof (precedes_place W os lin st T _ _ _ _ Em Ej Q). lia.
    - exists 0. repeat split; [lia|rewrite Z; now apply same_value_spec|]. intros m o Lm Em. destruct (puts p v o) eqn:Po; auto.
      pose proof (F _ (is_putter os lin _ _ _ _ Em Po)) as Q. rewrite (Aw m o) in Q by (auto; lia). easy. }
  destruct G as (j & Lj & B & Np). apply (unput os st T p v j k) in A; auto; [|lia]. rewrite B in A. apply negb_true_iff in N.
  enough (same_value v u = true) by congruence. now apply same_value_spec.
Qed.

(** A pattern, as data. *)
Inductive place_claim := StaleRead (c : stale) | Overwritten (c : unput_value).
Definition place_pattern (c : place_claim) : verdict := match c with StaleRead c => stale_read c | Overwritten c => overwritten c end.
Lemma place_pattern_sound c : sorted h = true -> sane h = true -> place_pattern c = Accepted -> ~ Linearizable step init h.
Proof. destruct c; [apply stale_read_sound|apply overwritten_sound]. Qed.
End Reigns.
