-- The logs of spaces. `space` is the first column of every key, so that tables can be distributed by it.

CREATE TABLE tiermem.spaces (
  space text COLLATE "C" PRIMARY KEY,  -- the name where it is a plain one, else a hash of it
  name bytea NOT NULL                  -- the name in UTF-8; it may hold surrogates and zero bytes
);

-- Parts of a log: each begins with a header, at line `first`. `cache` is what folding a part that ended adds.
CREATE TABLE tiermem.parts (
  space text COLLATE "C" NOT NULL,
  part integer NOT NULL,
  first bigint NOT NULL,
  cache bytea,
  PRIMARY KEY (space, part)
);

-- The lines of a log, with the bytes that they have on disk.
CREATE TABLE tiermem.lines (
  space text COLLATE "C" NOT NULL,
  q bigint NOT NULL,
  raw bytea NOT NULL,
  PRIMARY KEY (space, q)
);
