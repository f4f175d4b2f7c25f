-- compatible-from: 1
-- Sessions of the console, each of which replaces a token until it expires. `hash` is the SHA-256 of the session's token, and `token_proof` the HMAC of
-- the hash of the token that it replaces, with the session's token as the key: the database reveals neither. `scopes` is a JSON array.
CREATE TABLE session (
  hash        text   COLLATE "C" PRIMARY KEY,
  principal   text   COLLATE "C" NOT NULL,
  tenant      text   COLLATE "C" NOT NULL,
  scopes      text   COLLATE "C" NOT NULL,
  token_proof text   COLLATE "C" NOT NULL,
  expires_at  bigint NOT NULL
);
CREATE INDEX session_owner ON session (tenant, principal);
CREATE INDEX session_expiry ON session (expires_at);
