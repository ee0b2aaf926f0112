-- The figures of each sum of usage as one text, which charts read.
--
-- Why: a chart of a year reads up to 9,000 sums. The amounts and histograms of each were
-- packed into bytes for every chart; now that is done once, when a sum is written.
--
-- Safe while an older version runs: it names its columns, and PostgreSQL itself makes this one. The
-- table is rewritten: 600,000 sums, those of five million requests, take about 5 s. During that
-- time usage pages and the job that adds up wait; requests to the gateway do not.

-- The figures of a sum as one text, `amounts;first bytes;whole durations`, each a list with commas;
-- src/ledger/usage/figures.ts reads it and has the order of the amounts. The column figures of
-- usage_split_sums is made by it: a chart of a year reads thousands of sums. Immutable: the text of
-- a whole number depends on no setting.
create or replace function usage_figures_text(p_amounts int8[], p_first_byte int4[],
  p_total int4[])
returns text language sql immutable parallel safe as $$
  select array_to_string(p_amounts, ',') || ';' || array_to_string(p_first_byte, ',') || ';'
    || array_to_string(p_total, ',')
$$;

alter table usage_split_sums add column figures text collate "C"
  generated always as (usage_figures_text(array[requests, free, errors, known, input, output,
    cache_read, cache_write_5m, cache_write_1h, spent, cache_saved], first_byte, total)) stored;
