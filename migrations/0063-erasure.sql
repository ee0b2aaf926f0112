-- Erasing a person reaches everything, and what never changes names nobody from the start.
--
-- Why: after an erasure the address was still in refund reasons, ledger notes, bodies of stored
-- requests and what operators had typed. What people type is now stored without addresses and
-- names, by the tables themselves; one function of each module erases the rest.
--
-- Safe while an older version runs: it writes the same columns, and the triggers replace what it
-- typed. Its own daily erasure does less. The locks on small tables are short; entries get no new
-- trigger.

create table account_addresses (
  account_id text not null references accounts (id) on delete cascade,
  email text not null,
  left_at timestamptz not null default clock_timestamp(),
  primary key (account_id, email)
);
create index account_addresses_by_email on account_addresses (email);

-- Null: of no account yet, or written by an older version.
alter table letters add column account_id text;
create index letters_by_account on letters (account_id) where account_id is not null;
create index letters_of_nobody on letters (lower(recipient)) where account_id is null;

-- The book of an order; null for none.
create or replace function payments_book_of(p_order text) returns int8
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select book_id from orders where id = p_order
$$;

-- The books of the orders, refunds and disputes that a text names.
create or replace function payments_books_in(p_text text) returns setof int8
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  with named as (
    select m[1] as id from regexp_matches(p_text, '((?:pay|rfd|dsp)_[0-9a-f]{32})', 'g') as m
  )
  select book_id from orders
  where id in (select id from named)
    or id in (select order_id from refunds where refunds.id in (select id from named))
    or id in (select order_id from disputes where disputes.id in (select id from named))
$$;

-- Erases addresses, texts that people typed, and what the provider told about payers. Security
-- definer: no program's role may change what was written about a decision.
create or replace function payments_erase(p_book int8) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_orders text[] := array(select id from orders where book_id = p_book order by id for update);
begin
  -- A request that was never answered may have to be repeated as it was; erasure waits for it.
  update orders set email = 'erased@invalid', confirmation = null, confirmation_kind = null,
    request_body = case when state = 'created' then request_body end
  where book_id = p_book;
  update refunds set reason = '', owner_digest = null,
    request_body = case when state = 'created' then request_body end
  where order_id = any (v_orders);
  update disputes set note = '' where order_id = any (v_orders);
  update payment_reviews set note = case when note is not null then '' end, detail = ''
  where order_id = any (v_orders);
  update receipts set request_body = null, next_at = null, error = null,
    note = case when note is not null then '[erased]' end,
    state = case when state = 'created' then 'failed' else state end
  where order_id = any (v_orders);
  update receipt_decisions set note = '[erased]' where order_id = any (v_orders);
  update payment_notices set body = '', peer = ''
  where book_id = p_book or order_id = any (v_orders)
    or (provider, provider_payment_id) in (
      select provider, provider_payment_id from orders where id = any (v_orders));
  update payment_findings set detail = '' where subject = any (v_orders);
  -- Promo codes are once ever per address: the keyed digest stays while its code is in force.
  update promo_redemptions r set address_digest = null
  from promo_codes c
  where r.book_id = p_book and c.code = r.code and c.ends_at <= ledger_now();
  delete from promo_attempts where book_id = p_book;
  delete from payment_payers where book_id = p_book;
  delete from saved_methods where book_id = p_book;
  delete from mandates where book_id = p_book;
  delete from top_up_settings where book_id = p_book;
  delete from top_ups where book_id = p_book;
  delete from top_up_consents where book_id = p_book;
end
$$;

-- The digest of an address serves to give a code once; a code that has ended needs none.
create or replace function payments_forget_redeemers() returns int8
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  with forgotten as (
    update promo_redemptions r set address_digest = null
    from promo_codes c
    where c.code = r.code and c.ends_at <= ledger_now() and r.address_digest is not null
    returning 1
  )
  select count(*) from forgotten
$$;

