(** What can no longer be reached. States have numbers, such as the balances of accounts. A call says how much they rise or fall at
most, and between which bounds they must be when it happens. If they are out of these bounds, whatever else happens before, it cannot happen. *)

From Coq Require Import List PArith ZArith Bool Lia.
From Clew Require Import History First Core Plain.
Import ListNotations.
Open Scope Z_scope.

Section Bounds.
Context {state call : Type}.
Notation op := (op call unit).
Variable does : state -> call -> state -> Prop.
Variable number : positive -> state -> Z.
Variables rises falls : call -> positive -> option Z.  (* None if without a limit *)
Variable asks : call -> list (positive * option Z * option Z).

Record Bounded := {
  rise : forall s c s' i n, does s c s' -> rises c i = Some n -> number i s' <= number i s + Z.max 0 n;
  fall : forall s c s' i n, does s c s' -> falls c i = Some n -> number i s - Z.max 0 n <= number i s';
  at_least : forall s c s' i n m, does s c s' -> In (i, Some n, m) (asks c) -> n <= number i s;
  at_most : forall s c s' i n m, does s c s' -> In (i, n, Some m) (asks c) -> number i s <= m }.
Hypothesis bounded : Bounded.

(** How much these change a number at most, all together. Those that cannot happen before [y] do not count. *)
Fixpoint total (f : op -> option Z) (l : list op) (sum : option Z) : option Z :=
  match l with
  | [] => sum
  | x :: l => total f l (match sum, f x with Some n, Some m => if 0 <? m then Some (n + m) else sum | _, _ => None end)
  end.
Definition among (f : call -> positive -> option Z) (i : positive) (y : op) (later left : list op) : option Z :=
  total (fun x => if Pos.eqb (inv x) (inv y) then Some 0 else f (what x) i) left (total (fun x => f (what x) i) later (Some 0)).
Definition hopeless (s : state) (y : op) (later left : list op) : bool :=
  existsb (fun a => let '(i, least, most) := a in
    if match least with Some n => match among rises i y later left with Some m => number i s + m <? n | None => false end | None => false end then true
    else match most with Some n => match among falls i y later left with Some m => n <? number i s - m | None => false end | None => false end) (asks (what y)).

Definition part (f : op -> option Z) (x : op) : Z := match f x with Some n => Z.max 0 n | None => 0 end.
Definition parts (f : op -> option Z) (l : list op) : Z := fold_right (fun x n => part f x + n) 0 l.
Lemma parts_positive f l : 0 <= parts f l.
Proof. induction l; simpl; [lia|]. unfold part. destruct (f a); lia. Qed.
Lemma parts_app f a b : parts f (a ++ b) = parts f a + parts f b.
Proof. induction a; simpl; [easy|]. rewrite IHa. lia. Qed.
Lemma total_spec f l : forall sum n, total f l sum = Some n -> exists m, sum = Some m /\ n = m + parts f l /\ forall x, In x l -> f x <> None.
Proof.
  induction l as [|x l IH]; simpl; intros sum n H; [exists n; split; auto; split; [lia|easy]|].
  apply IH in H as (m & E & -> & F). destruct sum as [k|]; [|easy]. destruct (f x) as [v|] eqn:Fx; [|easy]. exists k. split; auto. unfold part. rewrite Fx.
  split; [destruct (Z.ltb_spec 0 v); injection E as <-; lia|]. intros z [<-|Hz]; [congruence|auto].
Qed.
(** What happens is a part of what may. *)
Lemma parts_incl f w : forall l, NoDup w -> incl w l -> parts f w <= parts f l.
Proof.
  induction w as [|x w IH]; simpl; intros l N I; [apply parts_positive|]. inversion N as [|? ? Nx Nw]; subst.
  destruct (in_split x l (I x (or_introl eq_refl))) as (a & b & ->). assert (L := IH (a ++ b) Nw). rewrite parts_app in *. simpl.
  assert (incl w (a ++ b)); [|specialize (L H); lia]. intros z Hz. specialize (I z (or_intror Hz)). apply in_app_iff in I as [|[<-|]]; [apply in_or_app; auto|easy|apply in_or_app; auto].
Qed.

Lemma among_spec f i y later left n w : among f i y later left = Some n -> NoDup w -> (forall x, In x w -> In x later \/ In x left /\ inv x <> inv y) ->
  (forall x, In x w -> f (what x) i <> None) /\ parts (fun x => f (what x) i) w <= n.
