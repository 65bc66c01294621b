(** The checker as OCaml: what judges, the data types, and what the search, the proposals and the meanings of operations use. *)
From Coq Require Import Extraction ExtrOcamlBasic.
From Clew Require Import History Order First Core Check Verdicts Models.
From Clew Require Spec_Registers.
Extraction Language OCaml.
Extraction "proved.ml" judge
  register kv_of_strings fifo_queue stack unordered_queue priority_queue growing_set ids growing_ids counter versioned_register owned fenced bank log lease list_append
  Spec_Registers.read Spec_Registers.write Spec_Registers.cas Spec_Registers.refused Spec_Registers.erase Spec_Registers.append
  best insert has under doomed sees left_ besides begun_by
  Spec_Registers.looks Spec_Registers.makes log_proposal versioned_proposal lease_proposal list_proposal list_before.
