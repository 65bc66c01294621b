(** Facts about logs, versioned registers, leases and lists, for Cycles.v. *)

From Coq Require Import List PArith ZArith Bool Lia.
From Clew Require Import History Order Check Plain Cycles Spec_Others Stored.
Import ListNotations.

(** For data types that do not need every kind of step. *)
Definition no {call fact : Type} (_ : call) (_ : fact) : bool := false.
Definition none {call fact : Type} (_ : call) (_ _ : fact) : bool := false.

(** ** A log: it grows, and no element of it changes. *)
Module LogFacts.
Import Log.
Open Scope Z_scope.
Inductive fact := Long (n : Z) | Has (offset : Z) (v : positive).
Section Nothing.
Variable nothing : positive.
Definition at_offset (s : state) (i : Z) : positive := nth (Z.to_nat (snd s - 1 - i)) (fst s) nothing.
Definition has (f : fact) (s : state) : bool :=
  match f with Long n => n <=? snd s | Has i v => (0 <=? i) && (i <? snd s) && Pos.eqb (at_offset s i) v end.
Definition place (at_ expected : option Z) : option Z := match at_ with Some i => Some i | None => expected end.
Definition shows (c : call) : list fact :=
  match c with
  | Append v a e => match place a e with Some i => if 0 <=? i then [Long (i + 1); Has i v] else [] | None => [] end
  | Tail n => [Long n]
  | ReadAt i v => if Pos.eqb v nothing then [] else [Long (i + 1); Has i v]
  | _ => []
  end.
Definition tells (c : call) (f : fact) : bool :=
  existsb (fun g => match f, g with Long n, Long m => n =? m | Has i v, Has j u => (i =? j) && Pos.eqb v u | _, _ => false end) (shows c).
Definition denies (c : call) (f : fact) : bool :=
  match c, f with
  | Append _ a e, Long n => match place a e with Some i => i <? n | None => false end
  | Tail n, Long m => n <? m
  | ReadAt i v, Has j u => if i =? j then negb (Pos.eqb u v) else false
  | _, _ => false
  end.
Definition given (s : state) : list fact := Long (snd s) :: map (fun x => Has (Z.of_nat (fst x)) (snd x)) (combine (seq 0 (length (fst s))) (rev (fst s))).
(** An append makes the log longer; and it has an element there, unless that is known to be somewhere else. *)
Definition makes (c : call) (f : fact) : bool :=
  match c, f with
  | Append v a e, Has i u => Pos.eqb u v && match place a e with Some j => i =? j | None => true end
  | Append _ _ _, Long _ => true
  | _, _ => false
  end.

Lemma append_spec s v a e s' : apply nothing s (Append v a e) = Some s' -> s' = (v :: fst s, snd s + 1) /\ forall i, place a e = Some i -> i = snd s.
Proof.
  simpl. destruct a as [a|], e as [e|]; simpl; repeat match goal with |- context [?x =? ?y] => destruct (Z.eqb_spec x y) end; simpl; try easy;
    intros E; injection E as <-; split; auto; intros i Ei; try easy; injection Ei as <-; auto.
