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
