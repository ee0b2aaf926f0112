-- What the busiest accounts use of each gateway process, for `op accounts busiest`.
--
-- Why: accounts share the memory, connections and queues of a process. Only the process knows who
-- uses them, and the person on duty asks the whole fleet.
--
-- Safe while an older version runs: nothing used the table before.

-- One row of a bounded size for each process. Old rows are of processes that have ended.
create table busiest_accounts (
  instance int8 primary key,
  -- Objects with: of, book, used, capacity, refused, shed.
  uses jsonb not null,
  seen_at timestamptz not null
);
