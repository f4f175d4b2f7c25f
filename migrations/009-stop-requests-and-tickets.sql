-- Requests to end a running task, from a process that does not run it. Not columns of `task`, because SQLite checks every row when it adds a column
-- to a STRICT table. A row remains until its task is deleted.
CREATE TABLE stop_request (
  task   INTEGER PRIMARY KEY REFERENCES task (seq),
  code   TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;

-- Unused tickets. A ticket replaces a token once. `hash` is the SHA-256 of the ticket, and `token_proof` the HMAC of its token's hash with the ticket
-- as the key, so the database reveals neither tickets nor tokens. `scopes` is a JSON array.
CREATE TABLE ticket (
  hash        TEXT    PRIMARY KEY,
  principal   TEXT    NOT NULL,
  tenant      TEXT    NOT NULL,
  scopes      TEXT    NOT NULL,
  token_proof TEXT    NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_tenant ON ticket (tenant);
CREATE INDEX ticket_expiry ON ticket (expires_at);
