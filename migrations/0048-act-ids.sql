-- The trigger of operators' acts chooses their ids too, and addresses with letters other than Latin
-- are replaced also in a database of the C locale.
--
-- Why: with the operators' password somebody could insert acts with the ids of the next ones
-- (OVERRIDING SYSTEM VALUE); then every command failed that leaves an act. The cluster in
-- deploy/patroni has the C locale, where Cyrillic letters count as none: such addresses stayed.
--
-- Safe while an older version runs: it takes the id that the insert returns.

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
