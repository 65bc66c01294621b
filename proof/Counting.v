(** Counting: a number of the state, such as how often an element is in a queue, is followed up to an operation, or to the end of the history. What certainly
happened by then counts. What lowers the number counts if it may have happened. If the number is then out of bounds, the history is not linearizable, whatever
else happened. *)

From Coq Require Import List PArith ZArith Bool Lia FMapPositive.
From Clew Require Import History Order First Projection Check Plain Cycles.
Import ListNotations.
Open Scope Z_scope.

Section Runs.
Context {call answer state : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.

(** ** Sums over operations *)
Definition total (f : op -> Z) (os : list op) : Z := fold_left (fun n o => n + f o) os 0.
Lemma total_cons f o os : total f (o :: os) = f o + total f os.
Proof.
  unfold total. simpl. assert (G : forall n, fold_left (fun n o => n + f o) os n = n + fold_left (fun n o => n + f o) os 0).
  { induction os as [|x os IH]; simpl; intros n; [lia|]. rewrite IH, (IH (f x)). lia. }
  apply G.
Qed.
Lemma total_app f a b : total f (a ++ b) = total f a + total f b.
Proof. induction a as [|o a IH]; simpl; [easy|]. rewrite !total_cons. lia. Qed.
Lemma total_le f g os : (forall o, In o os -> f o <= g o) -> total f os <= total g os.
Proof. induction os as [|o os IH]; intros H; [easy|]. rewrite !total_cons. assert (f o <= g o) by (apply H; now left). assert (total f os <= total g os) by (apply IH; intros; apply H; now right). lia. Qed.
(** What is not among some operations lowers the sum. *)
Lemma total_part w a : forall h, NoDup a -> incl a h -> NoDup h -> (forall o, In o h -> ~ In o a -> w o <= 0) -> total w h <= total w a.
Proof.
  induction a as [|x a IH]; intros h Da I Dh L.
  - induction h as [|o h IHh]; [easy|]. rewrite total_cons. inversion Dh; subst. assert (w o <= 0) by (apply L; simpl; auto).
    assert (total w h <= total w []) by (apply IHh; auto; [easy|]; intros p Hp _; apply L; simpl; auto). change (total w []) with 0 in *. lia.
  - destruct (in_split x h) as (h1 & h2 & ->); [apply I; now left|]. inversion Da; subst.
    pose proof (NoDup_remove_1 _ _ _ Dh) as D1. pose proof (NoDup_remove_2 _ _ _ Dh) as D2.
    assert (total w (h1 ++ h2) <= total w a).
    { apply IH; auto.
      - intros y Hy. assert (y <> x) by congruence. specialize (I y (or_intror Hy)). rewrite in_app_iff in *. simpl in I. intuition congruence.
      - intros o Ho No. apply L; [rewrite in_app_iff in *; simpl; tauto|]. intros [->|]; auto. }
    rewrite total_app, !total_cons. rewrite total_app in H. lia.
Qed.
Lemma sorted_NoDup (h : list op) : sorted h = true -> NoDup h.
Proof.
  unfold sorted. generalize 1%positive. induction h as [|o h IH]; simpl; intros last A; [constructor|]. destruct (last <? inv o)%positive eqn:E; [|easy].
  constructor; eauto. intros H. pose proof (ascending_later _ _ A _ H). lia.
Qed.

Lemma NoDup_parts (a b : list op) : NoDup (a ++ b) -> NoDup a /\ NoDup b.
Proof. induction a as [|o a IH]; simpl; intros D; [split; [constructor|easy]|]. inversion D; subst. destruct IH; auto. split; auto. constructor; auto. intros X; apply H1, in_or_app; auto. Qed.

(** What each operation adds to a number of the state, at least. *)
Lemma climb (level : state -> Z) (P : state -> Prop) g a : forall s b,
  (forall o x y, In o a -> P x -> effect step o x y -> P y /\ level x + g o <= level y) -> P s -> run step s (a ++ b) ->
  exists s', P s' /\ run step s' b /\ level s + total g a <= level s'.
Proof.
  induction a as [|o a IH]; intros s b H Ps R; [exists s; repeat split; auto; change (total g []) with 0; lia|].
  inversion R as [|? ? s1 ? E R']; subst. destruct (H o s s1) as [P1 L]; simpl; auto.
  destruct (IH s1 b) as (s' & ? & ? & ?); auto; [intros; apply H; simpl; auto|]. exists s'. repeat split; auto. rewrite total_cons. lia.
Qed.

(** ** From a time on, until an operation or the end *)
Section Stretch.
Variable from : option positive.
Variable last : option op.
Definition surely (o : op) : bool :=
  returned o && match from with Some a => (a <=? inv o)%positive | None => true end && match last with Some y => precedes_b o y | None => true end.
Definition maybe (o : op) : bool :=
  negb match from, ret o with Some a, Some t => (t <? a)%positive | _, _ => false end
  && match last with Some y => negb (precedes_b y o) && negb (Pos.eqb (inv o) (inv y)) | None => true end.
Definition weight (g : op -> Z) (o : op) : Z := if surely o then g o else if maybe o then Z.min 0 (g o) else 0.

Lemma precedes_spec (x y : op) : precedes_b x y = true <-> precedes x y.
Proof. unfold precedes_b, precedes. destruct (ret x) as [t|]; split; try easy; [intros H%Pos.ltb_lt; eauto|intros (u & E & L); injection E as ->; now apply Pos.ltb_lt|now intros (? & ? & _)]. Qed.

Lemma since_time a (os : list op) : in_time os -> (forall o t, In o os -> ret o = Some t -> (inv o < t)%positive) ->
  exists before part, os = before ++ part /\ (forall o, In o os -> (a <= inv o)%positive -> In o part) /\ forall o t, In o part -> ret o = Some t -> (a <= t)%positive.
Proof.
  induction os as [|x os IH]; simpl; intros T W; [exists [], []; repeat split; auto; easy|]. destruct T as [Tx T].
  destruct (Pos.leb_spec a (inv x)) as [L|L].
  - exists [], (x :: os). split; [easy|]. split; auto. intros o t [<-|Ho] R; [specialize (W x t (or_introl eq_refl) R); lia|].
    destruct (Pos.ltb_spec t a); [|lia]. exfalso. apply (Tx _ Ho). exists t. split; auto. lia.
  - destruct IH as (before & part & -> & A & B); eauto. exists (x :: before), part. repeat split; auto. intros o [<-|Ho] G; auto. lia.
Qed.

Lemma stretch init h os : sorted h = true -> sane h = true -> linearization step init h os ->
  match last with Some y => In y h /\ returned y = true | None => True end ->
  exists before part rest, os = before ++ part ++ rest /\ (from = None -> before = []) /\ match last with Some y => exists l, rest = y :: l | None => rest = [] end
    /\ NoDup part /\ incl part h /\ (forall o, In o h -> surely o = true -> In o part) /\ forall o, In o part -> maybe o = true.
Proof.
  intros S W [D I R T _] L.
  assert (W' : forall o t, In o os -> ret o = Some t -> (inv o < t)%positive) by (intros; eapply sane_spec; eauto).
  assert (F : exists front rest, os = front ++ rest /\ match last with Some y => exists l, rest = y :: l | None => rest = [] end).
  { destruct last as [y|]; [|exists os, []; now rewrite app_nil_r]. destruct L as [Ly Ry].
    destruct (in_split y os) as (l1 & l2 & ->); [apply R; auto; unfold returned in Ry; now destruct (ret y)|]. eauto. }
  destruct F as (front & rest & -> & Er).
  assert (Sp : exists before part, front = before ++ part /\ (from = None -> before = []) /\ match from with
    | Some a => (forall o, In o front -> (a <= inv o)%positive -> In o part) /\ forall o t, In o part -> ret o = Some t -> (a <= t)%positive
    | None => True end).
  { destruct from as [a|]; [|now exists [], front]. destruct (since_time a front) as (b & p & E & A & B); [eapply in_time_app; eauto|intros; apply W'; auto; apply in_or_app; auto|].
    exists b, p. easy. }
  destruct Sp as (before & part & -> & Eb & Sp). exists before, part, rest. rewrite <- app_assoc in *. repeat split; auto.
  - now apply NoDup_parts, proj2, NoDup_parts in D.
  - intros o Ho. apply I. rewrite !in_app_iff. auto.
  - intros o Ho Su. unfold surely in Su. rewrite !andb_true_iff in Su. destruct Su as [[Ro Fo] Lo].
    assert (Hin : In o (before ++ part)).
    { assert (H : In o (before ++ part ++ rest)) by (apply R; auto; unfold returned in Ro; now destruct (ret o)).
      rewrite app_assoc in H. apply in_app_or in H as [|H]; auto. exfalso. destruct last as [y|]; [|now subst]. destruct Er as (l & ->).
      apply precedes_spec in Lo. destruct H as [<-|H].
      - destruct Lo as (t & E & Lt). pose proof (sane_spec _ W _ _ Ho E). lia.
      - rewrite app_assoc in T. replace ((before ++ part) ++ y :: l) with (((before ++ part) ++ [y]) ++ l) in T by (now rewrite <- app_assoc).
        apply (in_time_split _ _ T y o); auto. apply in_or_app. right. now left. }
    destruct from as [a|]; [|now rewrite Eb in Hin]. apply Sp; auto. now apply Pos.leb_le.
  - intros o Ho. unfold maybe. apply andb_true_iff. split.
    + destruct from as [a|]; auto. destruct (ret o) as [t|] eqn:E; auto. apply negb_true_iff, Pos.ltb_ge. now apply Sp with o.
    + destruct last as [y|]; auto. destruct Er as (l & ->). apply andb_true_iff. rewrite !negb_true_iff. split.
      * destruct (precedes_b y o) eqn:E; auto. exfalso. apply precedes_spec in E. rewrite app_assoc in T. apply (in_time_split _ _ T o y); auto; [apply in_or_app; auto|now left].
      * apply Pos.eqb_neq. intros E. assert (o = y).
        { apply (sorted_unique _ S); auto; apply I; rewrite !in_app_iff; simpl; auto. }
        subst. rewrite app_assoc in D. apply NoDup_remove_2 in D. apply D. rewrite !in_app_iff. auto.
Qed.

Lemma weigh g h part : NoDup h -> NoDup part -> incl part h -> (forall o, In o h -> surely o = true -> In o part) -> (forall o, In o part -> maybe o = true) ->
  total (weight g) h <= total g part.
Proof.
  intros Dh Dp I A B. apply Z.le_trans with (total (weight g) part).
  - apply total_part; auto. intros o Ho N. unfold weight. destruct (surely o) eqn:E; [destruct N; auto|]. destruct (maybe o); lia.
  - apply total_le. intros o Ho. unfold weight. rewrite (B _ Ho). destruct (surely o); lia.
Qed.

(** The number is too large for the last operation, or for any state. *)
Variable level : state -> Z.
Variable floor top : Z.
Variable g : op -> Z.
Theorem exceeds_sound (P : state -> Prop) init h : sorted h = true -> sane h = true -> P init ->
  match last with Some y => In y h /\ returned y = true | None => True end ->
  (forall o x y, In o h -> P x -> effect step o x y -> P y /\ level x + g o <= level y) ->
  (from <> None -> forall x, P x -> floor <= level x) ->
  match last with Some y => forall x z, P x -> effect step y x z -> level x <= top | None => forall x, P x -> level x <= top end ->
  top < match from with Some _ => floor | None => level init end + total (weight g) h -> ~ Linearizable step init h.
Proof.
  intros S W Pi Hl Hs Fl Tp Lt (os & Lin). destruct (stretch _ _ _ S W Lin Hl) as (before & part & rest & -> & Eb & Er & Dp & Ip & A & B).
  pose proof (weigh g h part (sorted_NoDup _ S) Dp Ip A B) as Wg. destruct Lin as [D I R T X].
  assert (Ib : forall o, In o before -> In o h) by (intros; apply I; rewrite !in_app_iff; auto).
  assert (Start : exists s1, P s1 /\ run step s1 (part ++ rest) /\ match from with Some _ => floor | None => level init end <= level s1).
  { destruct from as [a|]; [|rewrite Eb in X by auto; exists init; repeat split; auto; lia].
    destruct (climb (fun _ => 0) P (fun _ => 0) before init (part ++ rest)) as (s1 & P1 & X1 & _); auto.
    - intros o x y Ho Px E. destruct (Hs o x y) as [? _]; auto. split; auto. lia.
    - exists s1. repeat split; auto. now apply Fl. }
  destruct Start as (s1 & P1 & X1 & Base). destruct (climb level P g part s1 rest) as (s2 & P2 & X2 & L2); auto.
  destruct last as [y|]; [|specialize (Tp _ P2); lia]. destruct Er as (l & ->). inversion X2; subst. pose proof (Tp _ _ P2 H2). lia.
Qed.
End Stretch.
End Runs.
