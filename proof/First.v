(** A history that is linearizable up to a time is so up to every earlier one. So a failing completion is the first
if there is an order of everything before it. *)

From Coq Require Import List PArith Bool Lia.
From Clew Require Import History Order.
Import ListNotations.
Open Scope positive_scope.

Section First.
Context {call answer state : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.

(** Operations return after their invocation. *)
Definition sane (h : list op) : bool := forallb (fun o => match ret o with Some t => inv o <? t | None => true end) h.
Lemma sane_spec h : sane h = true -> forall o t, In o h -> ret o = Some t -> inv o < t.
Proof. unfold sane. rewrite forallb_forall. intros H o t Ho R. specialize (H _ Ho). rewrite R in H. now apply Pos.ltb_lt. Qed.

Definition cut (time : positive) (o : op) : op :=
  match became o with Returned t a => if t <=? time then o else Op (inv o) (what o) (Open a) | _ => o end.

Lemma in_prefix time h x : In x (prefix time h) <-> exists o, In o h /\ inv o <= time /\ x = cut time o.
Proof.
  induction h as [|o h IH]; simpl; [split; [easy|now intros (? & ? & _)]|].
  destruct (inv o <=? time) eqn:E; [apply Pos.leb_le in E|apply Pos.leb_gt in E]; simpl; rewrite IH; split.
  - intros [<-|(p & ? & ? & ->)]; [exists o; auto|exists p; auto].
  - intros (p & [->|?] & ? & ->); [now left|right; eauto].
  - intros (p & ? & ? & ->); exists p; auto.
  - intros (p & [->|?] & ? & ->); [lia|eauto].
Qed.

Lemma cut_inv time o : inv (cut time o) = inv o.
Proof. unfold cut. destruct (became o); auto. now destruct (_ <=? _). Qed.
Lemma cut_acts time o : acts step (what (cut time o)) (known (cut time o)) = acts step (what o) (known o).
Proof. unfold cut, known. destruct (became o) eqn:E; auto; [destruct (time0 <=? time) eqn:L|..]; simpl; now rewrite ?E. Qed.
Lemma cut_ret time o t : ret (cut time o) = Some t <-> ret o = Some t /\ t <= time.
Proof.
  unfold cut, ret. destruct (became o) eqn:E; [destruct (time0 <=? time) eqn:L|..]; simpl; rewrite ?E;
    [apply Pos.leb_le in L|apply Pos.leb_gt in L|..]; split; try easy; try (intros [H ?]; congruence).
  - intros H; injection H as <-; auto.
  - intros [H ?]. injection H as <-. lia.
Qed.
Lemma cut_cut early late o : early <= late -> cut early (cut late o) = cut early o.
Proof.
  intros L. unfold cut. destruct (became o) eqn:E; simpl; rewrite ?E; auto.
  destruct (time <=? late) eqn:L1; simpl; rewrite ?E; auto.
  apply Pos.leb_gt in L1. destruct (time <=? early) eqn:L2; auto. apply Pos.leb_le in L2. lia.
Qed.
Lemma cut_same time o t : ret o = Some t -> t <= time -> cut time o = o.
Proof. unfold cut, ret. destruct (became o); try easy. intros H; injection H as ->. intros H%Pos.leb_le. now rewrite H. Qed.

(** An order up to the last operation that has returned. *)
Definition by_then (time : positive) (o : op) : bool := match ret o with Some t => t <=? time | None => false end.
Fixpoint upto (time : positive) (os : list op) : list op :=
  match os with
  | [] => []
  | o :: os => match upto time os with [] => if by_then time o then [o] else [] | some => o :: some end
  end.

Lemma by_then_spec time o : by_then time o = true <-> exists t, ret o = Some t /\ t <= time.
Proof.
  unfold by_then. destruct (ret o); split; try easy; [intros H%Pos.leb_le; eauto|intros (? & E & ?)|intros (? & ? & ?); easy].
  injection E as ->. now apply Pos.leb_le.
Qed.
Lemma upto_prefix time os : exists rest, os = upto time os ++ rest.
Proof.
  induction os as [|o os (rest & E)]; simpl; [now exists []|].
  destruct (upto time os) as [|x xs]; [|exists rest; simpl; now f_equal].
  destruct (by_then time o); [now exists os|now exists (o :: os)].
Qed.
Lemma upto_all time os o : In o os -> by_then time o = true -> In o (upto time os).
Proof.
  induction os as [|x os IH]; simpl; [easy|]. intros [->|Ho] B.
  - destruct (upto time os); [rewrite B|]; now left.
  - specialize (IH Ho B). destruct (upto time os); [easy|now right].
Qed.
Lemma upto_last time os : in_time os -> (forall x t, In x os -> ret x = Some t -> inv x < t) -> forall o, In o (upto time os) -> inv o <= time.
Proof.
  induction os as [|x os IH]; simpl; [easy|]. intros [Hp Ht] S o Ho.
  assert (Hs : forall y, In y (upto time os) -> inv y <= time) by (apply IH; eauto).
  assert (Hx : forall y, In y (x :: os) -> by_then time y = true -> (y = x \/ ~ precedes y x) -> inv x <= time).
  { intros y Hy (t & R & L)%by_then_spec [->|P]; [specialize (S _ _ Hy R); lia|].
    destruct (Pos.ltb_spec t (inv x)); [destruct P; now exists t|lia]. }
  assert (Hb : upto time os <> [] -> exists y, In y os /\ by_then time y = true).
  { clear. induction os as [|z os IH]; simpl; [easy|]. destruct (upto time os) eqn:E.
    - destruct (by_then time z) eqn:B; [|easy]. intros _; exists z; auto.
    - intros _. destruct IH as (y & ? & ?); [easy|]. exists y; auto. }
  destruct (upto time os) as [|y ys] eqn:E.
  - destruct (by_then time x) eqn:B; [|easy]. destruct Ho as [<-|[]]. apply (Hx x); simpl; auto.
  - destruct Ho as [<-|Ho]; [|apply Hs, Ho]. destruct Hb as (z & ? & ?); [easy|]. apply (Hx z); simpl; auto.
Qed.

Lemma run_app s a b : run step s (a ++ b) -> run step s a.
Proof. revert s; induction a; simpl; intros s R; [constructor|inversion R; subst; econstructor; eauto]. Qed.
Lemma run_cut time s os : run step s os -> run step s (map (cut time) os).
Proof. induction 1; simpl; econstructor; eauto. unfold effect in *. now rewrite cut_acts. Qed.
Lemma in_time_app (a b : list op) : in_time (a ++ b) -> in_time a.
Proof. induction a; simpl; [easy|]. intros [H ?]; split; auto. intros; apply H, in_or_app; auto. Qed.
Lemma in_time_cut time (os : list op) : in_time os -> in_time (map (cut time) os).
Proof.
  induction os; simpl; [easy|]. intros [H ?]; split; auto. intros y (z & <- & Hz)%in_map_iff (t & R & L).
  apply (H z Hz). exists t. rewrite cut_inv in L. now apply cut_ret in R.
Qed.

Lemma prefix_NoDup early late h os : sorted h = true -> NoDup os -> incl os (prefix late h) -> NoDup (map (cut early) os).
Proof.
  intros S. induction 1 as [|o os N D IH]; simpl; [constructor|]. intros I. constructor; [|apply IH; intros x Hx; apply I; now right].
  intros (p & E & Hp)%in_map_iff. apply N.
  assert (Ho := I o (or_introl eq_refl)). assert (Hq := I p (or_intror Hp)).
  apply in_prefix in Ho as (o' & Ho' & _ & ->). apply in_prefix in Hq as (p' & Hp' & _ & ->).
  replace o' with p'; [easy|]. apply (sorted_unique _ S); auto. apply (f_equal inv) in E. now rewrite !cut_inv in E.
Qed.

Theorem prefix_monotone init h early late : sorted h = true -> sane h = true -> early <= late ->
  Linearizable step init (prefix late h) -> Linearizable step init (prefix early h).
Proof.
  intros S W L (os & [D I R T X]).
  destruct (upto_prefix early os) as (rest & E).
  assert (Iu : incl (upto early os) (prefix late h)) by (intros x Hx; apply I; rewrite E; apply in_or_app; auto).
  exists (map (cut early) (upto early os)). constructor.
  - eapply prefix_NoDup; eauto. rewrite E in D. revert D. generalize (upto early os). clear. intros l D.
    induction l; simpl in *; [constructor|]. inversion D; subst. constructor; auto. intros H; apply H1, in_or_app; auto.
  - intros x (y & <- & Hy)%in_map_iff. apply in_prefix.
    assert (B : inv y <= early).
    { eapply (upto_last early os); eauto. intros x t Hx Ro. apply I, in_prefix in Hx as (o & Ho & _ & ->). apply cut_ret in Ro as (Ro & _). rewrite cut_inv. eapply sane_spec; eauto. }
    apply Iu, in_prefix in Hy as (o & Ho & _ & ->). rewrite cut_inv in B.
    exists o. repeat split; auto. now apply cut_cut.
  - intros x (o & Ho & B & ->)%in_prefix N. destruct (ret (cut early o)) as [t|] eqn:Ro; [|easy].
    apply cut_ret in Ro as (Ro & Lt). rewrite (cut_same _ _ t) by auto.
    assert (Hin : In o os).
    { apply R; [apply in_prefix; exists o; repeat split; auto; [lia|symmetry; apply (cut_same _ _ t); auto; lia]|now rewrite Ro]. }
    replace o with (cut early o) by (apply (cut_same _ _ t); auto).
    apply in_map, upto_all; auto. apply by_then_spec; eauto.
  - apply in_time_cut. rewrite E in T. eapply in_time_app; eauto.
  - apply run_cut. rewrite E in X. eapply run_app; eauto.
Qed.

Lemma prefix_whole (h : list op) time : exists late, time <= late /\ prefix late h = h.
Proof.
  assert (G : exists late, forall later, late <= later -> prefix later h = h).
  { induction h as [|o h (late & E)]; [now exists 1|].
    exists (Pos.max (Pos.max late (inv o)) (match ret o with Some t => t | None => 1 end)). intros later L. simpl.
    replace (inv o <=? later) with true by (symmetry; apply Pos.leb_le; lia).
    rewrite E by lia. unfold ret in L. destruct (became o); auto.
    now replace (time0 <=? later) with true by (symmetry; apply Pos.leb_le; lia). }
  destruct G as (late & E). exists (Pos.max time late). split; [lia|apply E; lia].
Qed.

(** If the history is not linearizable up to some completion, it is not. *)
Theorem whole_fails init h time : sorted h = true -> sane h = true ->
  ~ Linearizable step init (prefix time h) -> ~ Linearizable step init h.
Proof.
  intros S W N L. destruct (prefix_whole h time) as (late & Le & E). apply N.
  apply (prefix_monotone _ _ _ late); auto. now rewrite E.
Qed.

Theorem first_sound init h time : sorted h = true -> sane h = true ->
  Linearizable step init (prefix (Pos.pred time) h) -> ~ Linearizable step init (prefix time h) -> FirstFailure step init h time.
Proof.
  intros S W B N. split; auto. intros before Lt. eapply prefix_monotone; eauto. lia.
Qed.

(** Long lists need programs without deep recursion. *)
Definition collect {A B : Type} (f : A -> option B) (l : list A) : list B :=
  rev_append (fold_left (fun kept x => match f x with Some y => y :: kept | None => kept end) l []) [].
Lemma collect_spec {A B : Type} (f : A -> option B) (g : list A -> list B) :
  g [] = [] -> (forall x l, g (x :: l) = match f x with Some y => y :: g l | None => g l end) -> forall l, collect f l = g l.
Proof.
  intros N C l. unfold collect. rewrite rev_append_rev, app_nil_r.
  assert (G : forall kept, rev (fold_left (fun kept x => match f x with Some y => y :: kept | None => kept end) l kept) = rev kept ++ g l).
  { induction l as [|x l IH]; simpl; intros kept; [now rewrite N, app_nil_r|]. rewrite IH, C. destruct (f x); simpl; auto. now rewrite <- app_assoc. }
  apply (G []).
Qed.
Definition begun_by (time : positive) (h : list op) : list op := collect (fun o => if inv o <=? time then Some (cut time o) else None) h.
Lemma begun_by_prefix time h : begun_by time h = prefix time h.
Proof. apply collect_spec; auto. intros x l. simpl. now destruct (inv x <=? time). Qed.

Lemma prefix_sorted time (h : list op) : sorted h = true -> sorted (prefix time h) = true.
Proof.
  assert (G : forall (h : list op) low last, ascending last h = true -> low <= last -> ascending low (prefix time h) = true).
  { clear h. induction h as [|o h IH]; simpl; intros low last A Lo; [easy|]. destruct (last <? inv o) eqn:E; [|easy]. apply Pos.ltb_lt in E.
    destruct (inv o <=? time); [|apply (IH _ (inv o)); auto; lia].
    fold (cut time o). cbn [ascending]. rewrite cut_inv. replace (low <? inv o) with true by (symmetry; apply Pos.ltb_lt; lia). apply (IH _ (inv o)); auto; lia. }
  intros A. apply (G h 1 1); auto; lia.
Qed.

Lemma prefix_sane time (h : list op) : sane h = true -> sane (prefix time h) = true.
Proof.
  unfold sane. rewrite !forallb_forall. intros W x (o & Ho & _ & ->)%in_prefix. specialize (W _ Ho).
  destruct (ret (cut time o)) as [t|] eqn:R; auto. apply cut_ret in R as [R _]. rewrite cut_inv. now rewrite R in W.
Qed.
End First.
