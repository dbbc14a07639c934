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
  // Where each run stands, so that finding the few that matter does not mean folding all that ever were. It holds nothing
  // that the events do not: it is filled from them here, and each later event carries it on in its own transaction.
  `CREATE TABLE run_states (
     run_id TEXT PRIMARY KEY,
     created_seq INTEGER NOT NULL,
     repository_id TEXT NOT NULL,
     state TEXT NOT NULL,
     intent INTEGER NOT NULL CHECK (intent IN (0, 1))
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX run_states_by_order ON run_states (created_seq);
   CREATE INDEX run_states_by_repository ON run_states (repository_id, created_seq);
   CREATE INDEX run_states_by_state ON run_states (state, repository_id, created_seq);
   CREATE INDEX run_states_undecided ON run_states (repository_id) WHERE intent = 1;
   CREATE TABLE state_events (type TEXT PRIMARY KEY, state TEXT, intent INTEGER) STRICT, WITHOUT ROWID;
   INSERT INTO state_events VALUES
     ('run-created', 'running', 0), ('run-ready', 'ready', NULL), ('run-failed', 'failed', NULL),
     ('run-interrupted', 'interrupted', NULL), ('run-promoted', 'promoted', 0),
     ('run-rolled-back', 'rolled-back', 0), ('run-discarded', 'discarded', 0),
     ('run-restored', 'ready', 0), ('promotion-intent', NULL, 1), ('rollback-intent', NULL, 1);
   INSERT INTO run_states
     SELECT run_id, seq, json_extract(data, '$.repositoryId'),
       (SELECT s.state FROM events e JOIN state_events s USING (type)
         WHERE e.run_id = created.run_id AND s.state IS NOT NULL ORDER BY e.seq DESC LIMIT 1),
       (SELECT s.intent FROM events e JOIN state_events s USING (type)
         WHERE e.run_id = created.run_id AND s.intent IS NOT NULL ORDER BY e.seq DESC LIMIT 1)
     FROM events created WHERE type = 'run-created';
   CREATE TRIGGER run_states_begin AFTER INSERT ON events WHEN NEW.type = 'run-created'
     BEGIN INSERT INTO run_states
       VALUES (NEW.run_id, NEW.seq, json_extract(NEW.data, '$.repositoryId'), 'running', 0); END;
   CREATE TRIGGER run_states_go_on AFTER INSERT ON events WHEN NEW.type <> 'run-created'
     BEGIN UPDATE run_states SET state = coalesce(s.state, run_states.state),
         intent = coalesce(s.intent, run_states.intent)
       FROM state_events s WHERE s.type = NEW.type AND run_states.run_id = NEW.run_id; END;`,
];
