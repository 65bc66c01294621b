(** A pattern of banks: a read finds balances that no choice of the transfers that may have happened explains. The order of transfers does not matter
for that, and neither does whether any was refused. *)

From Coq Require Import List PArith ZArith Bool Lia Permutation.
From Clew Require Import History Order First Check Plain Cycles Counting Holders.
From Clew Require Import Spec_Others.
Import ListNotations.
Open Scope Z_scope.

(** ** Sums of some of the changes, each of which is a list of numbers. Those that are equal count once if the lists are in order. *)
Fixpoint lex (u v : list Z) : comparison :=
  match u, v with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | x :: u, y :: v => match x ?= y with Eq => lex u v | c => c end
  end.
Lemma lex_eq u : forall v, lex u v = Eq <-> u = v.
Proof.
  induction u as [|x u IH]; intros [|y v]; simpl; try easy. destruct (Z.compare_spec x y) as [->|L|L]; [rewrite IH; split; congruence|split; [easy|intros E; injection E; lia]..].
Qed.
Fixpoint merge (us : list (list Z)) : list (list Z) -> list (list Z) :=
  match us with
  | [] => fun vs => vs
  | u :: us' => fix inner vs := match vs with
    | [] => us
    | v :: vs' => match lex u v with Eq => u :: merge us' vs' | Lt => u :: merge us' vs | Gt => v :: inner vs' end
    end
  end.
Lemma merge_in x us : forall vs, In x us \/ In x vs -> In x (merge us vs).
Proof.
  induction us as [|u us IH]; simpl; [tauto|]. induction vs as [|v vs IHv]; simpl; [tauto|]. destruct (lex u v) eqn:E; simpl.
  - apply lex_eq in E as ->. intros [[|]|[|]]; auto.
  - intros [[|]|H]; auto.
  - intros [H|[|]]; auto.
Qed.
Fixpoint plus (u v : list Z) : list Z := match u, v with x :: u, y :: v => (x + y) :: plus u v | _, _ => [] end.

Section Bank.
Notation op := (op Bank.call unit).
Definition brings (a : positive) (o : op) : Z := match Bank.rises (what o) a with Some n => n | None => 0 end.
Definition all_brought (accounts : list positive) (o : op) : list Z := map (fun a => brings a o) accounts.
Fixpoint sums (accounts : list positive) (ops : list op) (found : list (list Z)) : list (list Z) :=
  match ops with [] => found | o :: ops => sums accounts ops (let c := all_brought accounts o in merge found (map (plus c) found)) end.
(** What has certainly happened, and what else may have. *)
Definition sure (y : op) (h : list op) : list op := filter (surely None (Some y)) h.
Definition perhaps (y : op) (h : list op) : list op := filter (fun o => negb (surely None (Some y) o) && maybe None (Some y) o) h.
Definition unexplained (init : Bank.state) (i : positive) (h : list op) : verdict :=
  match find (fun o => Pos.eqb (inv o) i) h with
  | Some y =>
    match what y with
    | Bank.Read all =>
      let accounts := map fst all in
      let certain := sure y h in
      let found := sums accounts (perhaps y h) [map (fun a => at_key init a + total (brings a) certain) accounts] in
      let read := map (at_key all) accounts in
      accepted (returned y && negb (existsb (fun v => match lex v read with Eq => true | _ => false end) found))
    | _ => Rejected NoPattern i
    end
  | None => Rejected NoPattern i
  end.

Lemma plus_map (f g : positive -> Z) accounts : plus (map f accounts) (map g accounts) = map (fun a => f a + g a) accounts.
Proof. induction accounts as [|a l IH]; simpl; congruence. Qed.
Lemma sums_in accounts keep ops : forall f found, In (map f accounts) found ->
  In (map (fun a => f a + total (brings a) (filter keep ops)) accounts) (sums accounts ops found).
Proof.
  induction ops as [|o ops IH]; simpl; intros f found H.
  - erewrite map_ext; [exact H|]. intros a. change (f a + 0 = f a). lia.
  - destruct (keep o).
    + erewrite map_ext; [apply (IH (fun a => brings a o + f a))|].
      * apply merge_in. right. apply in_map_iff. exists (map f accounts). split; auto. unfold all_brought. now rewrite plus_map.
      * intros a. simpl. rewrite total_cons. lia.
    + apply IH, merge_in. now left.
