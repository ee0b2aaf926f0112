-- Applied versions of the catalogue: never changed, and announced to every process.

-- Processes that listen take the new version at once; those that missed it poll.
create or replace function catalogue_versions_notify() returns trigger
language plpgsql as $$
begin
  perform pg_notify('catalogue', new.version::text);
  return null;
end
$$;

create or replace function catalogue_versions_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'catalogue versions are never changed or removed; apply a new one'
    using errcode = 'restrict_violation';
end
$$;

-- Applies the first version: the first process that starts may do so, later ones are an operator's.
-- Of processes that start at once one applies it: two constraints may say so, so none is named.
create or replace function catalogue_apply_first(
  p_by text, p_note text, p_body text, p_digest text
) returns boolean language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into catalogue_versions (version, applied_by, note, body, digest)
  select 1, p_by, p_note, p_body, p_digest where not exists (select from catalogue_versions)
  on conflict do nothing;
  return found;
end
$$;
