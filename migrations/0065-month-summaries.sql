-- An e-mail about the last month to each owner who wants it: usage, purchases and tax receipts.
-- Columns without values, in milliseconds. Processes of the version before do not read them.

alter table accounts
  -- The newest month that was summarised, or that had nothing to tell: its first day.
  add column summary_month date,
  -- Since when the owner does not want the e-mail; null: wanted.
  add column summary_off_at timestamptz,
  -- Random, in the link that switches the e-mail off. It can do nothing else, so it is stored
  -- plain.
  add column summary_code text constraint accounts_summary_codes_are_long
    check (length(summary_code) >= 32);

-- The address at which mail programs unsubscribe from an e-mail of which that is possible.
alter table letters add column unsubscribe text;
