(** Why the operations outside of a core do not matter. Two arguments serve all data types.

Simulation: the other operations are left out, and what is left in a state relates to the whole state. A relation [R] shows it: between equal
states if what is left out changes nothing, between a container and its elements that are kept, and so on.

Seen: in a map of registers, what an operation of the core finds was not made by one outside of it. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History Order First.
Import ListNotations.
Open Scope positive_scope.

Section Simulation.
Context {call answer state : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.

Fixpoint chosen (keep : op -> option op) (h : list op) : list op :=
  match h with [] => [] | o :: h => match keep o with Some o' => o' :: chosen keep h | None => chosen keep h end end.

Lemma collect_chosen keep h : collect keep h = chosen keep h.
Proof. apply collect_spec; auto. Qed.
Lemma collect_filter (f : op -> bool) h : collect (fun o => if f o then Some o else None) h = filter f h.
Proof. apply collect_spec; auto. intros x l. simpl. now destruct (f x). Qed.

Lemma in_chosen keep h x : In x (chosen keep h) <-> exists o, In o h /\ keep o = Some x.
Proof.
  induction h as [|o h IH]; simpl; [split; [easy|now intros (? & ? & _)]|].
  destruct (keep o) eqn:E; simpl; rewrite IH; split.
  - intros [<-|(p & ? & ?)]; eauto.
  - intros (p & [<-|?] & ?); [left; congruence|eauto].
  - intros (p & ? & ?); eauto.
  - intros (p & [<-|?] & ?); [congruence|eauto].
Qed.

(** A crashed operation may also turn into none. *)
Theorem simulation (R : state -> state -> Prop) (keep : op -> option op) h s t : sorted h = true ->
  (forall o o', In o h -> keep o = Some o' -> inv o' = inv o /\ ret o' = ret o) ->
  (forall o s s1 t, In o h -> R s t -> effect step o s s1 ->
    match keep o with
    | None => R s1 t
    | Some o' => (exists t1, effect step o' t t1 /\ R s1 t1) \/ ret o = None /\ R s1 t
    end) ->
  R s t -> Linearizable step s h -> Linearizable step t (chosen keep h).
Proof.
  intros S K Sim Rst (os & [D I Rt T X]).
  assert (G : exists os', run step t os' /\ NoDup os' /\ in_time os' /\ (forall x, In x os' -> exists o, In o os /\ keep o = Some x)
    /\ (forall o x, In o os -> keep o = Some x -> ret o <> None -> In x os')).
  { clear Rt. revert t Rst D I T. induction X as [s|s o s1 os E X IH]; intros t Rst D I T.
    - exists []. repeat split; try easy; constructor.
    - inversion D as [|? ? No Dos]; subst. destruct T as [Ho T].
      assert (Io : incl os h) by (intros ? ?; apply I; now right). assert (Hoh : In o h) by (apply I; now left).
      assert (Sim' := Sim _ _ _ _ Hoh Rst E). destruct (keep o) as [o'|] eqn:Ko.
      + destruct (K _ _ Hoh Ko) as [Ki Kr]. destruct Sim' as [(t1 & E' & R1)|[N R1]].
        * destruct (IH t1 R1 Dos Io T) as (os' & X' & D' & T' & F & B). exists (o' :: os'). repeat split.
          -- econstructor; eauto.
          -- constructor; auto. intros Hx. destruct (F _ Hx) as (p & Hp & Kp). destruct (K _ _ (Io _ Hp) Kp) as [Pi _].
             apply No. replace o with p; auto. apply (sorted_unique _ S); auto. congruence.
          -- intros y Hy (tm & Ry & L). destruct (F _ Hy) as (p & Hp & Kp). destruct (K _ _ (Io _ Hp) Kp) as [Pi Pr].
             apply (Ho _ Hp). exists tm. split; congruence.
          -- easy.
          -- intros x [<-|Hx]; [exists o; simpl; auto|]. destruct (F _ Hx) as (p & ? & ?). exists p. simpl; auto.
          -- intros p x [<-|Hp] Kp Nr; [left; congruence|right; eauto].
        * destruct (IH t R1 Dos Io T) as (os' & X' & D' & T' & F & B). exists os'. repeat split; auto.
          -- intros x Hx. destruct (F _ Hx) as (p & ? & ?). exists p. simpl; auto.
          -- intros p x [<-|Hp] Kp Nr; [easy|eauto].
      + destruct (IH t Sim' Dos Io T) as (os' & X' & D' & T' & F & B). exists os'. repeat split; auto.
        * intros x Hx. destruct (F _ Hx) as (p & ? & ?). exists p. simpl; auto.
        * intros p x [<-|Hp] Kp Nr; [congruence|eauto]. }
  destruct G as (os' & X' & D' & T' & F & B). exists os'. constructor; auto.
  - intros x Hx. apply in_chosen. destruct (F _ Hx) as (o & ? & ?). eauto.
  - intros x (o & Ho & Ko)%in_chosen N. destruct (K _ _ Ho Ko) as [_ Kr]. apply (B o); auto; [apply Rt; auto|]; congruence.
Qed.

Lemma chosen_sorted keep h : (forall o o', In o h -> keep o = Some o' -> inv o' = inv o) -> sorted h = true -> sorted (chosen keep h) = true.
Proof.
  unfold sorted. intros K. assert (G : forall low last, low <= last -> ascending last h = true -> ascending low (chosen keep h) = true).
  { induction h as [|o h IH]; simpl; intros low last Le A; [easy|]. destruct (Pos.ltb_spec last (inv o)); [|easy].
    assert (K' : forall o o', In o h -> keep o = Some o' -> inv o' = inv o) by (intros; apply K; simpl; auto).
    destruct (keep o) as [o'|] eqn:Ko; [|apply (IH K' low (inv o)); auto; lia].
    simpl. rewrite (K o o') by (simpl; auto). replace (low <? inv o) with true by (symmetry; apply Pos.ltb_lt; lia). apply (IH K' _ (inv o)); auto; lia. }
  intros. apply (G 1 1); auto; lia.
Qed.

(** Operations that change nothing may be left out anywhere. *)
Definition some_of (kept : op -> bool) (o : op) : option op := if kept o then Some o else None.
Theorem idle_sound (kept : op -> bool) h s : sorted h = true ->
  (forall o s s1, In o h -> kept o = false -> effect step o s s1 -> s1 = s) ->
  Linearizable step s h -> Linearizable step s (chosen (some_of kept) h).
Proof.
  intros S P. apply (simulation eq (some_of kept)); auto; unfold some_of.
  - intros o o' _ H. destruct (kept o); [|easy]. injection H as <-. auto.
  - intros o x x1 t Ho -> E. destruct (kept o) eqn:Ko; [left; eauto|]. exact (P _ _ _ Ho Ko E).
Qed.

(** ** What an operation finds

[looks] are the places where an operation looks, with the value that it finds there if that is certain. [makes] are the places where it puts
something, with the value if that is certain. An operation that leaves what it found makes nothing. *)

Context {value : Type}.
Variable at_ : state -> positive -> value.
Variable looks makes : op -> list (positive * option value).
Hypothesis looks_sure : forall o s s1 p v, effect step o s s1 -> In (p, Some v) (looks o) -> at_ s p = v.
Hypothesis makes_sure : forall o s s1 p v, effect step o s s1 -> In (p, Some v) (makes o) -> at_ s1 p = v.
Hypothesis makes_only : forall o s s1 p, effect step o s s1 -> ~ In p (map fst (makes o)) -> at_ s1 p = at_ s p.
Hypothesis looks_only : forall o s s1 t, effect step o s s1 -> (forall p, In p (map fst (looks o)) -> at_ t p = at_ s p) ->
  exists t1, effect step o t t1 /\ (forall p, In p (map fst (makes o)) -> at_ t1 p = at_ s1 p)
    /\ (forall p, ~ In p (map fst (makes o)) -> at_ t1 p = at_ t p).

Definition agree (v u : option value) : Prop := match v, u with Some v, Some u => v = u | _, _ => True end.

(** What d makes was not found by k: it began after k had returned, or what it made was replaced before k began. *)
Definition unseen (kept : op -> bool) (h : list op) (d k : op) (p : positive) : Prop :=
  precedes k d \/ exists r, In r h /\ kept r = true /\ In p (map fst (makes r)) /\ precedes d r /\ precedes r k.

Lemma in_time_split (a b : list op) : in_time (a ++ b) -> forall y z, In y a -> In z b -> ~ precedes z y.
Proof. induction a as [|x a IH]; simpl; [easy|]. intros [H T] y z [<-|Hy] Hz; [apply H, in_or_app; auto|eauto]. Qed.

Definition made_by (p : positive) (done : list op) : option op := find (fun o => if In_dec Pos.eq_dec p (map fst (makes o)) then true else false) done.

Theorem seen_sound (kept : op -> bool) h s : sorted h = true -> sane h = true ->
  (forall d k p v u, In d h -> kept d = false -> In k h -> kept k = true -> In (p, v) (makes d) -> In (p, u) (looks k) -> agree v u -> unseen kept h d k p) ->
  Linearizable step s h -> Linearizable step s (chosen (some_of kept) h).
Proof.
  intros S W Un (os & [D I Rt T X]).
  assert (G : forall rest done s t, run step s rest -> os = rev done ++ rest ->
    (forall p, match made_by p done with
      | None => at_ t p = at_ s p
      | Some w => (exists v, In (p, v) (makes w) /\ agree v (Some (at_ s p))) /\ (kept w = true -> at_ t p = at_ s p) end) ->
    run step t (filter kept rest)).
  { induction rest as [|x rest IH]; simpl; intros done s0 t0 R E V; [constructor|].
    inversion R as [|? ? s1 ? Ex R']; subst.
    assert (Hx : In x h) by (apply I, in_or_app; right; now left).
    assert (E' : rev done ++ x :: rest = rev (x :: done) ++ rest) by (simpl; now rewrite <- app_assoc).
    assert (M : forall p, made_by p (x :: done) = if In_dec Pos.eq_dec p (map fst (makes x)) then Some x else made_by p done).
    { intros p. unfold made_by. simpl. now destruct (in_dec _ _ _). }
    assert (Old : forall p, In p (map fst (makes x)) -> exists v, In (p, v) (makes x) /\ agree v (Some (at_ s1 p))).
    { intros p ((q & v) & Eq & Hv)%in_map_iff. simpl in Eq. subst. exists v. split; auto. destruct v; simpl; auto. symmetry. eapply makes_sure; eauto. }
    destruct (kept x) eqn:Kx.
    - assert (Same : forall p, In p (map fst (looks x)) -> at_ t0 p = at_ s0 p).
      { intros p ((q & u) & Eq & Hu)%in_map_iff. simpl in Eq. subst q. specialize (V p).
        destruct (made_by p done) as [w|] eqn:Mw; auto. destruct V as [(v & Hv & Av) V].
        destruct (kept w) eqn:Kw; auto. exfalso.
        unfold made_by in Mw. apply find_some in Mw as Mw'. destruct Mw' as [Hw _].
        assert (Hwh : In w h) by (apply I, in_or_app; left; now apply -> in_rev).
        destruct (Un w x p v u) as [Pr|(r & Hr & Kr & Mr & P1 & P2)]; auto.
        + destruct v as [v|], u as [u|]; simpl; auto. rewrite <- (looks_sure _ _ _ _ _ Ex Hu). exact Av.
        + apply (in_time_split _ _ T w x); auto; [now apply -> in_rev|now left].
        + assert (Hro : In r (rev done ++ x :: rest)) by (apply Rt; auto; destruct P2 as (? & -> & _); easy).
          apply in_app_or in Hro as [Hro|[->|Hro]].
          * apply in_rev in Hro.
            assert (Spl : exists a b, done = a ++ w :: b /\ forall y, In y a -> ~ In p (map fst (makes y))).
            { clear - Mw. induction done as [|y l IH]; simpl in Mw; [easy|]. destruct (in_dec _ _ _) as [|N] in Mw.
              - injection Mw as ->. now exists [], l.
              - destruct (IH Mw) as (a & b & -> & F). exists (y :: a), b. split; auto. intros z [<-|]; auto. }
            destruct Spl as (a & b & -> & F). apply in_app_or in Hro as [Hro|[->|Hro]]; [now apply (F r)|congruence|].
            rewrite rev_app_distr in T. simpl in T. rewrite <- !app_assoc in T. simpl in T.
            apply (in_time_split (rev b) _ T r w); auto; [now apply -> in_rev|now left].
          * destruct P2 as (t & P2 & L). pose proof (sane_spec _ W _ _ Hr P2). lia.
          * assert (T' : in_time ((rev done ++ [x]) ++ rest)) by (rewrite <- app_assoc; exact T).
            apply (in_time_split _ _ T' x r); auto. apply in_or_app. right. now left. }
      destruct (looks_only _ _ _ _ Ex Same) as (t1 & Et & Mt & Ot). econstructor; [exact Et|].
      apply (IH (x :: done) s1 t1); auto. intros p. rewrite M. destruct (in_dec _ _ _) as [Y|N]; auto.
      specialize (V p). rewrite (Ot _ N), (makes_only _ _ _ _ Ex N). exact V.
    - apply (IH (x :: done) s1 t0); auto. intros p. rewrite M. destruct (in_dec _ _ _) as [Y|N].
      + split; auto. congruence.
      + specialize (V p). rewrite (makes_only _ _ _ _ Ex N). exact V. }
  exists (filter kept os). constructor.
  - now apply NoDup_filter.
  - intros x (Hx & K)%filter_In. apply in_chosen. exists x. unfold some_of. rewrite K. auto.
  - intros x (o & Ho & K)%in_chosen N. unfold some_of in K. destruct (kept o) eqn:Ko; [|easy]. injection K as <-. apply filter_In. auto.
  - clear - T. induction os as [|x os IH]; simpl in *; [easy|]. destruct T as [H T]. destruct (kept x); simpl; auto. split; auto. intros y (? & _)%filter_In. auto.
  - exact (G os [] s s X eq_refl (fun p => eq_refl)).
Qed.

(** The same as a program. For each place it has what is found there, since when that may have been made, and until when. *)
Variable same_value : value -> value -> bool.
Hypothesis same_value_true : forall v, same_value v v = true.
Record look := { found : option value; since : option positive; until : option positive }.

Definition latest (makers : list op) (k : op) : option positive :=
  fold_left (fun l r => match ret r with
    | Some t => if t <? inv k then match l with Some i => if i <? inv r then Some (inv r) else l | None => Some (inv r) end else l
    | None => l end) makers None.
Definition at_place {A} (m : PM.t (list A)) (p : positive) : list A := match PM.find p m with Some l => l | None => [] end.
Definition makers_of (h : list op) : PM.t (list op) :=
  fold_left (fun m r => fold_left (fun m (c : positive * option value) => PM.add (fst c) (r :: at_place m (fst c)) m) (makes r) m) h (PM.empty _).
Definition looks_of (makers : PM.t (list op)) (h : list op) : PM.t (list look) :=
  fold_left (fun m k => fold_left (fun m (c : positive * option value) =>
    PM.add (fst c) ({| found := snd c; since := latest (at_place makers (fst c)) k; until := ret k |} :: at_place m (fst c)) m) (looks k) m) h (PM.empty _).
Definition harmless (d : op) (v : option value) (l : look) : bool :=
  if match v, found l with Some v, Some u => negb (same_value v u) | _, _ => false end then true
  else if match until l with Some t => t <? inv d | None => false end then true
  else match ret d, since l with Some t, Some i => t <? i | _, _ => false end.
Definition all_unseen (kept : op -> bool) (h : list op) : bool :=
  let core := collect (fun o => if kept o then Some o else None) h in
  let table := looks_of (makers_of core) core in
  forallb (fun d => if kept d then true else forallb (fun c : positive * option value => forallb (harmless d (snd c)) (at_place table (fst c))) (makes d)) h.

Section Tables.
Context {A B : Type}.
Variable entry : A -> (positive * option value) -> B.
Variable cells : A -> list (positive * option value).
Definition tabled (h : list A) : PM.t (list B) :=
  fold_left (fun m k => fold_left (fun m (c : positive * option value) => PM.add (fst c) (entry k c :: at_place m (fst c)) m) (cells k) m) h (PM.empty _).
Lemma at_add (m : PM.t (list B)) p q l : at_place (PM.add p l m) q = if Pos.eqb p q then l else at_place m q.
Proof. unfold at_place. destruct (Pos.eqb_spec p q) as [->|N]; [now rewrite PM.gss|]. rewrite PM.gso; auto. Qed.
Lemma in_tabled h p b : In b (at_place (tabled h) p) <-> exists k u, In k h /\ In (p, u) (cells k) /\ b = entry k (p, u).
Proof.
  unfold tabled.
  assert (Inner : forall k cs m, In b (at_place (fold_left (fun m (c : positive * option value) => PM.add (fst c) (entry k c :: at_place m (fst c)) m) cs m) p)
    <-> In b (at_place m p) \/ exists u, In (p, u) cs /\ b = entry k (p, u)).
  { intros k. induction cs as [|(q & u) cs IH]; simpl; intros m; [split; [now left|intros [|(? & [] & _)]; easy]|].
    rewrite IH, at_add. destruct (Pos.eqb_spec q p) as [->|N]; simpl; split.
    - intros [[<-|H]|(u' & ? & ?)]; eauto.
    - intros [H|(u' & [E|H] & ->)]; [auto|injection E as <-; auto|eauto].
    - intros [H|(u' & ? & ?)]; eauto.
    - intros [H|(u' & [E|H] & ->)]; [auto|congruence|eauto]. }
  assert (Outer : forall h m, In b (at_place (fold_left (fun m k => fold_left (fun m (c : positive * option value) => PM.add (fst c) (entry k c :: at_place m (fst c)) m) (cells k) m) h m) p)
    <-> In b (at_place m p) \/ exists k u, In k h /\ In (p, u) (cells k) /\ b = entry k (p, u)).
  { clear h. induction h as [|k h IH]; simpl; intros m; [split; [now left|intros [|(? & ? & [] & _)]; easy]|].
    rewrite IH, Inner. split.
    - intros [[H|(u & ? & ?)]|(k' & u & ? & ? & ?)]; [auto|right; exists k, u; auto|right; exists k', u; auto].
    - intros [H|(k' & u & [<-|H] & ? & ?)]; [auto|left; right; eauto|right; eauto]. }
  rewrite Outer. unfold at_place. rewrite PM.gempty. simpl. tauto.
Qed.
End Tables.

Lemma latest_spec makers k i : latest makers k = Some i -> exists r, In r makers /\ inv r = i /\ precedes r k.
Proof.
  unfold latest. assert (G : forall l, fold_left (fun l r => match ret r with
    | Some t => if t <? inv k then match l with Some i => if i <? inv r then Some (inv r) else l | None => Some (inv r) end else l
    | None => l end) makers l = Some i -> l = Some i \/ exists r, In r makers /\ inv r = i /\ precedes r k).
  { induction makers as [|r makers IH]; simpl; intros l H; auto. apply IH in H as [H|(x & ? & ?)]; [|right; eauto].
    destruct (ret r) as [t|] eqn:R; auto. destruct (Pos.ltb_spec t (inv k)); auto.
    assert (P : precedes r k) by (exists t; auto).
    destruct l as [j|]; [destruct (j <? inv r); auto|]; injection H as <-; right; exists r; auto. }
  intros H. destruct (G _ H) as [|]; [easy|auto].
Qed.

Theorem all_unseen_sound kept h : all_unseen kept h = true ->
  forall d k p v u, In d h -> kept d = false -> In k h -> kept k = true -> In (p, v) (makes d) -> In (p, u) (looks k) -> agree v u -> unseen kept h d k p.
Proof.
  unfold all_unseen. intros H d k p v u Hd Kd Hk Kk Hv Hu Ag. rewrite collect_filter in H. set (core := filter kept h) in *.
  assert (Hkc : In k core) by (apply filter_In; auto).
  rewrite forallb_forall in H. specialize (H _ Hd). rewrite Kd, forallb_forall in H. specialize (H _ Hv). simpl in H. rewrite forallb_forall in H.
  specialize (H {| found := u; since := latest (at_place (makers_of core) p) k; until := ret k |}).
  assert (Hin : In {| found := u; since := latest (at_place (makers_of core) p) k; until := ret k |} (at_place (looks_of (makers_of core) core) p)).
  { apply (in_tabled (fun k c => {| found := snd c; since := latest (at_place (makers_of core) (fst c)) k; until := ret k |}) looks). exists k, u. auto. }
  specialize (H Hin). unfold harmless in H. simpl in H.
  destruct (match v, u with Some v, Some u => negb (same_value v u) | _, _ => false end) eqn:E.
  - destruct v as [v|], u as [u|]; try easy. simpl in Ag. subst. now rewrite same_value_true in E.
  - destruct (match ret k with Some t => t <? inv d | None => false end) eqn:F.
    + left. destruct (ret k) as [t|] eqn:R; [|easy]. exists t. split; auto. now apply Pos.ltb_lt.
    + destruct (ret d) as [t|] eqn:R; [|easy]. destruct (latest _ k) as [i|] eqn:L; [|easy]. apply Pos.ltb_lt in H.
      apply latest_spec in L as (r & Hr & <- & P).
      apply (in_tabled (fun r _ => r) makes) in Hr as (r' & w & Hr & Hm & ->).
      apply filter_In in Hr as [Hr Kr]. right. exists r'. repeat split; auto; [apply in_map_iff; exists (p, w); auto|]. now exists t.
Qed.

End Simulation.