-- The account that an e-mail address belongs to, or belonged to last.
create or replace function accounts_pseudonym(p_email text) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(
    (select id from accounts where email = lower(p_email)),
    (select account_id from account_addresses where email = lower(p_email)
      order by left_at desc limit 1),
    -- What was given up before addresses were kept.
    (select account_id from email_changes where old_email = lower(p_email)),
    (select id from accounts where former_email = lower(p_email) order by closed_at desc limit 1))
$$;

-- Every address that the person has or had, until the account is erased. Security definer: who
-- erases may not read the changes of address of everybody.
create or replace function accounts_addresses(p_account text) returns setof text
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select email from accounts where id = p_account and email not like '%@closed.invalid'
  union select former_email from accounts where id = p_account and former_email is not null
  union select email from account_addresses where account_id = p_account
  union select unnest(array[old_email, new_email]) from email_changes where account_id = p_account
  union select address from account_recoveries,
    unnest(array[new_email, mailbox, old_mailbox]) as address
  where account_id = p_account and strpos(address, '@') > 0
$$;

-- An address that its owner gives up is kept until the account is erased: letters and operators'
-- texts may name it, and erasure must find them.
create or replace function accounts_keep_address() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.email <> new.email and old.email not like '%@closed.invalid' then
    insert into account_addresses (account_id, email) values (old.id, old.email)
    on conflict (account_id, email) do update set left_at = clock_timestamp();
  end if;
  return null;
end
$$;

-- Whose an e-mail is: an address may belong to another account later, and an export and an erasure
-- must find each one's own. A registration is of nobody yet. Security definer: who writes an e-mail
-- may not read all addresses.
create or replace function accounts_name_letter() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.account_id := accounts_pseudonym(new.recipient);
  return new;
end
$$;

-- The e-mails of a registration become those of the account that it made.
create or replace function accounts_adopt_letters() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update letters set account_id = new.id
  where account_id is null and lower(recipient) = new.email
    and kind in ('confirm-email', 'invitation');
  return null;
end
$$;

-- Printable ASCII of a percent-encoded text; other bytes stay encoded, because they may not be
-- UTF-8.
create or replace function accounts_percent_decoded(p_text text) returns text
language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(string_agg(
    case when m[1] ~* '^%(?:[2-6][0-9a-f]|7[0-9a-e])$'
      then chr(('x' || substr(m[1], 2))::bit(8)::int4) else m[1] end, '' order by n), '')
  from regexp_matches(p_text, '(%[0-9a-fA-F]{2}|.)', 'g') with ordinality as found (m, n)
$$;

-- A text without e-mail addresses: each becomes the id of its account, or [address] if no account
-- has it. An apostrophe is part of an address inside a word, or as a shell quotes it; a domain may
-- be cut off at the end of a text; @ may be written %40.
create or replace function accounts_without_addresses(p_text text) returns text
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  -- Written out, because [[:alnum:]] has no Cyrillic letters in a database of the C locale.
  c_letters constant text := '0-9A-Za-z\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufdff\uff10-\U0010ffff';
  c_domain constant text := '[<letters>][<letters>.-]*[<letters>]';
  v_text text := translate(p_text, '＠﹫', '@@');
  v_address text;
  v_rest text;
