-- A changed e-mail address can be undone from the old mailbox for a week.
--
-- Why: a thief who is signed in could move an account to another address, and the owner had no way
-- back. Until the week is over the old address stays reserved for the account.
--
-- Safe while an older version runs: it changes addresses without a row here, as before, and a
-- reserved address looks to it like one that another account has.

create table email_changes (
  -- One at a time: a second change would leave the first one's undo without an address to restore.
  account_id text primary key references accounts (id) on delete cascade,
  old_email text not null,
  new_email text not null,
  -- The digest of the code in the e-mail to the old address.
  undo_hash bytea not null,
  -- The second factor of that time, null without one. Undoing switches off every other one.
  second_factor_id text,
  changed_at timestamptz not null default clock_timestamp(),
  undo_until timestamptz not null,
  constraint email_changes_codes_are_their_own unique (undo_hash),
  constraint email_changes_reserve_an_address_once unique (old_email),
  constraint email_changes_change_something check (old_email <> new_email),
  constraint email_changes_end_later check (undo_until > changed_at)
);
create index email_changes_by_end on email_changes (undo_until);

-- Runs after the unique index was checked: if another account gives the address up in a concurrent
-- transaction, the index waits for that commit, and this query then sees the reservation.
create or replace function accounts_refuse_reserved_email() returns trigger language plpgsql as $$
begin
  if exists (
    select from email_changes
    where old_email = new.email and account_id <> new.id and undo_until > clock_timestamp()
  ) then
    raise exception 'the address is reserved: its former owner may undo the change of address'
      using errcode = 'unique_violation', constraint = 'accounts_emails_are_not_reserved';
  end if;
  return null;
end $$;

create trigger accounts_emails_are_not_reserved
  after insert or update of email on accounts
  for each row execute function accounts_refuse_reserved_email();
