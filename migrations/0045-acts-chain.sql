-- Operators' acts name no person, and form a chain that shows what was changed or erased.
--
-- Why: a person with the owner's password could erase an act unnoticed, and acts kept e-mail
-- addresses of people whose accounts were erased. Each act now carries a digest of its content and
-- of the one before, and an account's id in place of an address. Older acts are rewritten here,
-- once, before the chain begins. Operators' commands wait meanwhile: about 2 s for 10,000 acts.
--
-- Safe while an older version runs: the trigger replaces addresses and computes number and digest
-- for every writer.

-- The end of the chain: the number and digest of the newest act. Writers lock its one row.
create table act_chain (
  is_only boolean primary key default true
    constraint act_chain_has_one_row check (is_only),
  number int8 not null,
  digest bytea not null
);

-- How far the acts were sent to each copy. A copy that cannot be read back has no other mark.
create table act_copies (
  name text primary key,
  number int8 not null default 0,
  digest bytea not null default '',
  shipped_at timestamptz not null default clock_timestamp()
);

alter table operator_acts
  add column number int8,
  add column digest bytea;

-- The account that an e-mail address belongs to, or belonged to last. Its id names a person where
-- the address must not stand: when the account is erased, nothing leads from the id to the person.

create or replace function accounts_pseudonym(p_email text) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(
    (select id from accounts where email = lower(p_email)),
    (select account_id from email_changes where old_email = lower(p_email)),
    (select id from accounts where former_email = lower(p_email) order by closed_at desc limit 1))
$$;

-- A text without e-mail addresses: each becomes the id of its account, or [address] if no account
-- has it. Cuts the result, because an id may be longer than the address. An apostrophe is part of
-- an address inside a word, or as a shell quotes it; a domain may be cut off at the end of a text.
create or replace function acts_without_addresses(p_text text, p_max int4) returns text
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  v_text text := p_text;
  v_address text;
begin
  if strpos(v_text, '@') > 0 then
    -- The longest first: another address may be its end.
    for v_address in
      select m[1] from regexp_matches(
        p_text,
        $re$((?:[^\s<>()\[\]{},:;"'@=/\\|]|'\\''|(?<=[[:alnum:]_])'(?=[[:alnum:]_]))+$re$
          || $re$@(?:[[:alnum:]][[:alnum:].-]*[[:alnum:]]|[[:alnum:]]?))$re$,
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

-- Of a new act: replaces addresses, gives it the next number and its digest, whatever the client
-- sent. The lock on the one row of act_chain is kept until the transaction ends, so numbers have no
-- gaps and their order is the order of commits; an act that is rolled back takes its number back.
create or replace function operator_acts_join_chain() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_before bytea;
begin
  new.command := acts_without_addresses(new.command, 2000);
  new.detail := acts_without_addresses(new.detail, 1000);
  select number + 1, digest into strict new.number, v_before from act_chain for update;
  new.at := clock_timestamp();
  new.digest := sha256(v_before || convert_to(acts_text(new), 'UTF8'));
  update act_chain set number = new.number, digest = new.digest;
  return new;
end
$$;

-- Only here are acts changed: nobody can write one meanwhile, because the table is locked.
alter table operator_acts disable trigger operator_acts_are_append_only;

do $do$
declare
  v_act operator_acts;
  v_number int8 := 0;
  v_digest bytea := '';
begin
  for v_act in select * from operator_acts order by id loop
    v_number := v_number + 1;
    v_act.number := v_number;
    v_act.command := acts_without_addresses(v_act.command, 2000);
    v_act.detail := acts_without_addresses(v_act.detail, 1000);
    v_digest := sha256(v_digest || convert_to(acts_text(v_act), 'UTF8'));
    update operator_acts
    set number = v_number, command = v_act.command, detail = v_act.detail, digest = v_digest
    where id = v_act.id;
  end loop;
  insert into act_chain (number, digest) values (v_number, v_digest);
end
$do$;

alter table operator_acts enable trigger operator_acts_are_append_only;

alter table operator_acts
  -- contract: the trigger gives every new act its number and digest, whoever writes it
  alter column number set not null,
  alter column digest set not null,
  add constraint operator_acts_are_numbered_once unique (number),
  add constraint operator_acts_digests_are_sha256 check (length(digest) = 32);

create trigger operator_acts_join_the_chain
before insert on operator_acts
for each row execute function operator_acts_join_chain();