Proof.
  unfold among. intros H N I. apply total_spec in H as (m & H & -> & Fl). apply total_spec in H as (k & H & -> & Fr). injection H as <-.
  assert (F : forall x, In x w -> f (what x) i <> None).
  { intros x Hx. destruct (I x Hx) as [Hl|[Hl D]]; [now apply Fr|]. specialize (Fl x Hl). simpl in Fl. apply Pos.eqb_neq in D. now rewrite D in Fl. }
  split; auto. set (g := fun x => if Pos.eqb (inv x) (inv y) then Some 0 else f (what x) i) in *.
  assert (E : forall w, (forall x, In x w -> inv x <> inv y) -> parts g w = parts (fun x => f (what x) i) w).
  { clear. induction w as [|x w IH]; simpl; intros H; auto. rewrite IH by auto. unfold part, g. cbv beta. specialize (H x (or_introl eq_refl)). apply Pos.eqb_neq in H. now rewrite H. }
  assert (L : parts (fun x => f (what x) i) w <= parts (fun x => f (what x) i) (later ++ filter (fun x => negb (Pos.eqb (inv x) (inv y))) left)).
  { apply parts_incl; auto. intros x Hx. apply in_or_app. destruct (I x Hx) as [|[Hl D]]; auto. right. apply filter_In. split; auto. apply Pos.eqb_neq in D. now rewrite D. }
  rewrite parts_app in L. rewrite <- (E (filter _ left)) in L by (intros x (_ & D)%filter_In X; now rewrite X, Pos.eqb_refl in D).
  assert (P : parts g (filter (fun x => negb (Pos.eqb (inv x) (inv y))) left) <= parts g left).
  { clear. induction left as [|x l IH]; simpl; [lia|]. pose proof (parts_positive g l). unfold part at 1. destruct (negb _); simpl; [unfold part at 1|]; destruct (g x); lia. }
  lia.
Qed.

Lemma reaches (sign : Z) f i : (forall s c s' n, does s c s' -> f c i = Some n -> sign * number i s' <= sign * number i s + Z.max 0 n) ->
  forall w s y, (forall x, In x w -> f (what x) i <> None) -> run (step does) s (w ++ [y]) ->
  exists s1 s2, does s1 (what y) s2 /\ sign * number i s1 <= sign * number i s + parts (fun x => f (what x) i) w.
Proof.
  intros M. induction w as [|x w IH]; simpl; intros s y F R; inversion R as [|? ? s' ? E R']; subst; apply acts_does in E.
  - exists s, s'. split; auto. lia.
  - destruct (IH s' y) as (s1 & s2 & D & L); auto. exists s1, s2. split; auto. specialize (F x (or_introl eq_refl)). unfold part. destruct (f (what x) i) as [n|] eqn:Fx; [|easy].
    specialize (M _ _ _ _ E Fx). lia.
Qed.

Theorem hopeless_sound : HopelessSound (step does) abs hopeless.
Proof.
  unfold HopelessSound, abs. intros s y later left s0 w H -> N I R. unfold hopeless in H. apply existsb_exists in H as (((i & least) & most) & Ha & H).
  destruct (match least with Some _ => _ | None => _ end) eqn:L; [clear H|].
  - destruct least as [n|]; [|easy]. destruct (among rises i y later left) as [m|] eqn:A; [|easy]. apply Z.ltb_lt in L.
    destruct (among_spec _ _ _ _ _ _ _ A N I) as [F P].
    destruct (reaches 1 rises i) with (w := w) (s := s0) (y := y) as (s1 & s2 & D & B); auto; [intros s c s' k Dk Ek; pose proof (rise bounded _ _ _ _ _ Dk Ek); lia|].
    pose proof (at_least bounded _ _ _ _ _ _ D Ha). lia.
  - destruct most as [n|]; [|easy]. destruct (among falls i y later left) as [m|] eqn:A; [|easy]. apply Z.ltb_lt in H.
    destruct (among_spec _ _ _ _ _ _ _ A N I) as [F P].
    destruct (reaches (-1) falls i) with (w := w) (s := s0) (y := y) as (s1 & s2 & D & B); auto; [intros s c s' k Dk Ek; pose proof (fall bounded _ _ _ _ _ Dk Ek); lia|].
    pose proof (at_most bounded _ _ _ _ _ _ D Ha). lia.
Qed.
End Bounds.
