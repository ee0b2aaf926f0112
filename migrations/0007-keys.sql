-- API keys: who may call, and from which book the call is paid.
--
-- Why: a request names a key and never a book. Only an Argon2id hash of a key is kept, with the few
-- characters that find it and the four that its owner recognises it by. Keys never expire, so there
-- is no column for it.
--
-- Safe while an older version runs: it adds a table that nothing else names. The foreign key takes
-- a short SHARE ROW EXCLUSIVE lock on books; keys are made rarely, so unlike on the ledger's hot
-- tables it costs nothing afterwards.

create type key_state as enum ('pending', 'active', 'revoked');

-- `fence` is the book's fence as this key's confirmation left it. It stands here and is not read
-- from the book: a check that read the key before a reissue and the fence after it would hand the
-- old key the new fence.
-- `lookup` finds imported keys, which carry no public id: a keyed digest of the first twelve
-- characters of the secret part. At most four keys share one, since each is tried with Argon2id.
create table keys (
  id text primary key
    constraint keys_ids_are_cell_and_public_id check (id ~ '^key_[A-Za-z0-9_-]{14}$'),
  book_id int8 not null references books (id),
  state key_state not null,
  fence int8,
  last4 text not null
    constraint keys_show_only_four_characters check (length(last4) = 4),
  hash text not null
    constraint keys_are_kept_only_as_argon2id
      check (hash like '$argon2id$v=19$%' and length(hash) between 60 and 255),
  lookup bytea
    constraint keys_lookups_are_digests check (length(lookup) = 16),
  lookup_slot int2
    constraint keys_share_a_lookup_at_most_four_times check (lookup_slot between 1 and 4),
  created_at timestamptz not null default clock_timestamp(),
  activated_at timestamptz,
  revoked_at timestamptz,
  constraint keys_with_a_lookup_have_a_slot check ((lookup is null) = (lookup_slot is null)),
  constraint keys_slots_are_taken_once unique (lookup, lookup_slot),
  constraint keys_states_have_their_times check (
    (state <> 'pending') = (activated_at is not null)
    and (state <> 'pending') = (fence is not null)
    and (state = 'revoked') = (revoked_at is not null)
  )
);

create unique index keys_active_are_one_per_book on keys (book_id) where state = 'active';
create unique index keys_pending_are_one_per_book on keys (book_id) where state = 'pending';

-- A key goes from pending to active to revoked and nothing else about it ever changes: not even a
-- bug can bring a revoked key back or move a key to another book. A pending key, which never
-- worked, may be replaced and so deleted.
create function keys_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.state = 'pending' then
      return old;
    end if;
  elsif (old.state, new.state) in (('pending', 'active'), ('active', 'revoked'))
    and (old.id, old.book_id, old.last4, old.hash, old.created_at)
      = (new.id, new.book_id, new.last4, new.hash, new.created_at)
    and (old.lookup, old.lookup_slot) is not distinct from (new.lookup, new.lookup_slot)
    and (old.state = 'pending'
      or (old.fence, old.activated_at) = (new.fence, new.activated_at)) then
    return new;
  end if;
  raise exception 'a key goes from pending to active to revoked, and nothing else of it changes'
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger keys_never_come_back before update or delete on keys
  for each row execute function keys_refuse_change();
