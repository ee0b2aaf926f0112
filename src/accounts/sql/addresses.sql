-- An address that an owner has just given up stays reserved, so that the change can be undone.

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
