-- Sessions of the console, each of which replaces a token until it expires. `hash` is the SHA-256 of the session's token, and `token_proof` the HMAC of
-- the hash of the token that it replaces, with the session's token as the key, so the database reveals neither. `scopes` is a JSON array.
CREATE TABLE session (
  hash        TEXT    PRIMARY KEY,
  principal   TEXT    NOT NULL,
  tenant      TEXT    NOT NULL,
  scopes      TEXT    NOT NULL,
  token_proof TEXT    NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_owner ON session (tenant, principal);
CREATE INDEX session_expiry ON session (expires_at);
