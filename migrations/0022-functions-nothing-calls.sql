-- Drops the functions that nothing calls.
--
-- Why: a reader of the ledger takes every function for one that runs. Credits, refunds and
-- adjustments are posted one by one, in the transaction of the order or act that they belong to.
--
-- Safe while an older version runs: it calls none of them, and no function that stays does.

-- contract: only tests ever called the array forms of the three postings.
drop function ledger_credit_many(int8[], entry_kind[], text[], int8[], contra[], text[]);
drop function ledger_refund_many(int8[], int8[], text[], int8[], text[]);
drop function ledger_adjust_down_many(int8[], text[], int8[], contra[], text[]);
-- contract: only those three called it.
drop function ledger_refuse_double_refs(text[]);
-- contract: ledger_settle calls it no more since 0018. A settle that waited there for the locks has
-- ended; in a migration from before 0018 to here it fails with 42883, goes to a file as a refused
-- settle, and is charged once, by the new text.
drop function ledger_book_charge(int8, timestamptz, int8, int8, int8, int8);
