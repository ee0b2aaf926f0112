-- Erasing a closed account. Security definer: an operator and the worker may erase a person whose
-- data they may not read or delete piece by piece.

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
