-- What usage is added up from. The job that adds up and the readers of entries that are not added
-- up yet call the same functions, so that both count alike.

-- The step of a duration, 0 to 37: below 8 ms, then steps of a factor of the square root of 2, the
-- last one from 35 minutes on. src/ledger/usage/latency.ts knows the same bounds.
create or replace function usage_latency_step(p_ms int4) returns int4
language sql immutable parallel safe as $$
  select width_bucket(p_ms, '{8,12,16,23,32,46,64,91,128,182,256,363,512,725,1024,1449,2048,2897,
    4096,5793,8192,11586,16384,23171,32768,46341,65536,92682,131072,185364,262144,370728,524288,
    741456,1048576,1482911,2097152}'::int4[])
$$;

-- What the cached tokens of a charge would have cost as plain input, less what they cost, by the
-- price of the model that answered (src/ledger/parts.ts has the order of its members) or else of
-- the tariff. In microcredits, as counts times millionths.
create or replace function usage_cache_saved(p_parts jsonb, p_tariff tariffs, p_read int8,
  p_write_5m int8, p_write_1h int8)
returns int8 language sql immutable parallel safe as $$
  select case
    when p_read is null then 0
    when p_parts ? 'served' then
      p_read * ((p_parts #>> '{served,price,0}')::int8 - (p_parts #>> '{served,price,2}')::int8)
      + p_write_5m
        * ((p_parts #>> '{served,price,0}')::int8 - (p_parts #>> '{served,price,3}')::int8)
      + p_write_1h
        * ((p_parts #>> '{served,price,0}')::int8 - (p_parts #>> '{served,price,4}')::int8)
    else p_read * (p_tariff.input - p_tariff.cache_read)
      + p_write_5m * (p_tariff.input - p_tariff.cache_write_5m)
      + p_write_1h * (p_tariff.input - p_tariff.cache_write_1h)
  end
$$;

-- Adds two histograms. An element is a count times 64 plus the step of usage_latency_step; steps
-- without requests have no element, because most sums have few requests. A count above 2^25 - 1 has
-- several elements of its step.
create or replace function usage_histogram_add(p_one int4[], p_other int4[]) returns int4[]
language sql immutable parallel safe as $$
  select case
    when cardinality(p_one) = 0 then p_other
    when cardinality(p_other) = 0 then p_one
    else (
      select array_agg((64 * least(33554431, s.requests - i * 33554431) + s.step)::int4)
      from (
        select u.element & 63 as step, sum(u.element >> 6) as requests
        from unnest(p_one || p_other) as u (element) group by 1
      ) s, generate_series(0, (s.requests - 1) / 33554431) as i
    )
  end
$$;

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

-- Takes what a client called its sessions, agents and requests from the entries of a book between
-- two numbers, both included. Security definer: no program changes entries.
create or replace function ledger_erase_names(p_book int8, p_from int8, p_to int8) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update entries set session_id = null, agent_id = null, parent_agent_id = null, label = null
  where book_id = p_book and seq between p_from and p_to
    and num_nonnulls(session_id, agent_id, parent_agent_id, label) > 0
$$;

-- The figures that are kept under such names.
create or replace function usage_erase_names(p_book int8) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from usage_sessions where book_id = p_book;
  delete from usage_split_sums where book_id = p_book and split in ('session', 'label', 'agent');
  delete from usage_split_spans where book_id = p_book and split in ('session', 'label', 'agent');
end
$$;