Qed.
Lemma has_spec i v s : has (Has i v) s = true <-> 0 <= i < snd s /\ at_offset s i = v.
Proof. simpl. rewrite !andb_true_iff, Z.leb_le, Z.ltb_lt, Pos.eqb_eq. tauto. Qed.
Lemma pushed i v (s : state) : i < snd s -> at_offset (v :: fst s, snd s + 1) i = at_offset s i.
Proof. intros L. unfold at_offset. simpl. now replace (Z.to_nat (snd s + 1 - 1 - i)) with (S (Z.to_nat (snd s - 1 - i))) by lia. Qed.
Lemma on_top v (s : state) : at_offset (v :: fst s, snd s + 1) (snd s) = v.
Proof. unfold at_offset. simpl. now replace (Z.to_nat _) with O by lia. Qed.
Lemma others s c s' : apply nothing s c = Some s' -> match c with Append _ _ _ => True | _ => s' = s end.
Proof. destruct c; simpl; auto; repeat match goal with |- context [if ?b then _ else _] => destruct b end; congruence. Qed.
Lemma growth : Growth (Plain.step (does (apply nothing))) has tells no denies makes no none.
Proof.
  constructor; unfold Plain.step, does, holds; try easy.
  - intros s c a s' f _ _ E. destruct c as [v p e| | | |]; [apply append_spec in E as [-> _]|apply others in E as ->; auto..].
    destruct f as [n|i u]; [simpl; rewrite !Z.leb_le; lia|]. rewrite !has_spec. intros [B X]. rewrite pushed by lia. simpl. split; [lia|easy].
  - intros s c a s' f E T. apply existsb_exists in T as (g & G & T). replace g with f in G.
    2: { destruct f as [n|i u], g as [m|j w]; try easy; [now apply Z.eqb_eq in T as ->|]. apply andb_true_iff in T as [->%Z.eqb_eq ->%Pos.eqb_eq]. easy. }
    clear T g. revert G. destruct c as [v p e|i v|n|vs|]; simpl; try easy.
    + apply append_spec in E as [-> P]. destruct (place p e) as [i|]; [|easy]. specialize (P _ eq_refl). subst i. destruct (Z.leb_spec 0 (snd s)); [|easy].
      intros [<-|[<-|[]]]; [simpl; apply Z.leb_refl|]. rewrite has_spec, on_top. simpl. split; [lia|easy].
    + simpl in E. destruct (Pos.eqb_spec v nothing) as [|N]; [easy|].
      destruct (Z.leb_spec 0 i) as [L|L]; simpl in E; [destruct (Z.ltb_spec i (snd s)) as [L'|L'] in E|].
      2, 3: destruct (Pos.eqb_spec nothing v) in E; congruence.
      destruct (Pos.eqb_spec (nth (Z.to_nat (snd s - 1 - i)) (fst s) nothing) v) as [X|] in E; [|easy]. injection E as <-.
      intros [<-|[<-|[]]]; [simpl; apply Z.leb_le; lia|]. now rewrite has_spec.
    + simpl in E. destruct (Z.eqb_spec n (snd s)) as [->|] in E; [|easy]. injection E as <-. intros [<-|[]]. apply Z.leb_refl.
  - intros s c a s' f E D. destruct c as [v p e|i v|n|vs|], f as [m|j u]; try easy.
    + simpl in *. apply append_spec in E as [_ P]. destruct (place p e) as [i|]; [|easy]. specialize (P _ eq_refl). apply Z.ltb_lt in D. rewrite Z.leb_le. lia.
    + rewrite has_spec. simpl in D. destruct (Z.eqb_spec i j) as [->|]; [|easy]. intros [B X]. simpl in E.
      replace (0 <=? j) with true in E by (symmetry; apply Z.leb_le; lia). replace (j <? snd s) with true in E by (symmetry; apply Z.ltb_lt; lia).
      simpl in E. unfold at_offset in X. rewrite X in E. apply negb_true_iff in D. now rewrite D in E.
    + simpl in *. destruct (Z.eqb_spec n (snd s)) in E; [|easy]. apply Z.ltb_lt in D. rewrite Z.leb_le. lia.
  - intros s c a s' f E H M. destruct c as [v p e| | | |]; [|apply others in E as ->; auto..]. apply append_spec in E as [-> P].
    destruct f as [n|i u]; [easy|]. rewrite has_spec in *. simpl in H. destruct H as [B X]. destruct (Z.eq_dec i (snd s)) as [->|].
    + rewrite on_top in X. simpl in M. rewrite X, Pos.eqb_refl in M. destruct (place p e) as [j|]; [|easy]. rewrite (P _ eq_refl), Z.eqb_refl in M. easy.
    + rewrite pushed in X by lia. split; [lia|easy].
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
Definition shown_by (m : micro) : fact := match m with Append k v => Contains k v | Read k vs => Starts k (rev' vs) end.
Definition denied_by (f : fact) (m : micro) : bool :=
  match m with Read k vs => if Pos.eqb k (key f) then negb (has f (rev' vs)) else false | Append _ _ => false end.
Definition shows (c : list micro) : list fact := map shown_by c.
Definition given (s : state) : list fact := map (fun x => Starts (fst x) (rev (snd x))) s.
Definition denies (c : list micro) (f : fact) : bool := existsb (denied_by f) c.

Lemma read_spec (s : state) k vs s' : do s (Read k vs) = Some s' -> s' = s /\ rev (list_of s k) = rev' vs.
Proof.
  simpl. destruct (Core.equal vs (list_of s k)) eqn:E; [|easy]. intros X; injection X as <-. apply Core.equal_spec in E as <-.
  unfold rev'. now rewrite rev_append_rev, app_nil_r.
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
  unfold holds. rewrite StoredLists.list_of_append. destruct (Pos.eqb_spec k (key f)) as [->|]; auto. apply has_longer.
Qed.
Lemma apply_lasts c f : forall s s', apply s c = Some s' -> holds f s -> holds f s'.
Proof.
  induction c as [|m c IH]; simpl; intros s s' E H; [congruence|]. destruct (do s m) eqn:D; [|easy]. eapply IH; eauto. eapply do_lasts; eauto.
Qed.
Lemma do_denied s m s' f : do s m = Some s' -> denied_by f m = true -> ~ holds f s.
Proof.
  destruct m as [k v|k vs]; [easy|]. intros [_ L]%read_spec. unfold denied_by, holds. destruct (Pos.eqb_spec k (key f)) as [<-|]; [|easy].
  rewrite L. now destruct (has f (rev' vs)).
Qed.
Lemma denied c f : forall s s', apply s c = Some s' -> denies c f = true -> ~ holds f s.
Proof.
  unfold denies. induction c as [|m c IH]; simpl; intros s s' E D H; [easy|]. destruct (do s m) as [s1|] eqn:X; [|easy].
  apply orb_true_iff in D as [D|D]; [exact (do_denied _ _ _ _ X D H)|exact (IH _ _ E D (do_lasts _ _ _ _ X H))].
Qed.
End ListFacts.

(** ** A versioned register: its version grows, and the value of a version does not change. *)
Module VersionedFacts.
Import Versioned.
Open Scope Z_scope.
Inductive fact :=
  | Reached (n : Z)                       (* the version is at least this *)
  | Other (n : Z) (v : positive)          (* this version has another value, or is over *)
  | Shows (n : option Z) (v : positive).  (* this is the value, of this version if there is one. It does not last, but only a call makes it true *)
Definition has (f : fact) (s : state) : bool :=
  match f with Reached n => n <=? fst s | Other n v => (n <? fst s) || (n =? fst s) && negb (Pos.eqb v (snd s)) | Shows n v => fits n (fst s) && Pos.eqb v (snd s) end.
Definition writes (c : call) : bool := match c with Read _ _ => false | _ => true end.
(** The version and the value after a call, and the value before it, if it says which. *)
Definition version (c : call) : option Z := match c with Read n _ | Write n _ | Cas n _ _ => n end.
Definition value (c : call) : option positive := match c with Read _ v => v | Write _ v | Cas _ _ v => Some v end.
Definition found (c : call) : option positive := match c with Read _ v => v | Write _ _ => None | Cas _ old _ => Some old end.
Definition before (c : call) (n : Z) : Z := if writes c then n - 1 else n.
Definition is (v : positive) (u : option positive) : bool := match u with Some u => Pos.eqb v u | None => false end.
Definition differs (v : positive) (u : option positive) : bool := match u with Some u => negb (Pos.eqb v u) | None => false end.
Definition tells (c : call) (f : fact) : bool :=
  match version c, f with
  | Some n, Reached m => m <=? n
  | Some n, Other m v => (m <? n) || (m =? n) && differs v (value c)
  | _, _ => false
  end.
Definition denies (c : call) (f : fact) : bool :=
  match version c, f with
  | Some n, Reached m => before c n <? m
  | Some n, Other m v => (before c n <? m) || (before c n =? m) && is v (found c)
  | _, _ => false
  end.
Definition found_in (c : call) : option Z := option_map (before c) (version c).
Definition wants (c : call) (f : fact) : bool :=
  match f with Shows n v => is v (found c) && if option_dec Z.eq_dec n (found_in c) then true else false | _ => false end.
Definition makes (c : call) (f : fact) : bool :=
  writes c && match f, version c with
  | Reached m, Some n => m =? n
  | Shows (Some m) v, Some n => (m =? n) && is v (value c)
  | Shows _ v, _ => is v (value c)
  | _, _ => true
  end.
Definition about (c : call) : list fact :=
  match version c with
  | Some n => Reached n :: match value c with Some v => [Other n v] | None => [] end ++ match found c with Some v => [Other (before c n) v] | None => [] end
  | None => []
  end ++ match found c with Some v => [Shows (found_in c) v] | None => [] end.
Definition given (s : state) : list fact := [Reached (fst s)].

Lemma effects s c s' : apply s c = Some s' ->
  fst s' = (if writes c then fst s + 1 else fst s) /\ (writes c = false -> s' = s) /\ (forall n, version c = Some n -> fst s' = n)
  /\ (forall v, value c = Some v -> snd s' = v) /\ forall v, found c = Some v -> snd s = v.
Proof.
  destruct c as [[n|] [v|]|[n|] v|[n|] old v]; simpl; intros E;
    repeat match type of E with
    | context [?x =? ?y] => destruct (Z.eqb_spec x y); simpl in E; try easy
    | context [Pos.eqb ?x ?y] => destruct (Pos.eqb_spec x y); simpl in E; try easy
    end;
    injection E as <-; simpl; repeat split; intros; try easy; try congruence; lia.
Qed.
Lemma other n v s : has (Other n v) s = true <-> n < fst s \/ n = fst s /\ v <> snd s.
Proof. simpl. rewrite orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq, negb_true_iff, Pos.eqb_neq. tauto. Qed.
Lemma growth : Growth (Plain.step (does apply)) has tells wants denies makes no none.
Proof.
  constructor; unfold Plain.step, does, holds; try easy; intros s c a s' f.
  - intros x D (F & Q & _)%effects. destruct f as [n|n v|]; [simpl; rewrite !Z.leb_le; destruct (writes c); lia| |unfold denies in D; now destruct (version x)]. rewrite !other.
    destruct (writes c); [lia|]. now rewrite Q.
  - intros (_ & _ & V & U & _)%effects. unfold tells. destruct (version c) as [m|]; [|easy]. specialize (V _ eq_refl). destruct f as [n|n v|]; [| |easy].
    + simpl. rewrite !Z.leb_le. lia.
    + rewrite other, orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq. intros [L|[-> D]]; [lia|]. right. split; auto.
      unfold differs in D. destruct (value c) as [u|]; [|easy]. rewrite (U _ eq_refl). now apply negb_true_iff, Pos.eqb_neq in D.
  - intros (F & _ & V & _ & X)%effects W. destruct f as [| |n v]; try easy. simpl in W. apply andb_true_iff in W as [I W].
    destruct (option_dec Z.eq_dec n (found_in c)) as [->|]; [|easy]. unfold is in I. destruct (found c) as [u|]; [|easy]. apply Pos.eqb_eq in I as ->.
    simpl. rewrite <- (X _ eq_refl), Pos.eqb_refl, andb_true_r. unfold found_in, before. destruct (version c) as [m|]; simpl; auto. specialize (V _ eq_refl).
    apply Z.eqb_eq. destruct (writes c); lia.
  - intros (F & _ & V & _ & X)%effects. unfold denies, before. destruct (version c) as [m|]; [|easy]. specialize (V _ eq_refl). destruct f as [n|n v|]; [| |easy].
    + simpl. rewrite Z.ltb_lt, Z.leb_le. destruct (writes c); lia.
    + rewrite other, orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq. intros [L|[E D]]; [destruct (writes c); lia|].
      unfold is in D. destruct (found c) as [u|]; [|easy]. apply Pos.eqb_eq in D as ->. rewrite (X _ eq_refl). intros [L|[_ N]]; [destruct (writes c); lia|easy].
  - intros (F & Q & V & U & _)%effects. unfold makes. destruct (writes c) eqn:W; [simpl|intros H _; now rewrite <- Q].
    destruct f as [n|n v|n v]; [| |simpl; intros [H E%Pos.eqb_eq]%andb_true_iff M].
    + destruct (version c) as [m|]; [|easy]. specialize (V _ eq_refl). simpl. rewrite !Z.leb_le. intros H N%Z.eqb_neq. lia.
    + now destruct (version c).
    + exfalso. assert (I : is v (value c) = false).
      { destruct n as [n|], (version c) as [m|]; auto. rewrite (V _ eq_refl) in H. simpl in H. now rewrite H in M. }
      unfold is in I. destruct (value c) as [u|] eqn:E'; [|destruct c; simpl in W, E'; discriminate]. rewrite (U _ eq_refl) in E. subst. now rewrite Pos.eqb_refl in I.
Qed.
End VersionedFacts.

(** ** A lease: its epochs grow, and each is claimed once. *)
Module LeaseFacts.
Import Lease.
Open Scope Z_scope.
Inductive fact :=
  | Past (n : Z)                         (* the epoch is at least this *)
  | Lost (o : positive) (e : Z)          (* this owner does not hold it in this epoch, and never will *)
  | Held (o : positive) (e : option Z).  (* this owner may hold it, in this epoch if there is one. It does not last, but only a claim makes it true *)
Definition holds_it (o : positive) (e : option Z) (s : state) : bool := match held_by s (Some o) e with Some _ => true | None => false end.
Definition is_owner (o : option positive) (p : positive) : bool := if owner_dec o (Some p) then true else false.
Definition has (f : fact) (s : state) : bool :=
  match f with
  | Past n => n <=? current s
  | Lost o e => (e <? current s) || (e =? current s) && exact s && negb (is_owner (holder s) o)
  | Held o e => holds_it o e s
  end.
Definition about (c : call) : list fact :=
  match c with
  | Renew (Some o) e | Release o e => Held o e :: match e with Some e => [Past e; Lost o e] | None => [] end
  | Claim _ (Some e) | Renew None (Some e) => [Past e]
  | _ => []
  end.
Definition tells (c : call) (f : fact) : bool :=
  match c, f with
  | Claim _ (Some e), Past n | Renew _ (Some e), Past n | Release _ (Some e), Past n => n =? e
  | Claim o (Some e), Lost p n => (n =? e) && negb (Pos.eqb o p)
  | Renew o (Some e), Lost p n => (n =? e) && negb (is_owner o p)
  | Release _ (Some e), Lost _ n => n =? e
  | _, _ => false
  end.
Definition given (s : state) : list fact := [Past (current s)].
(** It renews or releases it for p in epoch n. *)
Definition uses (c : call) (p : positive) (n : option Z) : bool :=
  match c with
  | Renew o e => is_owner o p && if option_dec Z.eq_dec e n then true else false
  | Release o e => Pos.eqb o p && if option_dec Z.eq_dec e n then true else false
  | _ => false
  end.
Definition wants (c : call) (f : fact) : bool := match f with Held p n => uses c p n | _ => false end.
Definition denies (c : call) (f : fact) : bool :=
  match f with
  | Past n => match c with Claim _ (Some e) => e <=? n | Renew _ (Some e) | Release _ (Some e) => e <? n | _ => false end
  | Lost p n => uses c p (Some n)
  | Held _ _ => false
  end.
Definition makes (c : call) (f : fact) : bool :=
  match c, f with
  | Claim o e, Held p n => Pos.eqb o p && match e, n with Some e, Some n => e =? n | _, _ => true end
  | Nothing, _ | _, Held _ _ => false
  | _, _ => true
  end.

Lemma held_spec s o e s' : held_by s o e = Some s' -> holder s = o /\ holder s' = o /\
  match e with Some n => current s <= n /\ current s' = n /\ exact s' = true /\ (exact s = true -> n = current s) | None => s' = s end.
Proof.
  unfold held_by. destruct (owner_dec (holder s) o) as [<-|]; [|easy]. destruct e as [e|]; [|intros E; now injection E as <-].
  destruct (Z.ltb_spec e (current s)); [now rewrite orb_true_r|]. destruct (Z.eqb_spec e (current s)) as [->|]; [rewrite andb_false_r|rewrite andb_true_r];
    simpl; [|destruct (exact s); [easy|]]; intros E; injection E as <-; simpl; repeat split; auto; easy.
Qed.
Lemma lost_spec o e s : has (Lost o e) s = true <-> e < current s \/ e = current s /\ exact s = true /\ holder s <> Some o.
Proof.
  simpl. unfold is_owner. rewrite orb_true_iff, !andb_true_iff, Z.ltb_lt, Z.eqb_eq. destruct (owner_dec (holder s) (Some o)); simpl; intuition congruence.
Qed.
Lemma uses_spec c s s' p n : apply s c = Some s' -> uses c p n = true -> exists s1, held_by s (Some p) n = Some s1.
Proof.
  destruct c as [|o e|o e|]; simpl; try easy; unfold is_owner; intros E [O U]%andb_true_iff; (destruct (option_dec Z.eq_dec e n) as [->|]; [|easy]).
  - destruct (owner_dec o (Some p)) as [->|]; [eauto|easy].
  - apply Pos.eqb_eq in O as ->. destruct (held_by s (Some p) n); [eauto|easy].
Qed.
Lemma changes s c s' : apply s c = Some s' ->
  s' = s \/ current s < current s' \/ current s <= current s' /\ exact s' = true /\ (exact s = true -> current s' = current s) /\ (holder s' = holder s \/ holder s' = None)
  \/ current s' = current s /\ exact s' = exact s /\ holder s' = None.
Proof.
  destruct c as [o [e|]|o e|o e|]; simpl.
  - destruct (Z.ltb_spec (current s) e); [|easy]. intros E; injection E as <-. simpl. auto.
  - intros E; injection E as <-. simpl. right. left. lia.
  - intros (<- & H & P)%held_spec. destruct e as [e|]; auto. right. right. left. destruct P as (L & -> & X & Y). repeat split; auto.
  - destruct (held_by s (Some o) e) as [s1|] eqn:H; [|easy]. apply held_spec in H as (_ & _ & P). intros E; injection E as <-. simpl.
    destruct e as [e|]; [|subst; tauto]. right. right. left. destruct P as (L & -> & X & Y). repeat split; auto.
  - intros E; injection E as <-. auto.
Qed.
Lemma held_again s o e s' p n : held_by s o e = Some s' -> holds_it p n s' = true -> holds_it p n s = true.
Proof.
  unfold holds_it, held_by. destruct (owner_dec (holder s) o); [|easy]. destruct e as [e|]; [|intros E; now injection E as <-].
  destruct (_ || _) eqn:B; [easy|]. intros E; injection E as <-. simpl. destruct (owner_dec (holder s) (Some p)); [|easy]. destruct n as [n|]; [|easy].
  destruct (Z.eqb_spec n e) as [->|]; [now rewrite B|easy].
Qed.
Lemma growth : Growth (Plain.step (does apply)) has tells wants denies makes no none.
Proof.
  constructor; unfold Plain.step, does, holds; try easy; intros s c a s' f.
  - intros x D E. apply changes in E. destruct f as [n|p n|]; [simpl; rewrite !Z.leb_le; intuition (subst; lia)| |easy]. rewrite !lost_spec.
    destruct E as [->|[E|[(L & X & Y & H)|(-> & -> & ->)]]]; auto; [lia| |intuition congruence].
    intros [H'|(-> & X' & H')]; [lia|]. rewrite (Y X'), X. right. repeat split; auto. destruct H as [->| ->]; easy.
  - destruct c as [o [e|]|o [e|]|o [e|]|], f as [n|p n|]; try easy; intros E T; simpl in T.
    1, 2: simpl in E; destruct (_ <? _); [|easy]; injection E as <-. 3, 4: apply held_spec in E as (<- & H & L & C & X & Y).
    5, 6: simpl in E; destruct (held_by s (Some o) (Some e)) as [s1|] eqn:Hs; [|easy]; apply held_spec in Hs as (_ & H & L & C & X & Y); injection E as <-.
    1, 3, 5: apply Z.eqb_eq in T as ->; apply Z.leb_le; simpl; lia. all: rewrite lost_spec; right; simpl.
    + apply andb_true_iff in T as [T%Z.eqb_eq N]. repeat split; auto. intros Q. injection Q as ->. now rewrite Pos.eqb_refl in N.
    + apply andb_true_iff in T as [T%Z.eqb_eq N]. rewrite H. repeat split; auto; [lia|]. intros Q. unfold is_owner in N. now destruct (owner_dec (holder s) (Some p)).
    + apply Z.eqb_eq in T. repeat split; auto; [lia|easy].
  - intros E W. destruct f as [|?|p n]; try easy. destruct (uses_spec _ _ _ _ _ E W) as (s1 & H). simpl. unfold holds_it. now rewrite H.
  - intros E D. destruct f as [n|p n|]; [| |easy].
    + simpl. rewrite Z.leb_le. destruct c as [o [e|]|o [e|]|o [e|]|]; try easy; simpl in E, D.
      * apply Z.leb_le in D. destruct (Z.ltb_spec (current s) e); [lia|easy].
      * apply Z.ltb_lt in D. apply held_spec in E as (_ & _ & L & _). lia.
      * apply Z.ltb_lt in D. destruct (held_by s (Some o) (Some e)) as [s1|] eqn:H; [|easy]. apply held_spec in H as (_ & _ & L & _). lia.
    + rewrite lost_spec. destruct (uses_spec _ _ _ _ _ E D) as (s1 & (H & _ & L & _)%held_spec). intros [|(_ & _ & N)]; [lia|easy].
  - intros E H M. destruct c as [o e|o e|o e|]; [| | |simpl in E; congruence]; (destruct f as [| |p n]; [easy..|]); simpl in E.
    + exfalso. revert H M. simpl. unfold holds_it, held_by. destruct (Pos.eqb_spec o p) as [->|N].
      * destruct e as [e|], n as [n|]; try easy. destruct (_ <? _); [|easy]. injection E as <-. cbn [holder current exact andb].
        destruct (owner_dec _ _); [|easy]. rewrite (Z.eqb_sym e n). intros H M. now rewrite M in H.
      * replace (holder s') with (Some o) by (destruct e; [destruct (_ <? _); [|easy]|]; now injection E as <-).
        destruct (owner_dec _ _); [congruence|easy].
    + eapply held_again; eauto.
    + destruct (held_by s (Some o) e) as [s1|]; [|easy]. now injection E as <-.
Qed.
End LeaseFacts.

(** ** Lists. A read shows a whole list; an append makes that the list has an element, and that it has it behind others. *)
Module ListGrowth.
Import Lists ListFacts.
Definition have (f : fact) (s : state) : bool := has f (rev (list_of s (key f))).
Definition reads (f : fact) (m : micro) : bool := match m with Read k vs => if Pos.eqb k (key f) then has f (rev' vs) else false | Append _ _ => false end.
Definition appends (k v : positive) (m : micro) : bool := match m with Append j u => if Pos.eqb u v then Pos.eqb j k else false | Read _ _ => false end.
Definition makes_one (f : fact) (m : micro) : bool := match f with Contains k v | Before k _ v => appends k v m | Starts _ _ => true end.
Definition tells_one (f : fact) (m : micro) : bool := reads f m || match f with Contains k v => appends k v m | _ => false end.
Definition makes (c : list micro) (f : fact) : bool := existsb (makes_one f) c.
Definition tells (c : list micro) (f : fact) : bool := existsb (tells_one f) c.
(** It is read before it is made. *)
Fixpoint wants (c : list micro) (f : fact) : bool := match c with [] => false | m :: c => reads f m || negb (makes_one f m) && wants c f end.
Fixpoint absurd (c : list micro) (f : fact) : bool := match c with [] => false | m :: c => tells_one f m && denies c f || absurd c f end.
(** Who appends w, and not behind a v of its own, needs v for v to be before w. *)
Fixpoint never_behind (k v w : positive) (c : list micro) : bool :=
  match c with [] => true | m :: c => if appends k v m then negb (existsb (appends k w) c) else never_behind k v w c end.
Definition needs (c : list micro) (f g : fact) : bool :=
  match f, g with Before k v w, Contains j u => Pos.eqb j k && Pos.eqb u v && never_behind k v w c | _, _ => false end.

Lemma ordered_longer v w u l : ordered v w (l ++ [u]) = true -> ordered v w l = true \/ u = w /\ mem v l = true.
Proof.
  unfold mem. induction l as [|x l IH]; simpl; [now destruct (Pos.eqb u v)|]. rewrite (Pos.eqb_sym v x). destruct (Pos.eqb x v); simpl; auto.
  rewrite mem_app. simpl. rewrite orb_false_r, orb_true_iff. intros [|<-%Pos.eqb_eq]; auto.
Qed.
Lemma do_made s m s' f : do s m = Some s' -> holds f s' -> makes_one f m = false -> holds f s.
Proof.
  destruct m as [k v|k vs]; [|intros [-> _]%read_spec; auto]. intros E. injection E as <-. unfold holds. rewrite StoredLists.list_of_append.
  destruct (Pos.eqb_spec k (key f)) as [->|]; auto. destruct f as [j u|j us|j u w]; simpl; [|easy|]; rewrite Pos.eqb_refl.
  - rewrite mem_app, orb_true_iff. simpl. rewrite orb_false_r, (Pos.eqb_sym u v). destruct (Pos.eqb v u); [easy|now intros [|]].
  - intros [H|[-> _]]%ordered_longer; auto. now rewrite Pos.eqb_refl.
Qed.
Lemma apply_made c f : forall s s', apply s c = Some s' -> holds f s' -> makes c f = false -> holds f s.
Proof.
  unfold makes. induction c as [|m c IH]; simpl; intros s s' E H M; [congruence|]. destruct (do s m) eqn:D; [|easy]. apply orb_false_iff in M as [M N].
  eapply do_made; eauto.
Qed.
Lemma reads_holds s m s' f : do s m = Some s' -> reads f m = true -> holds f s.
Proof.
  destruct m as [k v|k vs]; [easy|]. intros [_ L]%read_spec. unfold reads, holds. destruct (Pos.eqb_spec k (key f)) as [<-|]; [|easy]. now rewrite L.
Qed.
Lemma appends_holds k v m s s' : do s m = Some s' -> appends k v m = true -> holds (Contains k v) s'.
Proof.
  destruct m as [j u|]; [|easy]. simpl. destruct (Pos.eqb_spec u v) as [->|]; [|easy]. intros E ->%Pos.eqb_eq. injection E as <-.
  unfold holds. rewrite StoredLists.list_of_append. simpl. rewrite Pos.eqb_refl. simpl. rewrite mem_app. simpl. now rewrite Pos.eqb_refl, orb_true_r.
Qed.
Lemma tells_holds s m s' f : do s m = Some s' -> tells_one f m = true -> holds f s'.
Proof.
  unfold tells_one. intros D [R|A]%orb_true_iff; [eapply do_lasts; eauto; eapply reads_holds; eauto|]. destruct f; try easy. eapply appends_holds; eauto.
Qed.
Lemma do_needed s m s' k v w : do s m = Some s' -> holds (Before k v w) s' -> holds (Before k v w) s \/ appends k w m = true /\ holds (Contains k v) s.
Proof.
  destruct m as [j u|j us]; [|intros [-> _]%read_spec; auto]. intros E. injection E as <-. unfold holds. rewrite StoredLists.list_of_append. simpl.
  destruct (Pos.eqb_spec j k) as [->|]; auto. intros [H|[-> M]]%ordered_longer; auto. rewrite Pos.eqb_refl; auto.
Qed.
Lemma growth : Growth (Plain.step (does apply)) have tells wants denies makes absurd needs.
Proof.
  constructor; unfold Plain.step, does; change (Cycles.holds have) with holds.
  - intros s c a s' f _ _. apply apply_lasts.
  - intros s c a s' f. unfold tells. revert s. induction c as [|m c IH]; simpl; intros s E T; [easy|]. destruct (do s m) eqn:D; [|easy].
    apply orb_true_iff in T as [T|T]; eauto. eapply apply_lasts; eauto. eapply tells_holds; eauto.
  - intros s c a s' f. revert s. induction c as [|m c IH]; simpl; intros s E W; [easy|]. destruct (do s m) eqn:D; [|easy].
    apply orb_true_iff in W as [R|W]; [eapply reads_holds; eauto|]. apply andb_true_iff in W as [M W]. apply negb_true_iff in M. eapply do_made; eauto.
  - exact (fun s c a s' f => denied c f s s').
  - intros s c a s' f. apply apply_made.
  - intros s c a s' f g E H N. destruct f as [| |k v w], g as [j u| |]; try easy. simpl in N. rewrite !andb_true_iff, !Pos.eqb_eq in N. destruct N as [[-> ->] N].
    revert s E N. induction c as [|m c IH]; simpl; intros s E N; [injection E as ->; auto|]. destruct (do s m) as [s1|] eqn:D; [|easy].
    destruct (appends k v m) eqn:A.
    + apply negb_true_iff in N. destruct (do_needed _ _ _ _ _ _ D (apply_made _ _ _ _ E H N)) as [|[]]; auto.
    + destruct (IH _ E N) as [B|C]; [destruct (do_needed _ _ _ _ _ _ D B) as [|[]]; auto|]. right. exact (do_made _ _ _ _ D C A).
  - intros s c a s' f E. destruct (absurd c f) eqn:A; auto. exfalso. revert s E A. induction c as [|m c IH]; simpl; intros s E A; [easy|].
    destruct (do s m) as [s1|] eqn:D; [|easy]. apply orb_true_iff in A as [A|A]; eauto. apply andb_true_iff in A as [T R].
    exact (denied c f s1 s' E R (tells_holds _ _ _ _ D T)).
Qed.
End ListGrowth.
