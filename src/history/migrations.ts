/**
 * Numbered migrations; the number is the database's `user_version`. Append only: a released migration is never
 * changed.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     run_id TEXT NOT NULL,
     at TEXT NOT NULL,
     type TEXT NOT NULL,
     data TEXT NOT NULL CHECK (json_valid(data))
   ) STRICT;
   CREATE INDEX events_by_run ON events (run_id, seq);
   -- A run is created once: a clash of ids is refused by the database itself.
   CREATE UNIQUE INDEX one_creation_per_run ON events (run_id) WHERE type = 'run-created';
   CREATE TRIGGER events_are_final_update BEFORE UPDATE ON events
     BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
   CREATE TRIGGER events_are_final_delete BEFORE DELETE ON events
     BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;`,
];