Qed.
Lemma total_permutation f (a b : list op) : Permutation a b -> total f a = total f b.
Proof. induction 1; rewrite ?total_cons; lia. Qed.
Lemma balances negative part : forall s rest, run (step (does (Bank.apply negative))) s (part ++ rest) ->
  exists s', run (step (does (Bank.apply negative))) s' rest /\ forall a, at_key s' a = at_key s a + total (brings a) part.
Proof.
  induction part as [|o part IH]; simpl; intros s rest R.
  - exists s. split; auto. intros a. change (at_key s a = at_key s a + 0). lia.
  - inversion R as [|? ? s1 ? E R']; subst. apply acts_does in E. destruct (IH _ _ R') as (s' & R'' & G). exists s'. split; auto.
    intros a. rewrite G, total_cons. unfold brings at 2. destruct (Bank.rises (what o) a) as [n|] eqn:X; [|destruct (what o); easy].
    rewrite (Bank.changes _ _ _ _ _ _ E X). lia.
Qed.

Theorem unexplained_refutes negative init i h : sorted h = true -> sane h = true -> unexplained init i h = Accepted ->
  ~ Linearizable (step (does (Bank.apply negative))) init h.
Proof.
  intros S W C (os & Lin). unfold unexplained in C. destruct (find _ h) as [y|] eqn:F; [|easy]. apply find_some in F as [Hy _].
  destruct (what y) as [all| |] eqn:E; try easy. apply accepted_true, andb_true_iff in C as [Ry C]. apply negb_true_iff in C.
  destruct (stretch (step (does (Bank.apply negative))) None (Some y) init h os S W Lin) as (before & part & rest & -> & Eb & (l & ->) & Dp & Ip & A & B); [now split|].
  rewrite Eb in Lin by auto. destruct (balances negative part init (y :: l) (runs _ _ _ _ Lin)) as (s & R & G).
  inversion R as [|? ? s1 ? X R']; subst. apply acts_does in X. rewrite E in X. unfold does in X. simpl in X.
  destruct (Bank.agree all s && _) eqn:Y; [|easy]. apply andb_true_iff in Y as [Y _].
  set (keep := fun o : op => existsb (fun x => Pos.eqb (inv x) (inv o)) part).
  assert (K : forall o, In o h -> keep o = true <-> In o part).
  { intros o Ho. unfold keep. rewrite existsb_exists. split; [|intros Hp; exists o; split; auto; apply Pos.eqb_refl].
    intros (x & Hx & Q%Pos.eqb_eq). assert (x = o) as <-; [|easy]. apply (sorted_unique _ S); auto. }
  assert (P : Permutation part (sure y h ++ filter keep (perhaps y h))).
  { assert (D := sorted_NoDup _ S). apply NoDup_Permutation; auto.
    - unfold sure, perhaps. clear - D. induction D as [|o h N D IH]; simpl; [constructor|].
      destruct (surely None (Some y) o); simpl.
      + constructor; auto. rewrite in_app_iff, !filter_In. tauto.
      + destruct (maybe None (Some y) o); simpl; auto. destruct (keep o); auto. apply NoDup_Add with (a := o) (l := filter (surely None (Some y)) h ++ filter keep (filter (fun o => negb (surely None (Some y) o) && maybe None (Some y) o) h)).
        * apply Add_app.
        * split; auto. rewrite in_app_iff, !filter_In. tauto.
    - intros o. unfold sure, perhaps. rewrite in_app_iff, !filter_In, andb_true_iff, negb_true_iff. split.
      + intros Ho. assert (Hh := Ip _ Ho). apply (K _ Hh) in Ho as Hk. specialize (B _ Ho). destruct (surely None (Some y) o); tauto.
      + intros [[Hh Hs]|[[Hh _] Hk]]; [now apply A|now apply K]. }
  assert (N : existsb (fun v => match lex v (map (at_key all) (map fst all)) with Eq => true | _ => false end)
    (sums (map fst all) (perhaps y h) [map (fun a => at_key init a + total (brings a) (sure y h)) (map fst all)]) = true); [|congruence].
  apply existsb_exists. exists (map (at_key all) (map fst all)). split; [|now rewrite (proj2 (lex_eq _ _) eq_refl)].
  erewrite map_ext_in; [apply (sums_in _ keep); now left|]. intros a (x & <- & Hx)%in_map_iff. simpl.
  unfold Bank.agree in Y. rewrite forallb_forall in Y. specialize (Y _ Hx). apply Z.eqb_eq in Y.
  rewrite <- Y, G, (total_permutation _ _ _ P), total_app. lia.
Qed.
End Bank.
