(** Two operations that contradict each other, whatever else happened. No search is needed, and nothing of the core but these two.

A fact about states lasts: once true, it stays true. Some operations show a fact: it is true afterwards. Others deny it: they cannot happen where
it is true. If x shows what y denies, x does not come before y. So there is no order of both if x had to, or if y shows what x denies. *)

From Coq Require Import List PArith ZArith Bool Lia.
From Clew Require Import History Order First Check Plain Spec_Others.
Import ListNotations.

Section Lasting.
Context {call answer state est fact : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable holds : fact -> state -> Prop.
Variable shows : call -> list fact.
Variable denies : call -> fact -> bool.
Record Facts := {
  lasts : forall s c a s' f, step s c a s' -> holds f s -> holds f s';
  shown : forall s c a s' f, step s c a s' -> In f (shows c) -> holds f s';
  denied : forall s c a s' f, step s c a s' -> denies c f = true -> ~ holds f s }.
Hypothesis facts : Facts.

Definition contradicts (x y : op) : bool := existsb (denies (what y)) (shows (what x)).
Definition precedes_b (x y : op) : bool := match ret x with Some t => (t <? inv y)%positive | None => false end.
Definition pair (x y : op) : bool :=
  if returned x then if returned y then if (inv x =? inv y)%positive then false
  else if contradicts x y then if precedes_b x y then true else contradicts y x else false else false else false.

Lemma effect_step o s s' : effect step o s s' -> exists a, step s (what o) a s'.
Proof. unfold effect, acts. destruct (known o); eauto. Qed.
Lemma no_later f os : forall s y, run step s os -> holds f s -> In y os -> denies (what y) f = true -> False.
Proof.
  induction os as [|o os IH]; intros s y R F Hy D; [easy|]. inversion R as [|? ? s1 ? E R']; subst. apply effect_step in E as (a & E).
  destruct Hy as [->|Hy]; [eapply denied; eauto|]. apply (IH s1 y R'); auto. eapply lasts; eauto.
Qed.
Lemma not_in_this_order a x b y : forall s, run step s (a ++ x :: b) -> In y b -> contradicts x y = true -> False.
Proof.
  induction a as [|o a IH]; simpl; intros s R Hy C; inversion R as [|? ? s1 ? E R']; subst; eauto.
  unfold contradicts in C. apply existsb_exists in C as (f & Hf & D). apply effect_step in E as (u & E).
  eapply no_later; eauto. eapply shown; eauto.
Qed.

Theorem pair_sound h x y s : In x h -> In y h -> pair x y = true -> ~ Linearizable step s h.
Proof.
  unfold pair. intros Hx Hy P (os & [D I Rt T X]). unfold returned in P.
  destruct (ret x) as [t|] eqn:Rx; [|easy]. destruct (ret y) eqn:Ry; [|easy]. destruct (Pos.eqb_spec (inv x) (inv y)) as [|N]; [easy|].
  destruct (contradicts x y) eqn:C; [|easy].
  assert (Ix : In x os) by (apply Rt; congruence). assert (Iy : In y os) by (apply Rt; congruence).
  apply in_split in Ix as (a & b & ->). apply in_app_or in Iy as [Iy|[->|Iy]]; [|easy|eapply not_in_this_order; eauto].
  apply in_split in Iy as (a1 & a2 & ->). rewrite <- app_assoc in X, T. simpl in X, T.
  destruct (precedes_b x y) eqn:B.
  - unfold precedes_b in B. rewrite Rx in B. apply Pos.ltb_lt in B. assert (T' : in_time (y :: a2 ++ x :: b)).
    { clear - T. induction a1 as [|o a1 IH]; simpl in *; [easy|]. apply IH. tauto. }
    destruct T' as [T' _]. apply (T' x); [apply in_or_app; right; now left|]. now exists t.
  - eapply not_in_this_order; eauto. apply in_or_app. right. now left.
Qed.

(** As [check_invalid], with a pair in place of a core. *)
Variable next : est -> call -> option answer -> list est.
Variable abs : est -> state -> Prop.
Hypothesis next_sound : NextSound step next abs.
Variable distinct : list est -> list est -> bool.
Definition check_pair (init : est) (h : list op) (time : positive) (before : list positive) (i j : positive) : verdict :=
  if sorted h then
    if sane h then
      match check_order next distinct init (begun_by (Pos.pred time) h) before with
      | Accepted =>
        let p := begun_by time h in
        match find (fun o => inv o =? i)%positive p, find (fun o => inv o =? j)%positive p with
        | Some x, Some y => if pair x y then Accepted else Rejected Survives i
        | _, _ => Rejected NoCore i
        end
      | no => no
      end
    else Rejected Unsorted 1
  else Rejected Unsorted 1.

Theorem check_pair_sound init h time before i j s : check_pair init h time before i j = Accepted -> abs init s ->
  FirstFailure step s h time /\ ~ Linearizable step s h.
Proof.
  unfold check_pair. rewrite !begun_by_prefix. destruct (sorted h) eqn:S; [|easy]. destruct (sane h) eqn:W; [|easy].
  destruct (check_order _ _ _ _ _) eqn:O; [|easy].
  destruct (find _ (prefix time h)) as [x|] eqn:Fx; [|easy]. destruct (find (fun o => inv o =? j)%positive _) as [y|] eqn:Fy; [|easy].
  destruct (pair x y) eqn:P; [|easy]. intros _ A. apply find_some in Fx as [Hx _]. apply find_some in Fy as [Hy _].
  assert (N : ~ Linearizable step s (prefix time h)) by exact (pair_sound _ x y s Hx Hy P).
  split; [|eapply whole_fails; eauto]. apply first_sound; auto. exact (check_order_sound step next abs next_sound distinct _ _ _ _ O A).
Qed.
End Lasting.

(** ** A log: it grows, and no element of it changes. *)
Module LogFacts.
Import Log.
Open Scope Z_scope.
Inductive fact := Long (n : Z) | Has (offset : Z) (v : positive).
Section Nothing.
Variable nothing : positive.
Definition at_offset (s : state) (i : Z) : positive := nth (Z.to_nat (snd s - 1 - i)) (fst s) nothing.
Definition holds (f : fact) (s : state) : Prop :=
  match f with Long n => n <= snd s | Has i v => 0 <= i < snd s /\ at_offset s i = v end.
Definition place (at_ expected : option Z) : option Z := match at_ with Some i => Some i | None => expected end.
Definition shows (c : call) : list fact :=
  match c with
  | Append v a e => match place a e with Some i => if 0 <=? i then [Long (i + 1); Has i v] else [] | None => [] end
  | Tail n => [Long n]
  | ReadAt i v => if Pos.eqb v nothing then [] else [Long (i + 1); Has i v]
  | _ => []
  end.
Definition denies (c : call) (f : fact) : bool :=
  match c, f with
  | Append _ a e, Long n => match place a e with Some i => i <? n | None => false end
  | Tail n, Long m => n <? m
  | ReadAt i v, Has j u => if i =? j then negb (Pos.eqb u v) else false
  | _, _ => false
  end.

Lemma append_spec s v a e s' : apply nothing s (Append v a e) = Some s' -> s' = (v :: fst s, snd s + 1) /\ forall i, place a e = Some i -> i = snd s.
Proof.
  simpl. destruct a as [a|], e as [e|]; simpl; repeat match goal with |- context [?x =? ?y] => destruct (Z.eqb_spec x y) end; simpl; try easy;
    intros E; injection E as <-; split; auto; intros i Ei; try easy; injection Ei as <-; auto.
Qed.
Lemma facts : Facts (Plain.step (does (apply nothing))) holds shows denies.
Proof.
  constructor; unfold Plain.step, does; intros s c a s' f E.
  - destruct c as [v p e|i v|n|vs|]; [apply append_spec in E as [-> _]|..].
    2-5: simpl in E; repeat match type of E with context [if ?b then _ else _] => destruct b in E end; try easy; injection E as <-; auto.
    destruct f as [n|i u]; simpl; [lia|]. unfold at_offset. simpl. intros [B <-]. split; [lia|].
    replace (Z.to_nat (snd s + 1 - 1 - i)) with (S (Z.to_nat (snd s - 1 - i))) by lia. easy.
  - destruct c as [v p e|i v|n|vs|]; [apply append_spec in E as [-> P]|..]; simpl; try easy.
    + destruct (place p e) as [i|]; [|easy]. specialize (P _ eq_refl). subst i. destruct (Z.leb_spec 0 (snd s)); [|easy].
      intros [<-|[<-|[]]]; simpl; [lia|]. unfold at_offset. simpl. split; [lia|]. now replace (Z.to_nat _) with O by lia.
    + simpl in E. destruct (Pos.eqb_spec v nothing) as [|N]; [easy|].
      destruct (Z.leb_spec 0 i) as [L|L]; simpl in E; [destruct (Z.ltb_spec i (snd s)) as [L'|L'] in E|].
      2, 3: destruct (Pos.eqb_spec nothing v) in E; congruence.
      destruct (Pos.eqb_spec (nth (Z.to_nat (snd s - 1 - i)) (fst s) nothing) v) as [X|] in E; [|easy]. injection E as <-.
      intros [<-|[<-|[]]]; simpl; [lia|]. auto.
    + simpl in E. destruct (Z.eqb_spec n (snd s)) in E; [|easy]. injection E as <-. intros [<-|[]]. simpl. lia.
  - destruct c as [v p e|i v|n|vs|], f as [m|j u]; simpl; try easy.
    + apply append_spec in E as [_ P]. destruct (place p e) as [i|]; [|easy]. specialize (P _ eq_refl). intros D%Z.ltb_lt. lia.
    + destruct (Z.eqb_spec i j) as [->|]; [|easy]. intros D [B X]. simpl in E.
      replace (0 <=? j) with true in E by (symmetry; apply Z.leb_le; lia). replace (j <? snd s) with true in E by (symmetry; apply Z.ltb_lt; lia).
      simpl in E. unfold at_offset in X. rewrite X in E. apply negb_true_iff in D. now rewrite D in E.
    + simpl in E. destruct (Z.eqb_spec n (snd s)) in E; [|easy]. intros D%Z.ltb_lt. lia.
Qed.
End Nothing.
End LogFacts.

(** ** Lists: what was appended stays, behind what was there before, and a list keeps its beginning. *)
Module ListFacts.
Import Lists.
Inductive fact := Contains (k v : positive) | Starts (k : positive) (vs : list positive) | Before (k v w : positive).
Definition key (f : fact) : positive := match f with Contains k _ | Starts k _ | Before k _ _ => k end.
Definition mem (v : positive) : list positive -> bool := existsb (Pos.eqb v).
Fixpoint starts (us vs : list positive) : bool :=
  match us, vs with [], _ => true | u :: us, v :: vs => if Pos.eqb u v then starts us vs else false | _, _ => false end.
Fixpoint ordered (v w : positive) (l : list positive) : bool :=
  match l with [] => false | u :: l => if Pos.eqb u v then mem w l else ordered v w l end.
Definition has (f : fact) (l : list positive) : bool :=
  match f with Contains _ v => mem v l | Starts _ vs => starts vs l | Before _ v w => ordered v w l end.
Definition holds (f : fact) (s : state) : Prop := has f (rev (list_of s (key f))) = true.
Definition shown_by (m : micro) : fact := match m with Append k v => Contains k v | Read k vs => Starts k vs end.
Definition denied_by (f : fact) (m : micro) : bool :=
  match m with Read k vs => if Pos.eqb k (key f) then negb (has f vs) else false | Append _ _ => false end.
Definition shows (c : list micro) : list fact := map shown_by c.
Definition denies (c : list micro) (f : fact) : bool := existsb (denied_by f) c.

Lemma list_of_append (s : state) k l j :
  list_of ((k, l) :: filter (fun x => negb (Pos.eqb (fst x) k)) s) j = if Pos.eqb k j then l else list_of s j.
Proof.
  unfold list_of. simpl. destruct (Pos.eqb_spec k j) as [|N]; auto.
  induction s as [|[i m] s IH]; simpl; auto. destruct (Pos.eqb_spec i k) as [->|]; simpl.
  - destruct (Pos.eqb_spec k j); [easy|exact IH].
  - destruct (Pos.eqb_spec i j); auto.
Qed.
Lemma read_spec (s : state) k vs s' : do s (Read k vs) = Some s' -> s' = s /\ rev (list_of s k) = vs.
Proof.
  simpl. destruct (Core.equal (rev' vs) (list_of s k)) eqn:E; [|easy]. intros X; injection X as <-. apply Core.equal_spec in E.
  unfold rev' in E. now rewrite <- E, rev_append_rev, app_nil_r, rev_involutive.
Qed.
Lemma mem_app v a b : mem v (a ++ b) = mem v a || mem v b.
Proof. apply existsb_app. Qed.
Lemma starts_same vs : starts vs vs = true.
Proof. induction vs as [|v vs IH]; simpl; auto. now rewrite Pos.eqb_refl. Qed.
Lemma starts_longer us : forall vs v, starts us vs = true -> starts us (vs ++ [v]) = true.
Proof. induction us as [|u us IH]; intros [|w vs] v; simpl; try easy. destruct (Pos.eqb u w); auto. Qed.
Lemma has_longer f l v : has f l = true -> has f (l ++ [v]) = true.
Proof.
  destruct f as [k u|k us|k u w]; simpl; [rewrite mem_app; now intros ->|apply starts_longer|].
  induction l as [|x l IH]; simpl; [easy|]. destruct (Pos.eqb x u); auto. rewrite mem_app. now intros ->.
Qed.
Lemma do_lasts s m s' f : do s m = Some s' -> holds f s -> holds f s'.
Proof.
  destruct m as [k v|k vs]; [|intros [-> _]%read_spec; auto]. intros E. injection E as <-.
  unfold holds. rewrite list_of_append. destruct (Pos.eqb_spec k (key f)) as [->|]; auto. apply has_longer.
Qed.
Lemma apply_lasts c f : forall s s', apply s c = Some s' -> holds f s -> holds f s'.
Proof.
  induction c as [|m c IH]; simpl; intros s s' E H; [congruence|]. destruct (do s m) eqn:D; [|easy]. eapply IH; eauto. eapply do_lasts; eauto.
Qed.
Lemma do_denied s m s' f : do s m = Some s' -> denied_by f m = true -> ~ holds f s.
Proof.
  destruct m as [k v|k vs]; [easy|]. intros [_ L]%read_spec. unfold denied_by, holds. destruct (Pos.eqb_spec k (key f)) as [<-|]; [|easy].
  rewrite L. now destruct (has f vs).
Qed.
Lemma facts : Facts (Plain.step (does apply)) holds shows denies.
Proof.
  constructor; unfold Plain.step, does.
  - intros s c a s' f. apply apply_lasts.
  - intros s c a s' f. unfold shows. revert s. induction c as [|m c IH]; simpl; intros s E H; [easy|]. destruct (do s m) as [s1|] eqn:D; [|easy].
    destruct H as [<-|H]; [|eauto]. apply (apply_lasts _ _ _ _ E). unfold holds. destruct m as [k v|k vs]; simpl.
    + injection D as <-. rewrite list_of_append, Pos.eqb_refl. simpl. rewrite mem_app. simpl. now rewrite Pos.eqb_refl, orb_true_r.
    + apply read_spec in D as [-> ->]. apply starts_same.
  - intros s c a s' f. unfold denies. revert s. induction c as [|m c IH]; simpl; intros s E D H; [easy|]. destruct (do s m) as [s1|] eqn:X; [|easy].
    apply orb_true_iff in D as [D|D]; [exact (do_denied _ _ _ _ X D H)|exact (IH _ E D (do_lasts _ _ _ _ X H))].
Qed.
End ListFacts.

(** ** A lease: its epochs grow, and each is claimed once. *)
Module LeaseFacts.
Import Lease.
Open Scope Z_scope.
(** The epoch is at least this. *)
Definition fact := Z.
Definition holds (n : fact) (s : state) : Prop := n <= current s.
Definition shows (c : call) : list fact := match c with Claim _ (Some e) | Renew _ (Some e) | Release _ (Some e) => [e] | _ => [] end.
Definition denies (c : call) (n : fact) : bool :=
  match c with Claim _ (Some e) => e <=? n | Renew _ (Some e) | Release _ (Some e) => e <? n | _ => false end.

Lemma held_spec s o e s' : held_by s o e = Some s' -> current s <= current s' /\ forall n, e = Some n -> current s <= n /\ current s' = n.
Proof.
  unfold held_by. destruct (owner_dec _ _); [|easy]. destruct e as [e|]; [|intros E; injection E as <-; split; [lia|easy]].
  destruct (Z.ltb_spec e (current s)) as [|L]; [now rewrite orb_true_r|]. destruct (_ || _); [easy|]. intros E; injection E as <-. simpl. split; [lia|].
  intros n E. injection E as <-. lia.
Qed.
Lemma grows s c s' : apply s c = Some s' -> current s <= current s'
  /\ (forall n, In n (shows c) -> current s' = n) /\ (forall n, denies c n = true -> current s < n).
Proof.
  destruct c as [o [e|]|o e|o e|]; simpl.
  - destruct (Z.ltb_spec (current s) e); [|easy]. intros E; injection E as <-. simpl. repeat split; [lia|intros n [<-|[]]; easy|intros n D%Z.leb_le; lia].
  - intros E; injection E as <-. simpl. repeat split; [lia|easy|easy].
  - intros [L P]%held_spec. split; auto. destruct e as [e|]; [|easy]. destruct (P _ eq_refl). split; [intros n [<-|[]]; easy|intros n D%Z.ltb_lt; lia].
  - destruct (held_by s (Some o) e) as [s1|] eqn:H; [|easy]. apply held_spec in H as [L P]. intros E; injection E as <-. simpl. split; auto.
    destruct e as [e|]; [|easy]. destruct (P _ eq_refl). split; [intros n [<-|[]]; easy|intros n D%Z.ltb_lt; lia].
  - intros E; injection E as <-. repeat split; [lia|easy|easy].
Qed.
Lemma facts : Facts (Plain.step (does apply)) holds shows denies.
Proof.
  constructor; unfold Plain.step, does, holds; intros s c a s' n [G [S D]]%grows.
  - lia.
  - intros H%S. lia.
  - intros H%D. lia.
Qed.
End LeaseFacts.
