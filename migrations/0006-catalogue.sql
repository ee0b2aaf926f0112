-- The versions of the catalogue: every price that was ever in force, kept as the text that was
-- applied, so that any charge can be recomputed from the version it names.
--
-- Safe while an older version runs: it adds a table that the older version does not know.
--
-- Rows are only ever added. A correction is a new version; going back is a new version with old
-- prices.

create table catalogue_versions (
  version int4 primary key
    constraint catalogue_versions_count_from_one check (version > 0),
  applied_at timestamptz not null default clock_timestamp(),
  applied_by text not null
    constraint catalogue_versions_name_who_applied_them check (applied_by <> ''),
  note text not null,
  -- YAML, with its version number inside. A megabyte is a thousand times today's catalogue.
  body text not null
    constraint catalogue_versions_are_short check (octet_length(body) between 1 and 1000000),
  digest text not null
    constraint catalogue_versions_are_never_repeated unique
    constraint catalogue_versions_match_their_digest
      check (digest = encode(sha256(convert_to(body, 'UTF8')), 'hex'))
);

create function catalogue_versions_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'catalogue versions are never changed or removed; apply a new one'
    using errcode = 'restrict_violation';
end
$$;

create trigger catalogue_versions_are_append_only
before update or delete or truncate on catalogue_versions
for each statement execute function catalogue_versions_refuse_change();

-- Processes that listen take the new version at once; those that missed it poll.
create function catalogue_versions_notify() returns trigger
language plpgsql as $$
begin
  perform pg_notify('catalogue', new.version::text);
  return null;
end
$$;

create trigger catalogue_versions_tell_listeners
after insert on catalogue_versions
for each row execute function catalogue_versions_notify();