begin
  if v_text like '%\%40%' then
    for v_address in
      select m[1] from regexp_matches(v_text, replace(
        '((?:[<letters>.!#$&*+/=?^_`{|}~-]|%[0-9A-Fa-f]{2})+%40(?:[<letters>.-]|%[0-9A-Fa-f]{2})*)',
        '<letters>', c_letters), 'g') as m
      group by 1 order by length(m[1]) desc
    loop
      -- What stands before an address in a URL, such as ?email=, is not part of it.
      v_rest := accounts_percent_decoded(v_address);
      v_text := replace(v_text, v_address, coalesce(
        accounts_pseudonym(v_rest),
        regexp_replace(v_address, '[^=&?/]*$', '') || coalesce(
          accounts_pseudonym(substring(v_rest from '[^=&?/]*$')), '[address]')));
    end loop;
  end if;
  if strpos(v_text, '@') = 0 then
    return v_text;
  end if;
  -- A quoted local part may contain anything.
  for v_address in
    select m[1] from regexp_matches(v_text, replace(
      '("(?:[^"\\]|\\.){1,64}"@' || c_domain || ')', '<letters>', c_letters), 'g') as m
    group by 1 order by length(m[1]) desc
  loop
    v_text := replace(v_text, v_address, coalesce(
      accounts_pseudonym(v_address), accounts_pseudonym(replace(v_address, '"', '')), '[address]'));
  end loop;
  -- A known address whose local part has = / | { or }, which people also type before an address.
  for v_address in
    select m[1] from regexp_matches(v_text, replace(
      '([^\s<>()\[\],;:"@\\]*[=/|{}''][^\s<>()\[\],;:"@\\]*@' || c_domain || ')',
      '<letters>', c_letters), 'g') as m
    group by 1 order by length(m[1]) desc
  loop
    v_rest := v_address;
    while v_rest ~ '[=/|{}'']' loop
      if accounts_pseudonym(v_rest) is not null then
        v_text := replace(v_text, v_rest, accounts_pseudonym(v_rest));
        exit;
      end if;
      v_rest := substring(v_rest from '[=/|{}''](.*)$');
    end loop;
  end loop;
  -- The longest first: another address may be its end.
  for v_address in
    select m[1] from regexp_matches(
      v_text,
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
  return v_text;
end
$$;

-- How the person of an account may be written without the address, as regular expressions: the
-- words of the local part in both orders (Anna Forget, forget.anna), or a single long word.
create or replace function accounts_name_patterns(p_account text) returns setof text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  with locals as (
    select regexp_split_to_array(regexp_replace(
      split_part(split_part(address, '@', 1), '+', 1), '^[^[:alpha:]]+|[^[:alpha:]]+$', '', 'g'),
      '[^[:alpha:]]+') as words
    from accounts_addresses(p_account) as address
  )
  select case when cardinality(words) = 1 then words[1] else
    array_to_string(words, '[\s,._-]{0,2}') || '|' || array_to_string(array(
      select word from unnest(words) with ordinality as w (word, n) order by n desc),
      '[\s,._-]{0,2}') end
  from locals
  where array_to_string(words, '') ~ '^[[:alpha:]]+$'
    and length(array_to_string(words, '')) >= 6
    and (select min(length(word)) from unnest(words) as word) >= 2
$$;

-- The accounts that a text is about: by their own ids, books, orders and keys.
create or replace function accounts_in_text(p_text text) returns setof text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select m[1] from regexp_matches(p_text, '(acc_[A-Za-z0-9_-]{16})', 'g') as m
  union
  select a.id from accounts a
  where a.book_id in (
    select book from payments_books_in(p_text) as book
    union
    select book_id from keys where id in (
      select m[1] from regexp_matches(p_text, '(key_[A-Za-z0-9_-]{14})', 'g') as m)
    union
    select m[1]::int8 from regexp_matches(p_text, '\m([1-9][0-9]{0,17})\M', 'g') as m)
$$;

-- What stays of a text that somebody typed: without addresses, and without the names of the people
-- it is about: the owner of the book, if one is given, and whoever the text itself leads to. Cuts
-- the result, because an id may be longer than what it replaces.
create or replace function accounts_depersonalize(p_text text, p_max int4, p_book int8)
returns text
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  v_text text := accounts_without_addresses(p_text);
  v_account text;
  v_pattern text;
begin
  for v_account in
    select id from accounts where book_id = p_book union select accounts_in_text(v_text)
  loop
    for v_pattern in select accounts_name_patterns(v_account) loop
      -- Not the name of an option: --reason stays, if somebody's address begins with it.
      v_text := regexp_replace(v_text, '(?<![-[:alnum:]_])(?:' || v_pattern || ')(?![[:alnum:]_])',
        v_account, 'gi');
    end loop;
  end loop;
  return case when length(v_text) > p_max then left(v_text, p_max - 1) || '…' else v_text end;
end
$$;

-- For every table with texts that people type; the arguments are its columns, each with the length
-- that the table allows. The row's book or order tells whom the text is about. Security definer:
-- no program's role reads all addresses.
create or replace function accounts_depersonalize_columns() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_row jsonb := to_jsonb(new);
  v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
  v_column text;
begin
  for i in 0 .. tg_nargs - 2 by 2 loop
    v_column := tg_argv[i];
    if v_row ->> v_column <> ''
      and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
      new := jsonb_populate_record(new, jsonb_build_object(v_column,
        accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
    end if;
  end loop;
  return new;
end
$$;

-- What an operator searched for, without naming anybody: a part of an address becomes the ids of
-- the accounts that have it. An id, a number, four characters of a key or a promo code stay.
create or replace function accounts_searched(p_text text) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select case
    when strpos(word, '@') > 0
      or word ~ '^(?:[a-z]{3}_[\w-]+|[0-9]+|.{0,4}|[A-Z0-9][A-Z0-9-]*|sk-.*)$'
      then p_text
    else coalesce((
      select string_agg(id, ' ') from (
        select id from accounts
        where strpos(coalesce(former_email, email), lower(word)) > 0 order by id limit 3) as found),
      '[text]') end
  from (select btrim(p_text, ' ''') as word) as given
$$;

-- Whether the account may be erased now; locks its row. 'erased' and 'open' are final answers.
create or replace function accounts_erasable(p_account text, out answer text, out book int8)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  select case when erased_at is not null then 'erased' when closed_at is null then 'open'
    else 'closed' end, book_id
  into answer, book
  from accounts where id = p_account
  for update;
  answer := coalesce(answer, 'unknown');
end
$$;

-- Erases what accounts hold about the person and keeps the row of the account: other tables name
-- its id and its book. Runs last, because the other modules find the person by it.
create or replace function accounts_erase(p_account text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from accounts where id = p_account and closed_at is not null and erased_at is null;
  if not found then
    raise exception 'only a closed account is erased, and once'
      using errcode = 'integrity_constraint_violation';
  end if;
  perform operator_approvals_erase(p_account);
  -- Not those of somebody who has had the address since.
  delete from registrations r
  where r.email in (select accounts_addresses(p_account))
    and r.created_at < coalesce(
      (select left_at from account_addresses a
       where a.account_id = p_account and a.email = r.email),
      (select closed_at from accounts where id = p_account));
  delete from account_consents where account_id = p_account;
  delete from sessions where account_id = p_account;
  delete from credentials where account_id = p_account;
  delete from second_factors where account_id = p_account;
  delete from passkeys where account_id = p_account;
  delete from account_devices where account_id = p_account;
  delete from account_codes
  where value = p_account or starts_with(value, '{"account":"' || p_account || '"');
  delete from email_changes where account_id = p_account;
  delete from account_recoveries where account_id = p_account;
  delete from account_identity_checks where account_id = p_account;
  delete from account_addresses where account_id = p_account;
  update accounts
  set former_email = null, language = 'ru', zone = null, guessed_until = null,
    erased_at = clock_timestamp()
  where id = p_account;
end
$$;

-- Everything that accounts hold about a person, without secrets. Security definer: an operator who
-- answers a person's request may not read the sessions of everybody.
create or replace function accounts_export(p_account text) returns json
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select json_build_object(
     'account', (select json_build_object('id', id, 'email',
          coalesce(former_email, email), 'language', language,
         'zone', zone,
         'createdAt', created_at, 'closedAt', closed_at,
          'hasSecondFactor', second_factor_on, 'book', book_id::text)
       from accounts where id = p_account),
     'consents', (select coalesce(json_agg(json_build_object('document', document,
         'version', version, 'acceptedAt', accepted_at, 'address', address)
         order by accepted_at, document), '[]')
       from account_consents where account_id = p_account),
     'sessions', (select coalesce(json_agg(json_build_object('signedInAt', created_at,
         'lastSeenAt', last_seen_at, 'expiresAt', expires_at, 'address', address,
         'browser', agent, 'isPrivate', is_private, 'passwordAt', password_at,
         'codeAt', code_at, 'recoveryCodeAt', recovery_at, 'passkeyAt', passkey_at)
         order by created_at), '[]')
       from sessions where account_id = p_account),
     'browsers', (select coalesce(json_agg(json_build_object('firstSeenAt', first_seen_at,
         'lastSeenAt', last_seen_at) order by first_seen_at), '[]')
       from account_devices where account_id = p_account),
     'passkeys', (select coalesce(json_agg(json_build_object('name', name,
         'createdAt', created_at) order by created_at), '[]')
       from passkeys where account_id = p_account),
     'emailChange', (select json_build_object('oldEmail', old_email, 'newEmail', new_email,
         'changedAt', changed_at, 'undoUntil', undo_until)
       from email_changes where account_id = p_account),
     'passwordChangedAt', (select updated_at from credentials where account_id = p_account),
     'recoveries', (select coalesce(json_agg(json_build_object('kind', kind,
        'begunBy', begun_by, 'steps', steps, 'newEmail', new_email, 'mailbox', mailbox,
        'oldMailbox', old_mailbox, 'begunAt', begun_at, 'openedAt', opened_at,
        'ripeAt', ripe_at, 'stoppedAt', stopped_at, 'stoppedBy', stopped_by,
        'doneAt', done_at) order by begun_at), '[]')
      from account_recoveries where account_id = p_account),
    'closings', (select coalesce(json_agg(json_build_object('step', step, 'unspent', unspent,
        'begunBy', begun_by, 'begunAt', begun_at, 'drainedAt', drained_at,
        'refundedAt', refunded_at, 'endedAt', ended_at) order by id), '[]')
      from account_closings where account_id = p_account),
    'identityChecks', (select coalesce(json_agg(json_build_object('step', step,
        'isMatched', is_matched, 'checkedAt', checked_at) order by checked_at), '[]')
      from account_identity_checks where account_id = p_account),
    'formerEmails', (select coalesce(json_agg(json_build_object('email', email,
         'leftAt', left_at) order by left_at), '[]')
       from account_addresses where account_id = p_account)
   )
$$;

-- A text as it is stored: without addresses, and without the names of whoever it leads to; see
-- src/accounts/sql/pseudonym.sql.
create or replace function acts_without_addresses(p_text text, p_max int4) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select accounts_depersonalize(p_text, p_max, null)
$$;

-- What operators read about customers and what waits for approval name nobody by address once it is
-- only history: each address becomes the id of its account, as in operators' acts. Security
-- definer: the operator's role may not read the changes of addresses itself.
create or replace function operator_reads_without_addresses() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.at := clock_timestamp();
  new.command := acts_without_addresses(
    case when new.command like 'find %'
      then 'find ' || accounts_searched(substr(new.command, 6)) else new.command end,
    2000);
  return new;
end
$$;

-- Requests that wait and name the account end, because nobody can run them any more; of one that
-- runs, which may be the erasure itself, only its texts go.
create or replace function operator_approvals_erase(p_account text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_approval operator_approvals;
begin
  for v_approval in
    select * from operator_approvals where state in ('waiting', 'running') for update
  loop
    if strpos(acts_without_addresses(
      v_approval.command || ' ' || array_to_string(v_approval.plan, ' '), 100000), p_account) > 0
    then
      update operator_approvals set
        state = case when state = 'waiting' then 'expired' else state end,
        command = acts_without_addresses(command, 2000),
        plan = array(
          select acts_without_addresses(line, 2000)
          from unnest(plan) with ordinality as l (line, n) order by n),
        args = '{}', options = '{}'
      where id = v_approval.id;
    end if;
  end loop;
end
$$;

-- Deletes the e-mails of an account that is erased, and those to its addresses that are of no
-- account. Security definer: no program that may erase somebody may delete other e-mails.
create or replace function letters_erase(p_account text, p_addresses text[]) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  delete from letters
  where account_id = p_account
    or (account_id is null and lower(recipient) = any (p_addresses))
$$;

-- Posts one rare entry to a book the caller has locked, and moves the book to the entry's day; the
-- caller changes its amounts. The note names nobody: entries never change, so an erasure could not
-- take a name out later. Answers 'posted', 'repeated' or 'mismatch'.
create or replace function ledger_post(
  b books, p_kind entry_kind, p_ref text, p_amount int8, p_lot int8, p_contra contra,
  p_note text, out outcome text, out seq int8
) language plpgsql as $$
declare
  v_now timestamptz := ledger_now();
  v_today date := greatest((v_now at time zone 'UTC')::date, b.day);
  v_stored postings;
begin
  insert into postings (kind, ref, book_id, amount, seq, lot, at)
  values (p_kind, p_ref, b.id, p_amount, b.seq + 1, p_lot, v_now)
  on conflict do nothing;
  if not found then
    select * into v_stored from postings where postings.kind = p_kind and postings.ref = p_ref;
    seq := v_stored.seq;
    outcome := case when (v_stored.book_id, v_stored.amount) = (b.id, p_amount)
      and v_stored.lot is not distinct from p_lot then 'repeated' else 'mismatch' end;
    return;
  end if;
  seq := b.seq + 1;
  insert into entries (book_id, seq, amount, balance, at, day, kind, contra, ref, note)
  values (b.id, seq, p_amount, b.available + b.held - b.debt + p_amount, v_now,
    v_today, p_kind, p_contra, p_ref,
    case when p_note <> '' then accounts_depersonalize(p_note, 2000, b.id) else p_note end);
  update books set day = v_today, day_spent = 0 where books.id = b.id and books.day < v_today;
  outcome := 'posted';
end $$;

-- Nobody corrects the past: a correction is a new entry. Only what a client called its requests can
-- go, when its person is erased.
create or replace function ledger_refuse_change() returns trigger language plpgsql as $$
declare
  c_names constant text[] := array['session_id', 'agent_id', 'parent_agent_id', 'label'];
begin
  if tg_op = 'UPDATE' and to_jsonb(new) ?& c_names
    and to_jsonb(new) - c_names = to_jsonb(old) - c_names
    and not jsonb_strip_nulls(to_jsonb(new)) ?| c_names then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name
    using errcode = 'integrity_constraint_violation';
end $$;

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

create trigger accounts_addresses_are_kept after update of email on accounts
for each row execute function accounts_keep_address();

create trigger letters_name_their_account before insert on letters for each row
when (new.account_id is null and new.kind not in ('confirm-email', 'invitation'))
execute function accounts_name_letter();
create trigger accounts_have_their_letters after insert on accounts
for each row execute function accounts_adopt_letters();

-- What people type.
create trigger refunds_name_nobody before insert or update of reason on refunds
for each row execute function accounts_depersonalize_columns('reason', '250');
create trigger disputes_name_nobody before insert or update of note on disputes
for each row execute function accounts_depersonalize_columns('note', '1000');
create trigger payment_reviews_name_nobody before insert or update of note, detail
on payment_reviews
for each row execute function accounts_depersonalize_columns('note', '1000', 'detail', '1000');
create trigger receipt_decisions_name_nobody before insert or update of note on receipt_decisions
for each row execute function accounts_depersonalize_columns('note', '1000');
create trigger receipts_name_nobody before insert or update of note, error on receipts
for each row execute function accounts_depersonalize_columns('note', '1000', 'error', '300');
create trigger payment_findings_name_nobody before insert or update of detail on payment_findings
for each row execute function accounts_depersonalize_columns('detail', '1000');
create trigger promo_codes_name_nobody before insert or update of note on promo_codes
for each row execute function accounts_depersonalize_columns('note', '2000');
create trigger catalogue_versions_name_nobody before insert on catalogue_versions
for each row execute function accounts_depersonalize_columns('note', '2000');
