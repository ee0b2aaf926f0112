-- Operators' acts: rows are only inserted, name no person, and each carries a digest of its content
-- and of the digest before it.

create or replace function operator_acts_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'what operators did is never changed or removed'
    using errcode = 'restrict_violation';
end
$$;

-- A text as it is stored: without addresses, and without the names of whoever it leads to; see
-- src/accounts/sql/pseudonym.sql.
create or replace function acts_without_addresses(p_text text, p_max int4) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select accounts_depersonalize(p_text, p_max, null)
$$;

-- What the digest of an act covers, as one line of JSON. src/acts/chain.ts builds the same text,
-- and copies of the list contain it.
create or replace function acts_text(p_act operator_acts) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select '{"number":' || p_act.number || ',"id":' || p_act.id
    || ',"of":' || coalesce(p_act.of_act::text, 'null')
    || ',"at":"' || to_char(p_act.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    || '","by":' || to_json(p_act.acted_by)::text || ',"osUser":' || to_json(p_act.os_user)::text
    || ',"command":' || to_json(p_act.command)::text || ',"outcome":"' || p_act.outcome
    || '","detail":' || to_json(p_act.detail)::text || '}'
$$;

-- Of a new act: replaces addresses, gives it the next id and number and its digest, whatever the
-- client sent: one who chose ids could take those of later acts, which would then fail. The lock on
-- the one row of act_chain is kept until the transaction ends, so numbers have no gaps and their
-- order is the order of commits; an act that is rolled back takes its number back.
create or replace function operator_acts_join_chain() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_before bytea;
begin
  new.command := acts_without_addresses(new.command, 2000);
  new.detail := acts_without_addresses(new.detail, 1000);
  select number + 1, digest into strict new.number, v_before from act_chain for update;
  select coalesce(max(id), 0) + 1 into new.id from operator_acts;
  new.at := clock_timestamp();
  new.digest := sha256(v_before || convert_to(acts_text(new), 'UTF8'));
  update act_chain set number = new.number, digest = new.digest;
  return new;
end
$$;
