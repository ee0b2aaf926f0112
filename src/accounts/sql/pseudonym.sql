-- An account's id stands for a person wherever a text stays: when the account is erased, nothing
-- leads from the id to the person. What operators and owners type goes through
-- accounts_depersonalize before it is stored, in the triggers of the tables and in the ledger's
-- posting.

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
