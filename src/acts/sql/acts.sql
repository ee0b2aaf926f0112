-- Operators' acts: rows are only inserted, name no person, and each carries a digest of its content
-- and of the digest before it.

create or replace function operator_acts_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'what operators did is never changed or removed'
    using errcode = 'restrict_violation';
end
$$;

-- A text without e-mail addresses: each becomes the id of its account, or [address] if no account
-- has it. Cuts the result, because an id may be longer than the address. An apostrophe is part of
-- an address inside a word, or as a shell quotes it; a domain may be cut off at the end of a text.
create or replace function acts_without_addresses(p_text text, p_max int4) returns text
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  -- Written out, because [[:alnum:]] has no Cyrillic letters in a database of the C locale.
  c_letters constant text := '0-9A-Za-z\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufdff\uff10-\U0010ffff';
  v_text text := p_text;
  v_address text;
begin
  if strpos(v_text, '@') > 0 then
    -- The longest first: another address may be its end.
    for v_address in
      select m[1] from regexp_matches(
        p_text,
        replace(
          $re$((?:[^\s<>()\[\]{},:;"'@=/\\|]|'\\''|(?<=[<letters>_])'(?=[<letters>_]))+$re$
            || $re$@(?:[<letters>][<letters>.-]*[<letters>]|[<letters>]?))$re$,
          '<letters>', c_letters),
        'g') as m
      group by 1 order by length(m[1]) desc
    loop
      v_text := replace(v_text, v_address, coalesce(
        accounts_pseudonym(replace(v_address, $q$'\''$q$, '''')), '[address]'));
    end loop;
  end if;
  return case when length(v_text) > p_max then left(v_text, p_max - 1) || '…' else v_text end;
end
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
